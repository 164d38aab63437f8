"""Staggered grid: constants for kernels, and positions of its values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.flow.grid.metrics import AXES, Counts, Flags, Grid, Vector, beyond_ends, stretched
from taskflow.runtime.regions import Box, Location, triple

Point = Location | Literal["corner"]
"""Location of values in a cell, or the corner where its low faces meet."""

FACES: tuple[Location, Location, Location] = ("fx", "fy", "fz")
Places = tuple[float, ...]
Edges = tuple[Places | None, Places | None, Places | None]
NEAR = 1e-5  # of the extent or the distance from 0: closer positions are equal


def _apart(edges: Places, start: float, length: float) -> bool:
    """Return True if the edges of cells do not start or end at the ends of the grid."""
    near = NEAR * max(abs(start), length)
    return max(abs(edges[0] - start), abs(edges[-1] - (start + length))) > near


@dataclass(frozen=True)
class StaggeredGrid:
    """Box of `lengths` at `origin`, cut into `cells`, with scalars at centres and velocities on faces (MAC).

    Directions with `edges` have cells between these positions, from one end of the box to the other. Other directions
    are uniform. Raises ValueError if a number of cells is below 1, a length is not positive, or edges do not fit.
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
        return triple(not edges for edges in self.edges)

    @property
    def spacing(self) -> Vector:
        """Mean cell sizes dx, dy, dz."""
        (nx, ny, nz), (lx, ly, lz) = self.cells, self.lengths
        return lx / nx, ly / ny, lz / nz

    def faces(self, axis: int) -> np.ndarray:
        """Return the positions of all faces across an axis, from the low to the high end."""
        if edges := self.edges[axis]:
            return np.array(edges)
        return self.origin[axis] + self.spacing[axis] * np.arange(self.cells[axis] + 1)

    def nearest_face(self, axis: int, place: float) -> int:
        """Return the number of the face across an axis nearest to a position."""
        if not self.edges[axis]:
            number = int(np.clip(self.number_at(axis, place), 0, self.cells[axis]))
            near = np.arange(max(0, number - 1), min(number + 2, self.cells[axis]) + 1)
            return int(near[np.abs(self.origin[axis] + self.spacing[axis] * near - place).argmin()])
        return int(np.abs(self.faces(axis) - place).argmin())

    def widths(self, axis: int) -> np.ndarray:
        return np.diff(self.faces(axis))

    def narrowest(self, axis: int) -> float:
        """Return the smallest width along an axis."""
        return float(self.widths(axis).min()) if self.edges[axis] else self.spacing[axis]

    def number_at(self, axis: int, place: float) -> float:
        """Return the number of cells before a position along an axis, including the fraction of its own cell."""
        if self.edges[axis]:
            return float(np.interp(place, self.faces(axis), np.arange(self.cells[axis] + 1)))
        return (place - self.origin[axis]) / self.spacing[axis]

    def width_at(self, axis: int, place: float) -> float:
        """Return the width of the cell at a position along an axis."""
        if not self.edges[axis]:
            return self.spacing[axis]
        return float(self.widths(axis)[min(int(self.number_at(axis, place)), self.cells[axis] - 1)])

    @cached_property
    def constants(self) -> Grid:
        """Grid as read by kernels."""
        walls = triple(not p for p in self.periodic)
        if all(self.uniform):
            return Grid(self.cells, self.spacing, walls, walls)
        return stretched(self.cells, [self.faces(axis) for axis in range(3)], self.uniform, walls, walls)

    @property
    def box(self) -> Box:
        return Box.of(self.cells)

    @property
    def volume(self) -> float:
        """Mean cell volume."""
        dx, dy, dz = self.spacing
        return dx * dy * dz

    def volumes(self, box: Box) -> np.ndarray:
        """Return the volumes of the cells of a box, [z, y, x]."""
        x, y, z = (self.widths(axis)[box.lo[axis] : box.hi[axis]] for axis in range(3))
        return np.asarray(z[:, None, None] * y[:, None] * x)

    def area(self, axis: int) -> float:
        """Return the mean area of faces across an axis."""
        return self.volume / self.spacing[axis]

    def area_shares(self, axis: int) -> np.ndarray:
        """Return the areas of the faces across an axis over their mean, as an array that broadcasts to [z, y, x]."""
        shares = [
            np.ones(1) if a == axis or uniform else self.widths(a) / self.spacing[a]
            for a, uniform in enumerate(self.uniform)
        ]
        return shares[2][:, None, None] * shares[1][:, None] * shares[0]

    def coordinates(self, location: Point, axis: int, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Return the positions along an axis of the values at `location` in the cells [start, stop), by default all.

        Values on faces across an axis with walls have one more position, the high wall.
        """
        on_face = _on_face(location, axis)
        if stop is None:
            stop = self.cells[axis] + (on_face and not self.periodic[axis])
        if self.edges[axis]:
            faces = self._extended(axis, start, stop)
            return faces[:-1] if on_face else (faces[:-1] + faces[1:]) / 2
        return self.origin[axis] + self.spacing[axis] * (np.arange(start, stop) + (0.0 if on_face else 0.5))

    def distances(self, location: Point, axis: int, start: int, stop: int) -> np.ndarray:
        """Return the distances along an axis between values at `location` in cells [start, stop) and the next."""
        if not self.edges[axis]:
            return np.full(stop - start, self.spacing[axis])
        return np.diff(self.coordinates(location, axis, start, stop + 1))

    def extents(self, location: Point, axis: int, start: int, stop: int) -> np.ndarray:
        """Return the lengths of the volumes around these values: of cells, or between centres around faces."""
        if _on_face(location, axis):
            return self.distances("c", axis, start - 1, stop - 1)
        return self.distances(FACES[axis], axis, start, stop)

    def _extended(self, axis: int, start: int, stop: int) -> np.ndarray:
        """Return the low faces of the cells [start, stop), and the last high one, with cells mirrored at walls."""
        n, before, behind = self.cells[axis], max(0, -start), max(0, stop - self.cells[axis])
        widths = beyond_ends(self.widths(axis), before, behind, mirrored=not self.periodic[axis])
        faces = np.concatenate([[0.0], np.cumsum(widths)])
        faces += self.faces(axis)[0] - faces[before]
        faces[before : before + n + 1] = self.faces(axis)
        return faces[start + before : stop + before + 1]

    def points(self, location: Location, box: Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return x, y, z of the values at `location` in the cells of `box`, as arrays that broadcast to [z, y, x]."""
        x, y, z = (self.coordinates(location, axis, box.lo[axis], box.hi[axis]) for axis in range(3))
        return x[None, None, :], y[None, :, None], z[:, None, None]


def _on_face(location: Point, axis: int) -> bool:
    """Return True if values at a location lie on the faces across an axis, not between them."""
    return location == "corner" or (location != "c" and AXES[location[1]] == axis)
