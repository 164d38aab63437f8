"""Body-fitted grids of several charts: vertices, seams between charts, sides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import Part, area, cell_volumes, face_areas, in_parts, low_faces
from taskflow.common.units import unit_of_length
from taskflow.runtime.regions import Box, Patch, Triple, Turn, triple


class BadGrid(BadInput):
    """Unusable grid, with all its `problems`, one line of the message each.

    A problem is a `BadArgument` for a key of a generator, else a `BadInput` that names the file and line, or the chart.
    """

    def __init__(self, problems: Iterable[BadInput]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(map(str, self.problems)))


def all_right(problems: Iterable[BadInput]) -> None:
    """Raise BadGrid if problems exist."""
    if bad := tuple(problems):
        raise BadGrid(bad)


def closure(vertices: np.ndarray) -> np.ndarray:
    """Return the length [k, j, i] of the sum of a cell's outward area vectors over the sum of their lengths.

    It is zero up to rounding.
    """
    across_i, across_j, across_k = (face_areas(vertices, axis) for axis in range(3))
    low_high = [
        (across_i[..., :-1], across_i[..., 1:]),
        (across_j[..., :-1, :], across_j[..., 1:, :]),
        (across_k[:, :-1], across_k[:, 1:]),
    ]
    total = np.sqrt((sum(high - low for low, high in low_high) ** 2).sum(axis=0))
    return np.asarray(total / sum(np.sqrt((s**2).sum(axis=0)) for pair in low_high for s in pair))


@dataclass(frozen=True)
class CellSizes:
    """Sizes of the cells of a chart.

    `least`: smallest volume, in the cell `place` (i, j, k) from 0. `negative`: number of cells without positive volume.
    `largest`: largest volume. `thickness`: smallest and largest ratio of the volume to the largest low face across the
    first n directions, by n. n = 2 is present if the chart is one cell thick along the third.
    """

    least: float
    place: Triple
    negative: int
    largest: float
    thickness: Mapping[int, tuple[float, float]]


def cell_sizes(vertices: np.ndarray) -> CellSizes:
    """Return the sizes of cells between vertices."""
    with np.errstate(divide="ignore", invalid="ignore"):  # faces without an area
        parts = in_parts(vertices, partial(_sizes, vertices.shape[1] == 2))
    lowest = min(parts, key=lambda part: part.least)
    thickness = {
        n: (min(part.thickness[n][0] for part in parts), max(part.thickness[n][1] for part in parts))
        for n in lowest.thickness
    }
    largest = max(part.largest for part in parts)
    return replace(lowest, negative=sum(part.negative for part in parts), largest=largest, thickness=thickness)


def _sizes(flat: bool, corners: np.ndarray, at: Part) -> CellSizes:
    volumes = cell_volumes(corners)
    squares = [(low_faces(corners, axis) ** 2).sum(axis=0) for axis in range(3)]
    some = (2, 3) if flat else (3,)
    thick = {n: volumes / np.sqrt(reduce(np.maximum, squares[:n])) for n in some}
    k, j, i = (int(n) for n in np.unravel_index(int(volumes.argmin()), volumes.shape))
    return CellSizes(
        float(volumes[k, j, i]),
        (i, j + at[1].start, k + at[0].start),
        int((volumes <= 0).sum()),
        float(volumes.max()),
        {n: (float(size.min()), float(size.max())) for n, size in thick.items()},
    )


Vector = tuple[float, float, float]
NOWHERE = (0.0, 0.0, 0.0)
FARTHEST = 1e70  # coordinates: squares of areas are finite


@dataclass(frozen=True, eq=False)
class Chart:
    """Block of cells by its `vertices` [xyz, k, j, i] in double precision.

    Cell (i, j, k) lies between vertices (i, j, k) and (i + 1, j + 1, k + 1). Directions i, j, k are right-handed.
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
        return cell_sizes(self.vertices)

    def at(self, vertices: Box) -> np.ndarray:
        """Return the vertices [xyz, k, j, i] of a box."""
        return self.vertices[:, *vertices.slices((0, 0, 0))]


@dataclass(frozen=True, slots=True, order=True)
class GridSeam:
    """Faces of patch `one` that coincide with faces of patch `other`, on another chart or the same.

    Direction a of the first runs along direction |axes[a]| - 1 of the second, reversed if axes[a] < 0. A point x on the
    first is at x + translation on the second.
    """

    one: Patch
    other: Patch
    axes: Triple
    translation: Vector = NOWHERE

    @property
    def turn(self) -> Turn:
        """Map from cells of the first chart, including ghost cells across the seam, to cells of the other."""
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
        """The same faces from the other side."""
        x, y, z = self.translation
        return GridSeam(self.other, self.one, self.turn.inverse.axes, (0.0 - x, 0.0 - y, 0.0 - z))

    @property
    def in_order(self) -> GridSeam:
        """The same faces from the side that comes first."""
        return min(self, self.reverse, key=lambda seam: (seam.one, seam.other))

    def __str__(self) -> str:
        return f"the seam of {self.one} with {self.other}"


@dataclass(frozen=True, eq=False)
class MultiBlockGrid:
    """Charts joined by `seams`, each listed once, and bounded by `sides`, patches by name.

    Seams and sides cover every outer face of a chart once, and shared vertices are bitwise identical. `unit` is the
    unit of length if the file names one. `turns`: by chart, if the directions of some were exchanged after reading
    (`plane.upright`).
    """

    charts: tuple[Chart, ...]
    seams: tuple[GridSeam, ...]
    sides: Mapping[str, tuple[Patch, ...]]
    unit: str = ""
    turns: tuple[Turn, ...] = ()

    def direction(self, chart: int, given: int) -> int:
        """Return the direction, 0, 1, 2 for i, j, k, of a chart that is `given` in its file or shape."""
        return self.turns[chart].axes[given] - 1 if self.turns else given

    def given(self, chart: int) -> Triple:
        """Return the number of cells of a chart along i, j and k of its file or shape."""
        return triple(self.charts[chart].cells[self.direction(chart, axis)] for axis in range(3))

    def directed(self, chart: int, given: Triple) -> Triple:
        """Return numbers along i, j and k of the file or shape of a chart in the order of its present directions."""
        ordered = dict(zip((self.direction(chart, axis) for axis in range(3)), given, strict=True))
        return triple(ordered[axis] for axis in range(3))

    def turned(self, chart: int) -> str:
        """Say which directions of its file or shape the directions of a chart were, or "" if they are the same."""
        given = sorted("ijk", key=lambda name: self.direction(chart, "ijk".index(name)))
        return "" if given == [*"ijk"] else f", turned: its i, j, k were {', '.join(given)}"

    @property
    def units(self) -> str:
        """Remedy for a file in another unit than metres, or "" if it is in metres or names no unit."""
        name, metres = unit_of_length(self.unit)
        if metres == 1.0 or not name:
            return ""
        factor = "grid.scale" if metres is None else f"grid.scale = {metres:g}"
        return f"the file is in {name}, and its numbers are used unchanged; {factor} makes them metres"

    @property
    def cells(self) -> int:
        """Number of all cells."""
        return sum(chart.box.volume for chart in self.charts)

    def joins(self) -> Iterator[GridSeam]:
        """Yield all seams, from both sides."""
        for seam in self.seams:
            yield seam
            yield seam.reverse


def vertices(turn: Turn, box: Box) -> Box:
    """Return the image of a box of vertices, where vertex (i, j, k) is the low corner of cell (i, j, k)."""
    image, ahead = turn(box), [0, 0, 0]
    for axis in turn.axes:
        ahead[abs(axis) - 1] = int(axis < 0)  # the low corner of a cell is the high one of its image
    return image.shift(triple(ahead))


def oriented(turn: Turn, values: np.ndarray) -> np.ndarray:
    """Return values [..., k, j, i] of images in the order of their originals."""
    lead = values.ndim - 3
    order = [lead + 3 - abs(turn.axes[a]) for a in (2, 1, 0)]
    turned = values.transpose(*range(lead), *order)
    return np.flip(turned, tuple(lead + 2 - a for a in range(3) if turn.axes[a] < 0))


def corners(chart: Chart, patch: Patch) -> tuple[np.ndarray, ...]:
    """Return the vertices a, b, c, d [xyz, n, m] of the faces of a patch, counted around the index across it.

    n and m run along the two directions in the patch, the higher index first.
    """
    x = chart.at(patch.vertices).squeeze(3 - patch.axis)
    around = x[:, :-1, :-1], x[:, :-1, 1:], x[:, 1:, 1:], x[:, 1:, :-1]
    return around if patch.axis != 1 else around[::-1]


def faces(grid: MultiBlockGrid, patch: Patch) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres and outward area vectors [xyz, n, m] of the faces of a patch, with n and m as in `corners`."""
    a, b, c, d = corners(grid.charts[patch.chart], patch)
    return (a + b + c + d) / 4, area(a, b, c, d) * (1 if patch.end else -1)
