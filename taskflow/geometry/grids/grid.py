"""Body-fitted grids of several charts: vertices, the seams that join them, the sides that bound them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from taskflow.geometry.grids.metrics import CellSizes, cell_sizes
from taskflow.runtime.regions import Box, Triple, Turn, triple

Vector = tuple[float, float, float]
SIDES = ("i_min", "i_max", "j_min", "j_max", "k_min", "k_max")  # of a chart: by direction and end
NOWHERE = (0.0, 0.0, 0.0)
FARTHEST = 1e70  # coordinates: squares of areas are finite


@dataclass(frozen=True, eq=False)
class Chart:
    """A block of cells, by its `vertices` [xyz, k, j, i] in double precision: cell (i, j, k) lies between vertices
    (i, j, k) and (i + 1, j + 1, k + 1). Its directions i, j, k are right-handed.
    """

    vertices: np.ndarray

    @cached_property
    def cells(self) -> Triple:
        """Number of cells along i, j and k."""
        return triple(n - 1 for n in self.vertices.shape[:0:-1])

    @property
    def box(self) -> Box:
        return Box.of(self.cells)

    @cached_property
    def sizes(self) -> CellSizes:
        """The sizes of its cells."""
        return cell_sizes(self.vertices)

    def at(self, vertices: Box) -> np.ndarray:
        """The vertices [xyz, k, j, i] of a box."""
        return self.vertices[:, *vertices.slices((0, 0, 0))]


@dataclass(frozen=True, slots=True, order=True)
class Patch:
    """A rectangle of faces on a side of a chart: those of the layer of `cells` beside it."""

    chart: int
    side: str
    cells: Box

    @classmethod
    def whole(cls, chart: int, side: str, cells: Triple) -> Patch:
        """All faces of a side."""
        axis, end = divmod(SIDES.index(side), 2)
        return cls(chart, side, Box.of(cells).layer(axis, end, 0, 1))

    @property
    def axis(self) -> int:
        """The direction across it: 0, 1, 2 for i, j, k."""
        return SIDES.index(self.side) // 2

    @property
    def end(self) -> int:
        """0 at the low end of that direction, 1 at the high one."""
        return SIDES.index(self.side) % 2

    @property
    def along(self) -> tuple[int, int]:
        """The two directions in it."""
        first, second = (axis for axis in range(3) if axis != self.axis)
        return first, second

    @property
    def vertices(self) -> Box:
        """The box of its vertices."""
        corners = self.cells.expand((0, 0, 0), (1, 1, 1))
        return corners.layer(self.axis, self.end, 0, 1)

    def __str__(self) -> str:
        ranges = (f"{'ijk'[a]} {self.cells.lo[a] + 1} to {self.cells.hi[a]}" for a in self.along)
        return f"chart {self.chart + 1}, {self.side}, cells {', '.join(ranges)}"


@dataclass(frozen=True, slots=True, order=True)
class GridSeam:
    """Faces of `one` patch that are those of the `other`, of another chart or the same. Direction a of the first runs
    along direction |axes[a]| - 1 of the second, or against it where axes[a] < 0. A point at x on the first is at
    x + translation on the second.
    """

    one: Patch
    other: Patch
    axes: Triple
    translation: Vector = NOWHERE

    @property
    def turn(self) -> Turn:
        """The map from cells of the one chart, also those beyond the seam, to those of the other."""
        shift = [0, 0, 0]
        for a, axis in enumerate(self.axes):
            b, source, target = abs(axis) - 1, self.one.cells, self.other.cells
            low, high = source.lo[a], source.hi[a]
            if a == self.one.axis:  # the layer beyond the seam is the first one inside the other chart
                low, high = (low - 1, high - 1) if self.one.end == 0 else (low + 1, high + 1)
            shift[b] = target.lo[b] - low if axis > 0 else target.hi[b] - 1 + low
        return Turn(self.axes, triple(shift))

    @property
    def reverse(self) -> GridSeam:
        """The same faces, seen from the other side."""
        x, y, z = self.translation
        return GridSeam(self.other, self.one, self.turn.inverse.axes, (0.0 - x, 0.0 - y, 0.0 - z))

    def __str__(self) -> str:
        return f"the seam of {self.one} with {self.other}"


@dataclass(frozen=True, eq=False)
class MultiBlockGrid:
    """Charts that are joined by `seams`, each listed once, and bounded by `sides`: patches by name. Seams and sides
    cover every face of every side of a chart once, and what is joined has the same vertices to the bit.
    """

    charts: tuple[Chart, ...]
    seams: tuple[GridSeam, ...]
    sides: Mapping[str, tuple[Patch, ...]]

    @property
    def cells(self) -> int:
        """Number of all cells."""
        return sum(chart.box.volume for chart in self.charts)

    def joins(self) -> Iterator[GridSeam]:
        """All seams, from both sides."""
        for seam in self.seams:
            yield seam
            yield seam.reverse
