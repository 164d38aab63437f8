"""The staggered grid: what kernels know of it, and where its values live in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.flow.grid.metrics import AXES, Counts, Flags, Grid, Vector, beyond_ends, stretched
from taskflow.runtime.regions import Box, Location, triple

Point = Location | Literal["corner"]
"""A location of values in a cell, or the corner where its low faces meet."""

FACES: tuple[Location, Location, Location] = ("fx", "fy", "fz")
Places = tuple[float, ...]
Edges = tuple[Places | None, Places | None, Places | None]
NEAR = 1e-5  # of the extent or the distance from 0: places this close are one


def _apart(edges: Places, start: float, length: float) -> bool:
    """Whether edges of cells do not begin or end where a grid does."""
    near = NEAR * max(abs(start), length)
    return max(abs(edges[0] - start), abs(edges[-1] - (start + length))) > near


@dataclass(frozen=True)
class StaggeredGrid:
    """A box of `lengths` at `origin`, cut into `cells`; scalars live in centres, velocities on faces (MAC).

    Along a direction that has `edges`, the cells lie between these places, from one end of the box to the other;
    otherwise they are uniform. Raises ValueError for a number of cells below one, a length that is not positive, and
    edges that do not fit.
    """

    cells: Counts
    lengths: Vector
    origin: Vector = (0.0, 0.0, 0.0)
    periodic: Flags = (False, False, False)
    edges: Edges = (None, None, None)

    def __post_init__(self) -> None:
        if min(self.cells) < 1 or not all(length > 0 for length in self.lengths):
            raise ValueError(f"a grid needs cells >= 1 and lengths > 0, not {self.cells} and {self.lengths}")
        for n, start, length, edges in zip(self.cells, self.origin, self.lengths, self.edges, strict=True):
            if edges and (len(edges) != n + 1 or _apart(edges, start, length)):
                raise ValueError(f"{n} cells from {start} to {start + length} do not lie between the edges {edges}")
            if edges and min(np.diff(edges)) <= 0:
                raise ValueError(f"the edges of cells have to increase, not {edges}")

    @property
    def uniform(self) -> Flags:
        """The directions along which all cells are of one size."""
        return triple(not edges for edges in self.edges)

    @property
    def spacing(self) -> Vector:
        """Cell sizes dx, dy, dz: the mean ones."""
        (nx, ny, nz), (lx, ly, lz) = self.cells, self.lengths
        return lx / nx, ly / ny, lz / nz

    def faces(self, axis: int) -> np.ndarray:
        """The places of all faces across an axis, from the low end to the high one."""
        if edges := self.edges[axis]:
            return np.array(edges)
        return self.origin[axis] + self.spacing[axis] * np.arange(self.cells[axis] + 1)

    def nearest_face(self, axis: int, place: float) -> int:
        """The number of the face across an axis that is nearest to a place."""
        if not self.edges[axis]:
            number = int(np.clip(self.number_at(axis, place), 0, self.cells[axis]))
            near = np.arange(max(0, number - 1), min(number + 2, self.cells[axis]) + 1)
            return int(near[np.abs(self.origin[axis] + self.spacing[axis] * near - place).argmin()])
        return int(np.abs(self.faces(axis) - place).argmin())

    def widths(self, axis: int) -> np.ndarray:
        """The widths of the cells along an axis."""
        return np.diff(self.faces(axis))

    def narrowest(self, axis: int) -> float:
        """The smallest width along an axis."""
        return float(self.widths(axis).min()) if self.edges[axis] else self.spacing[axis]

    def number_at(self, axis: int, place: float) -> float:
        """Return how many cells lie before a place along an axis, with the part of the one that it is in."""
        if self.edges[axis]:
            return float(np.interp(place, self.faces(axis), np.arange(self.cells[axis] + 1)))
        return (place - self.origin[axis]) / self.spacing[axis]

    def width_at(self, axis: int, place: float) -> float:
        """The width of the cell at a place along an axis."""
        if not self.edges[axis]:
            return self.spacing[axis]
        return float(self.widths(axis)[min(int(self.number_at(axis, place)), self.cells[axis] - 1)])

    @cached_property
    def constants(self) -> Grid:
        """The grid as kernels receive it."""
        walls = triple(not p for p in self.periodic)
        if all(self.uniform):
            return Grid(self.cells, self.spacing, walls, walls)
        return stretched(self.cells, [self.faces(axis) for axis in range(3)], self.uniform, walls, walls)

    @property
    def box(self) -> Box:
        return Box.of(self.cells)

    @property
    def volume(self) -> float:
        """Volume of a cell: the mean one."""
        dx, dy, dz = self.spacing
        return dx * dy * dz

    def volumes(self, box: Box) -> np.ndarray:
        """Return the volumes of the cells of a box, [z, y, x]."""
        x, y, z = (self.widths(axis)[box.lo[axis] : box.hi[axis]] for axis in range(3))
        return np.asarray(z[:, None, None] * y[:, None] * x)

    def area(self, axis: int) -> float:
        """Area of a cell's face across an axis: the mean one."""
        return self.volume / self.spacing[axis]

    def area_shares(self, axis: int) -> np.ndarray:
        """The areas of the faces across an axis over the mean one, as an array that broadcasts to [z, y, x]."""
        shares = [
            np.ones(1) if a == axis or uniform else self.widths(a) / self.spacing[a]
            for a, uniform in enumerate(self.uniform)
        ]
        return shares[2][:, None, None] * shares[1][:, None] * shares[0]

    def coordinates(self, location: Point, axis: int, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Positions along an axis of the values at `location` in the cells [start, stop), by default all.

        All are one more where the axis is the normal of that location's faces and has walls: the last one is the high
        wall.
        """
        on_face = _on_face(location, axis)
        if stop is None:
            stop = self.cells[axis] + (on_face and not self.periodic[axis])
        if self.edges[axis]:
            faces = self._extended(axis, start, stop)
            return faces[:-1] if on_face else (faces[:-1] + faces[1:]) / 2
        return self.origin[axis] + self.spacing[axis] * (np.arange(start, stop) + (0.0 if on_face else 0.5))

    def distances(self, location: Point, axis: int, start: int, stop: int) -> np.ndarray:
        """Return the distances along an axis of the values at `location` in the cells [start, stop) from the next ones.
        """
        if not self.edges[axis]:
            return np.full(stop - start, self.spacing[axis])
        return np.diff(self.coordinates(location, axis, start, stop + 1))

    def extents(self, location: Point, axis: int, start: int, stop: int) -> np.ndarray:
        """Return the lengths of the volumes around these values: of cells, or from centre to centre around faces."""
        if _on_face(location, axis):
            return self.distances("c", axis, start - 1, stop - 1)
        return self.distances(FACES[axis], axis, start, stop)

    def _extended(self, axis: int, start: int, stop: int) -> np.ndarray:
        """The low faces of the cells [start, stop), and the last high one; beyond walls cells are mirrored."""
        n, before, behind = self.cells[axis], max(0, -start), max(0, stop - self.cells[axis])
        widths = beyond_ends(self.widths(axis), before, behind, mirrored=not self.periodic[axis])
        faces = np.concatenate([[0.0], np.cumsum(widths)])
        faces += self.faces(axis)[0] - faces[before]
        faces[before : before + n + 1] = self.faces(axis)
        return faces[start + before : stop + before + 1]

    def points(self, location: Location, box: Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, y, z of the values at `location` in the cells of `box`: arrays that broadcast to the shape [z, y, x]."""
        x, y, z = (self.coordinates(location, axis, box.lo[axis], box.hi[axis]) for axis in range(3))
        return x[None, None, :], y[None, :, None], z[:, None, None]


def _on_face(location: Point, axis: int) -> bool:
    """Return whether values at a location lie on the faces across an axis, not between them."""
    return location == "corner" or (location != "c" and AXES[location[1]] == axis)
