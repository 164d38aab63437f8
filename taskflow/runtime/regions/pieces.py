"""Cuts of a row of cells, and pieces: charts cut and dealt out so that every block has about as many cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product

from taskflow.common.errors import BadArgument
from taskflow.runtime.regions.atlas import Atlas
from taskflow.runtime.regions.box import Box, Triple, triple

Pieces = tuple[tuple[Box, ...], ...]


def cuts(cells: int, blocks: int, least: int = 1, multiple: int = 1) -> tuple[int, ...]:
    """Return where blocks begin (and, last, where they end) when `cells` in a row are cut into a number of blocks,
    between groups of `multiple` cells, of which the last one may be smaller.

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
    """Return whether these are the places where the blocks of [low, high) begin, and the last one ends."""
    return (at[0], at[-1], len(at)) == (low, high, blocks + 1) and all(a < b for a, b in pairwise(at))


def divided(
    atlas: Atlas, blocks: int, cuts: Mapping[int, Triple] | None = None, multiple: Triple = (1, 1, 1)
) -> Pieces:
    """Return the pieces of each of a number of blocks.

    Charts, in their order, are dealt out in halves: of n blocks the first n / 2 get so much of all cells, for which at
    most one chart is cut, across the last direction in which it is longest. A chart in `cuts` is cut into those pieces
    along x, y and z beforehand. No piece is thinner than the ghost layers where it was cut. All cuts are at a
    `multiple` of cells from the first one of the chart, as between the tiles of a sweep. Raises BadArgument where that
    makes fewer pieces than blocks, or a chart in `cuts` has fewer multiples than pieces.
    """
    if blocks < 1:
        raise BadArgument("blocks", str(blocks), "", "give one or more")
    shapes = [(cuts or {}).get(n, (1, 1, 1)) for n in range(len(atlas.charts))]
    boxes = [piece for chart, shape in zip(atlas.charts, shapes, strict=True) for piece in _cut(chart, shape, multiple)]
    pieces = _dealt(boxes, blocks, atlas.ghost, multiple)
    if not all(pieces):
        most = sum(1 for block in pieces if block)
        whole = "" if multiple == (1, 1, 1) else f" in multiples of {multiple[0]} x {multiple[1]} x {multiple[2]} cells"
        problem = f": {len(atlas.charts)} charts make pieces{whole} for {most} blocks at most"
        raise BadArgument("blocks", str(blocks), problem, f"use 1 to {most}")
    return tuple(map(tuple, pieces))


def complete(pieces: Sequence[Box], charts: Sequence[Box]) -> bool:
    """Return True if the pieces cover the cells of the charts, each once."""
    inside = [sum(piece.volume for piece in pieces if piece in chart) for chart in charts]
    axis = max(range(3), key=lambda a: len({piece.lo[a] for piece in pieces}))
    row = sorted(pieces, key=lambda piece: piece.lo[axis])
    for n, one in enumerate(row, start=1):
        for other in row[n:]:
            if other.lo[axis] >= one.hi[axis]:
                break
            if one.meets(other):
                return False
    return inside == [chart.volume for chart in charts]


def _cut(chart: Box, shape: Triple, multiple: Triple) -> list[Box]:
    """Return the chart in the given pieces along x, y and z, of widths that differ by at most one multiple of cells."""
    groups = triple(-(-cells // n) for cells, n in zip(chart.shape, multiple, strict=True))
    if any(not 1 <= n <= most for n, most in zip(shape, groups, strict=True)):
        problem = f" does not cut {chart.shape[0]} x {chart.shape[1]} x {chart.shape[2]} cells"
        unit = "there are cells" if multiple == (1, 1, 1) else f"cells have multiples of {multiple}"
        raise BadArgument("cuts", str(list(shape)), problem, f"give 1 to as many pieces as {unit}, along each")
    x, y, z = (
        list(pairwise(min(low + n * most // pieces * size, high) for n in range(pieces + 1)))
        for low, high, most, pieces, size in zip(chart.lo, chart.hi, groups, shape, multiple, strict=True)
    )
    return [Box((a, c, e), (b, d, f)) for (e, f), (c, d), (a, b) in product(z, y, x)]


def _dealt(boxes: list[Box], blocks: int, ghost: int, multiple: Triple) -> list[list[Box]]:
    if blocks == 1:
        return [boxes]
    first = blocks // 2
    share = sum(box.volume for box in boxes) * first / blocks
    mine, rest = list[Box](), list(boxes)
    while rest and share >= rest[0].volume:
        share -= rest[0].volume
        mine.append(rest.pop(0))
    if rest and share > 0:
        low, high = _halves(rest[0], share, ghost, multiple)
        mine += low
        rest[:1] = high
    return [*_dealt(mine, first, ghost, multiple), *_dealt(rest, blocks - first, ghost, multiple)]


def _halves(box: Box, share: float, ghost: int, multiple: Triple) -> tuple[list[Box], list[Box]]:
    """The box in two, of which the first has about `share` cells; one of them is empty where that is nearer."""
    axis = max(range(3), key=lambda axis: (box.shape[axis], axis))
    size, plane = box.shape[axis], box.volume // box.shape[axis]
    possible = [0, *(n for n in range(ghost, size - ghost + 1) if n % multiple[axis] == 0), size]
    at = min(possible, key=lambda n: abs(n * plane - share))
    halves = box.layer(axis, 0, 0, at), box.layer(axis, 0, at, size)
    return [half for half in halves[:1] if half], [half for half in halves[1:] if half]
