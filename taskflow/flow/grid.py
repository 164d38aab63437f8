"""The staggered uniform grid: what kernels know of it, and where its values live in space."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

import numpy as np

from taskflow.regions import Box, Location

Vector = tuple[float, float, float]
Flags = tuple[bool, bool, bool]
Counts = tuple[int, int, int]
NOWHERE = -(2**30)  # no cell has this index
AXES = {"x": 0, "y": 1, "z": 2}


@dataclass(frozen=True)
class Grid:
    """What kernels know of the grid: the domain's cells, their spacing, and at which of its ends there are walls (not
    periodic).

    Derived: `first` and `last` are the indices of the cells beside the low and the high wall, NOWHERE without one;
    `inverse` = 1 / spacing; `relaxation` = 1 / (2 (1/dx^2 + 1/dy^2 + 1/dz^2)), one over the diagonal of -Laplacian.
    """

    cells: Counts
    spacing: Vector
    low: Flags
    high: Flags
    first: Counts = field(init=False)
    last: Counts = field(init=False)
    inverse: Vector = field(init=False)
    relaxation: float = field(init=False)

    def __post_init__(self) -> None:
        x, y, z = (1.0 / h for h in self.spacing)
        derived = {
            "first": tuple(0 if wall else NOWHERE for wall in self.low),
            "last": tuple(n - 1 if wall else NOWHERE for n, wall in zip(self.cells, self.high, strict=True)),
            "inverse": (x, y, z),
            "relaxation": 0.5 / (x * x + y * y + z * z),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def without(self, faces: Collection[str]) -> Grid:
        """The grid without walls at these faces (x_min to z_max): kernels then read the cells beyond them."""
        x, y, z = (wall and f"{axis}_min" not in faces for axis, wall in zip(AXES, self.low, strict=True))
        a, b, c = (wall and f"{axis}_max" not in faces for axis, wall in zip(AXES, self.high, strict=True))
        return replace(self, low=(x, y, z), high=(a, b, c))


@dataclass(frozen=True)
class StaggeredGrid:
    """A box of `lengths` at `origin`, cut into uniform `cells`; scalars live in centres, velocities on faces (MAC).

    Raises ValueError for a number of cells below one or a length that is not positive.
    """

    cells: Counts
    lengths: Vector
    origin: Vector = (0.0, 0.0, 0.0)
    periodic: Flags = (False, False, False)

    def __post_init__(self) -> None:
        if min(self.cells) < 1 or not all(length > 0 for length in self.lengths):
            raise ValueError(f"a grid needs cells >= 1 and lengths > 0, not {self.cells} and {self.lengths}")

    @property
    def spacing(self) -> Vector:
        """Cell sizes dx, dy, dz."""
        (nx, ny, nz), (lx, ly, lz) = self.cells, self.lengths
        return lx / nx, ly / ny, lz / nz

    @property
    def constants(self) -> Grid:
        """The grid as kernels receive it."""
        x, y, z = (not p for p in self.periodic)
        return Grid(self.cells, self.spacing, (x, y, z), (x, y, z))

    @property
    def box(self) -> Box:
        """All cells."""
        return Box.of(self.cells)

    @property
    def volume(self) -> float:
        """Volume of a cell."""
        dx, dy, dz = self.spacing
        return dx * dy * dz

    def area(self, axis: int) -> float:
        """Area of a cell's face across an axis."""
        return self.volume / self.spacing[axis]

    def coordinates(self, location: Location, axis: int, start: int = 0, stop: int | None = None) -> np.ndarray:
        """Positions along an axis of the values at `location` in the cells [start, stop), by default all.

        All are one more where the axis is the normal of that location's faces and has walls: the last one is the high
        wall.
        """
        on_face = location != "c" and AXES[location[1]] == axis
        if stop is None:
            stop = self.cells[axis] + (on_face and not self.periodic[axis])
        return self.origin[axis] + self.spacing[axis] * (np.arange(start, stop) + (0.0 if on_face else 0.5))

    def points(self, location: Location, box: Box) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, y, z of the values at `location` in the cells of `box`: arrays that broadcast to the shape [z, y, x]."""
        x, y, z = (self.coordinates(location, axis, box.lo[axis], box.hi[axis]) for axis in range(3))
        return x[None, None, :], y[None, :, None], z[:, None, None]
