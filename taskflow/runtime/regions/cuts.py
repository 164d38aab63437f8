"""Cuts: where blocks in a row begin."""

from __future__ import annotations

from itertools import pairwise


def cuts(cells: int, blocks: int, least: int = 1, multiple: int = 1) -> tuple[int, ...]:
    """Return where blocks begin (and, last, where they end) when `cells` in a row are cut into so many blocks, between
    groups of `multiple` cells, of which the last one may be smaller.

    Every block is as wide as the widest has to be, ceil(cells / blocks), and the last takes what remains: the widest
    block sets the time of a step, and equal widths let each block be one shard of a regular Zarr grid. Where fewer than
    `least` cells would remain for the last block the cut is balanced instead: widths differ by at most one.
    """
    if multiple > 1:
        groups = -(-cells // multiple)
        at = cuts(groups, blocks)
        if cells - multiple * at[-2] < least:
            at = tuple(n * groups // blocks for n in range(blocks + 1))  # the last one has as many groups as any
        return (*(n * multiple for n in at[:-1]), cells)
    width = -(-cells // blocks)
    if cells - (blocks - 1) * width >= min(least, width):
        return (*(n * width for n in range(blocks)), cells)
    return tuple(n * cells // blocks for n in range(blocks + 1))


def cuts_into(at: tuple[int, ...], low: int, high: int, blocks: int) -> bool:
    """Return whether these are the places where so many blocks of [low, high) begin, and the last one ends."""
    return (at[0], at[-1], len(at)) == (low, high, blocks + 1) and all(a < b for a, b in pairwise(at))
