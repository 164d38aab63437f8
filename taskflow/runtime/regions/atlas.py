"""Atlases: boxes of cells (charts) in one index space, joined by turned seams; and turns between their axes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, permutations, product
from typing import Any

from taskflow.common.caching import cached_property
from taskflow.runtime.regions.box import Box, Triple, difference, hull, joined, triple

STRAIGHT: Triple = (1, 2, 3)


def _sign(number: int) -> int:
    return 1 if number > 0 else -1


@dataclass(frozen=True, slots=True)
class Turn:
    """Index transform of cells: signed axes and a shift, as in CGNS.

    Cell c has the image index `c[a] + shift[b]` along axis b = `abs(axes[a])`, or `shift[b] - c[a]` if `axes[a]` is
    negative.

    Parameters
    ----------
    axes : (int, int, int)
        Signed permutation of 1, 2, 3.
    shift : (int, int, int)

    Raises
    ------
    ValueError
        If `axes` is not a signed permutation of 1, 2, 3.
    """

    axes: Triple = STRAIGHT
    shift: Triple = (0, 0, 0)

    def __post_init__(self) -> None:
        if self.axes != STRAIGHT and sorted(map(abs, self.axes)) != [1, 2, 3]:
            raise ValueError(f"axes = {self.axes}; give 1, 2 and 3 in any order, each with a sign")

    def __call__(self, box: Box) -> Box:
        """Return the box of the images of the cells of a box."""
        if self.axes == STRAIGHT:
            return box.shift(self.shift)
        lo, hi = [0, 0, 0], [0, 0, 0]
        for axis, first, last in zip(self.axes, box.lo, box.hi, strict=True):
            b = abs(axis) - 1
            shift = self.shift[b]
            lo[b], hi[b] = (first + shift, last + shift) if axis > 0 else (shift - last + 1, shift - first + 1)
        return Box(triple(lo), triple(hi))

    def __matmul__(self, first: Turn) -> Turn:
        """Return the turn that applies `first`, then this turn."""
        axes, shift = [0, 0, 0], [0, 0, 0]
        for a, one in enumerate(first.axes):
            b = abs(one) - 1
            other = self.axes[b]
            c = abs(other) - 1
            axes[a] = (c + 1) * _sign(one) * _sign(other)
            shift[c] = _sign(other) * first.shift[b] + self.shift[c]
        return Turn(triple(axes), triple(shift))

    @property
    def inverse(self) -> Turn:
        """The inverse turn."""
        axes, shift = [0, 0, 0], [0, 0, 0]
        for a, axis in enumerate(self.axes):
            b = abs(axis) - 1
            axes[b], shift[a] = _sign(axis) * (a + 1), -_sign(axis) * self.shift[b]
        return Turn(triple(axes), triple(shift))

    @property
    def rotates(self) -> bool:
        """True if right-handed axes stay right-handed."""
        a, b, c = (abs(axis) for axis in self.axes)
        even = (a, b, c) in ((1, 2, 3), (2, 3, 1), (3, 1, 2))
        return (_sign(self.axes[0]) * _sign(self.axes[1]) * _sign(self.axes[2]) > 0) == even


Image = tuple[Box, Turn]
IDENTITY = Turn()
ROTATIONS = tuple(
    turn
    for order in permutations((1, 2, 3))
    for signs in product((1, -1), repeat=3)
    if (turn := Turn(triple(s * n for s, n in zip(signs, order, strict=True)))).rotates
)
"""The 24 turns without a shift between right-handed charts."""


def seen(array: Any, axes: Triple) -> Any:
    """Return a view of an array [z, y, x], or [z, y, value, x], with its axes turned into the axes of the images."""
    if axes == STRAIGHT:
        return array
    place = (array.ndim - 1, 1, 0)  # of x, y and z
    order = list(range(array.ndim))
    for axis, source in zip(axes, place, strict=True):
        order[place[abs(axis) - 1]] = source
    cuts = [slice(None)] * array.ndim
    for axis, source in zip(axes, place, strict=True):
        cuts[source] = slice(None, None, _sign(axis))
    return array[tuple(cuts)].transpose(order)


@dataclass(frozen=True, slots=True)
class Seam:
    """Ghost cells `beyond` a side of a chart, or a part of it, that are the cells `turn(beyond)` of a chart."""

    chart: int
    beyond: Box
    turn: Turn


@dataclass(frozen=True, eq=False)
class Atlas:
    """Charts in one index space with non-overlapping ghost layers, joined by seams.

    Each seam has an inverse. Ghost cells of an edge are images through two seams if both orders lead to the same cells:
    four charts meet there. Ghost cells of an edge between a seam and a side without a seam are images of the boundary
    layers of the other chart, if its side continues in the same way. All other ghost cells belong to the chart, and
    tasks write them as boundary layers.

    Parameters
    ----------
    charts : tuple of Box
    seams : tuple of Seam
    ghost : int
        Ghost layers of each chart.

    Raises
    ------
    ValueError
        If a chart is empty, charts are too close, a seam has no inverse or is not `ghost` layers thick, two seams
        overlap, or a turn is a reflection.
    """

    charts: tuple[Box, ...]
    seams: tuple[Seam, ...]
    ghost: int = 2

    def __post_init__(self) -> None:
        if not self.charts or not all(self.charts):
            raise ValueError("an atlas needs charts, and every chart cells")
        for (m, one), (n, other) in combinations(enumerate(self.charts), 2):
            if one.grow(self.ghost).meets(other.grow(self.ghost)):
                raise ValueError(f"the ghost layers of the charts {m} and {n} have cells in common; move them apart")
        for seam in self.seams:
            self._check(seam)
        for mine, more in combinations(self.seams, 2):
            if mine.beyond.meets(more.beyond):
                raise ValueError(f"two seams have the cells {mine.beyond & more.beyond}")

    def _check(self, seam: Seam) -> None:
        chart, beyond = self.charts[seam.chart], seam.beyond
        side = self.side(seam)
        if side is None:
            raise ValueError(f"{beyond} is not {self.ghost} layers beyond a side of chart {seam.chart}, {chart}")
        if not seam.turn.rotates:
            raise ValueError(f"the turn {seam.turn.axes} of a seam of chart {seam.chart} is a reflection")
        axis, high = side
        inside = beyond.shift(_along(axis, self.ghost * (-1 if high else 1)))
        back = (seam.turn(inside), seam.turn.inverse)
        if back not in {(other.beyond, other.turn) for other in self.seams}:
            raise ValueError(f"the seam of chart {seam.chart} with the cells {beyond} has no inverse")
        if not any(seam.turn(beyond) in other for other in self.charts):
            raise ValueError(f"the seam of chart {seam.chart} with the cells {beyond} leads to no chart")

    def side(self, seam: Seam) -> tuple[int, int] | None:
        """Return the axis and the end, 0 or 1, of the side that a seam joins; None if it is not a side."""
        chart = self.charts[seam.chart]
        for axis, end in product(range(3), range(2)):
            if seam.beyond and seam.beyond in chart.layer(axis, end, -self.ghost, 0):
                return (axis, end) if seam.beyond.shape[axis] == self.ghost else None
        return None

    @cached_property
    def hull(self) -> Box:
        """Smallest box that contains all charts."""
        return hull(self.charts)

    @cached_property
    def fed(self) -> tuple[tuple[Image, ...], ...]:
        """Ghost cells per chart that are images, as disjoint boxes, each with the turn to its source cells."""
        faces = [tuple((s.beyond, s.turn) for s in self.seams if s.chart == n) for n in range(len(self.charts))]
        return tuple((*faces[n], *self._edges(n)) for n in range(len(self.charts)))

    @cached_property
    def own(self) -> tuple[tuple[Box, ...], ...]:
        """Cells per chart, and its ghost cells that are not images, as disjoint boxes."""
        shells = zip(self.charts, self.fed, strict=True)
        return tuple(
            (chart, *joined(difference(chart.grow(self.ghost).subtract(chart), [box for box, _ in fed])))
            for chart, fed in shells
        )

    @cached_property
    def grown(self) -> tuple[Box, ...]:
        """Charts with their ghost cells."""
        return tuple(chart.grow(self.ghost) for chart in self.charts)

    def images(self, box: Box) -> list[Image]:
        """Return the cells of `box` as boxes of cells that charts own, with their turns into `box`."""
        images = []
        for chart, around, own, fed in zip(self.charts, self.grown, self.own, self.fed, strict=True):
            if not box.meets(around):
                continue
            if box in chart:
                return [(box, IDENTITY)]
            images += [(common, IDENTITY) for cells in own if (common := box & cells)]
            images += [(turn(common), turn.inverse) for cells, turn in fed if (common := box & cells)]
        return images

    def _edges(self, n: int) -> Iterator[Image]:
        """Yield the images at the edges of a chart."""
        chart, ghost = self.charts[n], self.ghost
        for (a, s), (b, t) in combinations(product(range(3), range(2)), 2):
            if a == b:
                continue
            edge = chart.layer(a, s, -ghost, 0).layer(b, t, -ghost, 0)
            along = 3 - a - b
            near = [seam for seam in self.seams if seam.chart == n and self._reaches(seam, edge)]
            marks = {end[along] for box in (edge, *(seam.beyond for seam in near)) for end in (box.lo, box.hi)}
            for lo, hi in pairwise(sorted(mark for mark in marks if edge.lo[along] <= mark <= edge.hi[along])):
                part = edge.cut(along, lo, hi)
                turns = {self.side(seam): seam.turn for seam in near if self._reaches(seam, part)}
                if turn := self._beyond_edge(part, turns.get((a, s)), turns.get((b, t))):
                    yield part, turn

    def _reaches(self, seam: Seam, edge: Box) -> bool:
        """Return whether a seam's cells share a face with a box beyond an edge."""
        return any(seam.beyond.shift(_along(axis, n)).meets(edge) for axis in range(3) for n in (1, -1))

    def _beyond_edge(self, edge: Box, one: Turn | None, other: Turn | None) -> Turn | None:
        """The turn to what cells beyond an edge are images of, if they are, by the turns of the two sides' seams."""
        if one and other:
            ways = [self._resolved(edge, turn) for turn in (one, other)]
            return ways[0] if ways[0] == ways[1] else None
        turn = one or other
        if turn is None:
            return None
        image = turn(edge)
        chart = next((chart for chart in self.charts if image.meets(chart.grow(self.ghost))), None)
        free = chart is not None and not image.meets(chart) and not any(image.meets(s.beyond) for s in self.seams)
        return turn if free else None

    def _resolved(self, edge: Box, turn: Turn) -> Turn | None:
        """The turn to charts' cells, by way of another seam if need be."""
        image = turn(edge)
        if any(image in chart for chart in self.charts):
            return turn
        seam = next((seam for seam in self.seams if image in seam.beyond), None)
        return seam.turn @ turn if seam else None


def _along(axis: int, n: int) -> tuple[int, int, int]:
    return n * (axis == 0), n * (axis == 1), n * (axis == 2)
