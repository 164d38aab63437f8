"""Charts for a proof: the ghost cells that are images of other cells, found by walks, and the cuts that separate them.

Nothing here is taken from the analysis, which gets images from the atlas. Both must find the same cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise, permutations, product

from taskflow.runtime.regions import Atlas, Box, Region, Seam, Triple, Turn, triple

Marks = list[set[int]]  # along x, y and z: coordinates that separate cells
Images = tuple[tuple[tuple[Box, Turn], ...], ...]


@lru_cache(32)
def images(atlas: Atlas) -> Images:
    """Return per chart the ghost cells that are images, as boxes, each with the turn to its original. All other cells
    are the chart's own.

    The seam defines the images beyond a side. A ghost cell beyond an edge is reached from the chart's nearest cell in
    two steps, the first across a seam. If both sides have a seam, both orders must end in the same cells of a chart
    with equal turns. If one has, the other step must end beyond a side without a seam, in a boundary layer. A ghost
    cell beyond a corner is no image.
    """
    walks = _Walks(atlas)
    marks = charted_marks(atlas, [seam.beyond for seam in atlas.seams])
    return tuple(tuple(walks.images(n, mine)) for n, mine in enumerate(marks))


def frames(region: Region) -> tuple[Box, ...]:
    """Return the program's single memory: a box with its boundary layers, or each chart with all its ghost layers."""
    return tuple(_charts(region.atlas)) if region.atlas else (region.bounds,)


def charted_marks(atlas: Atlas, boxes: Iterable[Box]) -> list[Marks]:
    """Return the marks of each chart that separate these boxes and the charts. Marks are carried across all seams."""
    charts = _charts(atlas)
    marks: list[Marks] = [[set(), set(), set()] for _ in charts]
    every = [*boxes, *atlas.charts]
    for frame, mine in zip(charts, marks, strict=True):
        for box in (frame, *(box & frame for box in every if box.meets(frame))):
            for axis in range(3):
                mine[axis].update((box.lo[axis], box.hi[axis]))
    # Per seam: the cells on both sides that it turns, and adjacent ones in ghost layers.
    turned = [(s, _chart(atlas, s), s.beyond.grow(atlas.ghost) & charts[s.chart]) for s in atlas.seams]
    while sum(_carry(marks[seam.chart], marks[other], strip, seam.turn) for seam, other, strip in turned):
        pass
    return marks


def _carry(mine: Marks, theirs: Marks, strip: Box, turn: Turn) -> int:
    """Add the images of the marks on a seam's strip to `theirs`, and return the number of new marks."""
    before = sum(map(len, theirs))
    for axis, signed in enumerate(turn.axes):
        other, shift = abs(signed) - 1, turn.shift[abs(signed) - 1]
        near = [mark for mark in mine[axis] if strip.lo[axis] <= mark <= strip.hi[axis]]
        theirs[other].update(mark + shift if signed > 0 else shift + 1 - mark for mark in near)
    return sum(map(len, theirs)) - before


def _charts(atlas: Atlas) -> list[Box]:
    return [chart.grow(atlas.ghost) for chart in atlas.charts]


def _chart(atlas: Atlas, seam: Seam) -> int:
    """Return the chart to which a seam leads."""
    return next(n for n, chart in enumerate(atlas.charts) if seam.turn(seam.beyond) in chart)


class _Walks:
    """Walks from a chart's cells across its sides, one step along an axis each."""

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
        """Return the turn of a walk beyond an edge, first along this axis, and whether it ends in a chart's cells. None
        if the first step crosses no seam.
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
        """Return the axes along which a cell is beyond a chart."""
        chart = self._atlas.charts[n]
        return [axis for axis in range(3) if not chart.lo[axis] <= cell[axis] < chart.hi[axis]]

    def _seam(self, n: int, cell: Triple) -> Seam | None:
        return next((seam for seam in self._atlas.seams if seam.chart == n and _one(cell) in seam.beyond), None)


def _one(cell: Triple) -> Box:
    return Box(cell, triple(at + 1 for at in cell))
