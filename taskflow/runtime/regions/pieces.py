"""Pieces: charts cut and dealt out so that every block has about the same number of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise, product

from taskflow.errors import BadArgument
from taskflow.runtime.regions.atlas import Atlas
from taskflow.runtime.regions.box import Box, Triple

Pieces = tuple[tuple[Box, ...], ...]


def divided(atlas: Atlas, blocks: int, cuts: Mapping[int, Triple] | None = None) -> Pieces:
    """The pieces of each of so many blocks.

    Charts, in their order, are dealt out in halves: of n blocks the first n / 2 get so much of all cells, for which at
    most one chart is cut, across the last direction in which it is longest. A chart in `cuts` is cut into so many
    pieces along x, y and z beforehand. No piece is thinner than the ghost layers where it was cut. Raises BadArgument
    where that makes fewer pieces than blocks.
    """
    if blocks < 1:
        raise BadArgument("blocks", str(blocks), "", "give one or more")
    boxes = [piece for n, chart in enumerate(atlas.charts) for piece in _cut(chart, (cuts or {}).get(n, (1, 1, 1)))]
    pieces = _dealt(boxes, blocks, atlas.ghost)
    if not all(pieces):
        most = sum(1 for block in pieces if block)
        problem = f": {len(atlas.charts)} charts make pieces for {most} blocks at most"
        raise BadArgument("blocks", str(blocks), problem, f"use 1 to {most}")
    return tuple(map(tuple, pieces))


def complete(pieces: Sequence[Box], charts: Sequence[Box]) -> bool:
    """Whether the pieces are the cells of the charts, each once."""
    inside = [sum(piece.volume for piece in pieces if piece in chart) for chart in charts]
    return inside == [chart.volume for chart in charts] and not any(a.meets(b) for a, b in combinations(pieces, 2))


def _cut(chart: Box, shape: Triple) -> list[Box]:
    """The chart in so many pieces along x, y and z, of widths that differ by at most one cell."""
    if any(not 1 <= n <= cells for n, cells in zip(shape, chart.shape, strict=True)):
        problem = f" does not cut {chart.shape[0]} x {chart.shape[1]} x {chart.shape[2]} cells"
        raise BadArgument("cuts", str(list(shape)), problem, "give 1 to as many pieces as there are cells, along each")
    x, y, z = (
        list(pairwise(low + n * cells // pieces for n in range(pieces + 1)))
        for low, cells, pieces in zip(chart.lo, chart.shape, shape, strict=True)
    )
    return [Box((a, c, e), (b, d, f)) for (e, f), (c, d), (a, b) in product(z, y, x)]


def _dealt(boxes: list[Box], blocks: int, ghost: int) -> list[list[Box]]:
    if blocks == 1:
        return [boxes]
    first = blocks // 2
    share = sum(box.volume for box in boxes) * first / blocks
    mine, rest = list[Box](), list(boxes)
    while rest and share >= rest[0].volume:
        share -= rest[0].volume
        mine.append(rest.pop(0))
    if rest and share > 0:
        low, high = _halves(rest[0], share, ghost)
        mine += low
        rest[:1] = high
    return [*_dealt(mine, first, ghost), *_dealt(rest, blocks - first, ghost)]


def _halves(box: Box, share: float, ghost: int) -> tuple[list[Box], list[Box]]:
    """The box in two, of which the first has about `share` cells; one of them is empty where that is nearer."""
    axis = max(range(3), key=lambda axis: (box.shape[axis], axis))
    size, plane = box.shape[axis], box.volume // box.shape[axis]
    possible = [0, *range(ghost, size - ghost + 1), size]
    at = min(possible, key=lambda n: abs(n * plane - share))
    halves = box.layer(axis, 0, 0, at), box.layer(axis, 0, at, size)
    return [half for half in halves[:1] if half], [half for half in halves[1:] if half]
