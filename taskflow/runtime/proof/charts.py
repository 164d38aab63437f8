"""Charts for a proof: which ghost cells are images of which cells, found by walks, and where all of them are cut.

Nothing here is taken from the analysis, which asks the atlas for images: both have to come to the same cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise, permutations, product

from taskflow.runtime.regions import Atlas, Box, Region, Seam, Triple, Turn, triple

Marks = list[set[int]]  # along x, y and z: where cells are told apart
Images = tuple[tuple[tuple[Box, Turn], ...], ...]


@lru_cache(32)
def images(atlas: Atlas) -> Images:
    """Per chart: the ghost cells that are images, as boxes, each with the turn to what it is an image of. All others
    are the chart's own.

    A ghost cell beyond a side is what the seam says. One beyond an edge is reached from the chart's nearest cell in two
    steps, of which the first goes over a seam. Where both sides have one, both orders have to end in one chart's cells,
    turned alike; where one has, the other step has to end beyond a side without a seam: in a boundary layer. A ghost
    cell beyond a corner is no image.
    """
    walks = _Walks(atlas)
    marks = charted_marks(atlas, [seam.beyond for seam in atlas.seams])
    return tuple(tuple(walks.images(n, mine)) for n, mine in enumerate(marks))


def frames(region: Region) -> tuple[Box, ...]:
    """The program's one memory: a box with its boundary layers, or each chart with all its ghost layers."""
    return tuple(_charts(region.atlas)) if region.atlas else (region.bounds,)


def charted_marks(atlas: Atlas, boxes: Iterable[Box]) -> list[Marks]:
    """The marks of each chart that tell these boxes apart, and the charts: those that turn into each other are marked
    alike.
    """
    charts = _charts(atlas)
    marks: list[Marks] = [[set(), set(), set()] for _ in charts]
    every = [*boxes, *atlas.charts]
    for frame, mine in zip(charts, marks, strict=True):
        for box in (frame, *(box & frame for box in every if box.meets(frame))):
            for axis in range(3):
                mine[axis].update((box.lo[axis], box.hi[axis]))
    # With a seam the cells on both its sides that it turns, and those beside them in ghost layers.
    turned = [(s, _chart(atlas, s), s.beyond.grow(atlas.ghost) & charts[s.chart]) for s in atlas.seams]
    while sum(_carry(marks[seam.chart], marks[other], strip, seam.turn) for seam, other, strip in turned):
        pass
    return marks


def _carry(mine: Marks, theirs: Marks, strip: Box, turn: Turn) -> int:
    """Mark what a seam turns marks on its strip into; returns how many new marks that made."""
    before = sum(map(len, theirs))
    for axis, signed in enumerate(turn.axes):
        other, shift = abs(signed) - 1, turn.shift[abs(signed) - 1]
        near = [mark for mark in mine[axis] if strip.lo[axis] <= mark <= strip.hi[axis]]
        theirs[other].update(mark + shift if signed > 0 else shift + 1 - mark for mark in near)
    return sum(map(len, theirs)) - before


def _charts(atlas: Atlas) -> list[Box]:
    return [chart.grow(atlas.ghost) for chart in atlas.charts]


def _chart(atlas: Atlas, seam: Seam) -> int:
    """The chart to which a seam leads."""
    return next(n for n, chart in enumerate(atlas.charts) if seam.turn(seam.beyond) in chart)


class _Walks:
    """Walks from a chart's cells over its sides, one step along an axis each."""

    def __init__(self, atlas: Atlas) -> None:
        self._atlas = atlas

    def images(self, n: int, marks: Marks) -> Iterator[tuple[Box, Turn]]:
        """Yield the ghost cells of a chart that are images, between its marks."""
        x, y, z = (pairwise(sorted(mine)) for mine in marks)
        for (a, b), (c, d), (e, f) in product(list(x), list(y), list(z)):
            if turn := self._image(n, (a, c, e)):
                yield Box((a, c, e), (b, d, f)), turn

    def _image(self, n: int, cell: Triple) -> Turn | None:
        out = self._out(n, cell)
        if len(out) == 1:
            seam = self._seam(n, cell)
            return seam.turn if seam else None
        walks = [self._walk(n, cell, first) for first, _ in permutations(out)] if len(out) == 2 else []
        ends = [walk for walk in walks if walk is not None]
        inside = len(ends) == 2
        return ends[0][0] if ends and ends[0] == ends[-1] and ends[0][1] is inside else None

    def _walk(self, n: int, cell: Triple, first: int) -> tuple[Turn, bool] | None:
        """The turn of a walk to beyond an edge, first along this axis, and whether it ends in a chart's cells; None
        where the first step leads over no seam.
        """
        chart = self._atlas.charts[n]
        step = [max(lo, min(at, hi - 1)) for at, lo, hi in zip(cell, chart.lo, chart.hi, strict=True)]
        step[first] = cell[first]
        seam = self._seam(n, triple(step))
        if seam is None:
            return None
        other, image = _chart(self._atlas, seam), seam.turn(_one(cell)).lo
        if not self._out(other, image):
            return seam.turn, True
        second = self._seam(other, image)
        return (second.turn @ seam.turn, True) if second else (seam.turn, False)

    def _out(self, n: int, cell: Triple) -> list[int]:
        """The axes along which a cell lies beyond a chart."""
        chart = self._atlas.charts[n]
        return [axis for axis in range(3) if not chart.lo[axis] <= cell[axis] < chart.hi[axis]]

    def _seam(self, n: int, cell: Triple) -> Seam | None:
        return next((seam for seam in self._atlas.seams if seam.chart == n and _one(cell) in seam.beyond), None)


def _one(cell: Triple) -> Box:
    return Box(cell, triple(at + 1 for at in cell))
