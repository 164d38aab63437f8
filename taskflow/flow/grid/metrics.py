"""Cell sizes as read by kernels: uniform, or stretched with tables along each direction.

On stretched grids differences are located as on uniform ones, at centres and faces, and divide by the local cell widths
and distances of centres. One cell loses the flux that the next one gains. The advected value on a face is the
arithmetic mean of both sides, the advecting velocity the volume-weighted mean, so central differences conserve kinetic
energy as on uniform cells (Y. Morinishi, T. S. Lund, O. V. Vasilyev, P. Moin 1998, J. Comput. Phys. 143, 90, and R. W.
C. P. Verstappen, A. E. P. Veldman 2003, J. Comput. Phys. 187, 343).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import LookupTable, LookupTables, frame

Vector = tuple[float, float, float]
Flags = tuple[bool, bool, bool]
Counts = tuple[int, int, int]
NOWHERE = 2**30  # no cell has this index, nor its negative
AXES = {"x": 0, "y": 1, "z": 2}
BEYOND = 3  # ghost cells with known sizes at the ends of a direction


@dataclass(frozen=True)
class Grid:
    """Grid as read by kernels: the cells of the domain, their spacing, and which ends are walls (not periodic).

    Derived: `first` and `last`, the indices of the cells adjacent to the low and high walls, unreachable without a
    wall, `inverse` = 1 / spacing, and `relaxation` = 1 / (2 (1/dx^2 + 1/dy^2 + 1/dz^2)), the inverse diagonal of
    -Laplacian.
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
            "first": tuple(0 if wall else -NOWHERE for wall in self.low),
            "last": tuple(n - 1 if wall else -NOWHERE for n, wall in zip(self.cells, self.high, strict=True)),
            "inverse": (x, y, z),
            "relaxation": 0.5 / (x * x + y * y + z * z),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def width(self, axis: int, cell: int) -> float:
        return self.spacing[axis]

    def distance(self, axis: int, face: int) -> float:
        """Return the distance between the centres on both sides of a face across an axis."""
        return self.spacing[axis]

    def beside(self, face: str) -> float:
        """Return the width, across a face of the domain (x_min to z_max), of its adjacent cells and ghost cells."""
        axis = AXES[face[0]]
        return self.width(axis, self.cells[axis] - 1 if face.endswith("max") else 0)

    def length(self, axis: int) -> float:
        return self.spacing[axis] * self.cells[axis]

    def ends(self, axis: int) -> tuple[float, float]:
        """Return the distances of the low and high end from the origin that kernels use along an axis.

        That is the centre of the first cell or, on a stretched grid, the low end.
        """
        return self.spacing[axis] / 2, (self.cells[axis] - 0.5) * self.spacing[axis]

    def largest(self, axis: int) -> float:
        """Return the largest cell width along an axis."""
        return self.spacing[axis]

    @property
    def unevenness(self) -> float:
        """Largest over mean cell volume."""
        return 1.0

    @property
    def filter_width(self) -> float:
        """Cube root of the cell volume, or 1 on stretched grids, where kernels read it cell by cell."""
        dx, dy, dz = self.spacing
        return float((dx * dy * dz) ** (1 / 3))

    @property
    def resolved(self) -> tuple[float, ...]:
        """Spacings along directions of more than one cell, or all spacings if no direction has more."""
        return tuple(h for h, n in zip(self.spacing, self.cells, strict=True) if n > 1) or self.spacing

    @property
    def inverse_spacing_squared(self) -> float:
        """1/dx^2 + 1/dy^2 + 1/dz^2, which times a viscosity bounds the time step."""
        return sum(self.inverse_spacing_squared_along(axis) for axis in range(3))

    def inverse_spacing_squared_along(self, axis: int) -> float:
        """Return the part of `inverse_spacing_squared` along an axis."""
        return self.inverse[axis] ** 2

    def explicit_spacings(self, implicit: int | None) -> float:
        """Return `inverse_spacing_squared` without the axis of implicit diffusion, if any."""
        return sum(self.inverse_spacing_squared_along(axis) for axis in range(3) if axis != implicit)

    def flat(self, axes: Collection[int]) -> Grid:
        """Return the grid with infinitely wide cells along `axes`, along which nothing changes: they bound no step."""
        return replace(self, spacing=triple(math.inf if a in axes else h for a, h in enumerate(self.spacing)))

    def without(self, faces: Collection[str]) -> Grid:
        """Return the grid without walls at these faces (x_min to z_max), where kernels then read ghost cells."""
        low = triple(wall and f"{axis}_min" not in faces for axis, wall in zip(AXES, self.low, strict=True))
        high = triple(wall and f"{axis}_max" not in faces for axis, wall in zip(AXES, self.high, strict=True))
        return replace(self, low=low, high=high)


def on_face(face: str, grid: Grid) -> Box:
    """Return the cells whose low faces lie on a face of the domain: ghost cells if it is a high face."""
    axis, high = frame(face)
    return Box.of(grid.cells).layer(axis, high, -high, 1 - high)


@dataclass(frozen=True)
class Stretched(Grid):
    """Grid with tables by cell along x, y and z. `spacing`, `inverse` and `relaxation` are NaN along stretched
    directions.

    `widths`: of the cell. `per_cell`: 1 / width. `per_face`: 1 / distance between the centres on both sides of its low
    face. `per_two_cells`: 1 / distance between the centres of the previous and the next cell. `behind`: twice its share
    of the volume around its low face. `share`: width over mean width. `centre`: distance from the low end. `filter`:
    width to the power of 2/3.
    """

    defines: ClassVar[tuple[str, ...]] = ("STRETCHED",)
    widths: LookupTables
    per_cell: LookupTables
    per_face: LookupTables
    per_two_cells: LookupTables
    behind: LookupTables
    share: LookupTables
    centre: LookupTables
    filter: LookupTables

    def edges(self, axis: int) -> np.ndarray:
        """Return the positions of all faces across an axis, relative to the low end."""
        widths = [self.width(axis, cell) for cell in range(self.cells[axis])]
        return np.concatenate([[0.0], np.cumsum(widths)])

    def length(self, axis: int) -> float:
        return sum(1.0 / self.per_cell[axis][cell] for cell in range(self.cells[axis]))

    def ends(self, axis: int) -> tuple[float, float]:
        """Return 0 and the length along an axis."""
        return 0.0, self.length(axis)

    def largest(self, axis: int) -> float:
        return 1.0 / min(self.per_cell[axis].values)

    @property
    def unevenness(self) -> float:
        """Product of largest over mean width of all directions."""
        return math.prod(max(share.values) for share in self.share)

    @property
    def filter_width(self) -> float:
        """1, because kernels read the width of each cell."""
        return 1.0

    def width(self, axis: int, cell: int) -> float:
        return self.widths[axis][cell]

    def distance(self, axis: int, face: int) -> float:
        return 1.0 / self.per_face[axis][face]

    def flat(self, axes: Collection[int]) -> Grid:
        def wide(tables: LookupTables, value: float) -> LookupTables:
            rows = (LookupTable(t.first, (value,) * len(t.values)) if a in axes else t for a, t in enumerate(tables))
            return triple(rows)

        names = ("per_cell", "per_face", "per_two_cells")
        inverse: dict[str, Any] = {name: wide(getattr(self, name), 0.0) for name in names}
        return replace(super().flat(axes), **inverse) if axes else self

    def inverse_spacing_squared_along(self, axis: int) -> float:
        """Return a quarter of the largest row sum of magnitudes in the Laplacian: 1 / spacing^2 for uniform cells."""
        row = slice(BEYOND - 1, BEYOND + self.cells[axis] + 1)  # one additional cell at both ends
        cells, faces = (np.array(tables[axis].values[row]) for tables in (self.per_cell, self.per_face))
        in_cells, on_faces = cells[:-1] * (faces[:-1] + faces[1:]), faces[1:] * (cells[:-1] + cells[1:])
        return float(max(in_cells[1:].max(), on_faces.max())) / 2


def stretched(cells: Counts, edges: Sequence[np.ndarray], uniform: Flags, low: Flags, high: Flags) -> Stretched:
    """Return the grid of cells between these edges, which include the `uniform` directions."""
    directions = zip(edges, cells, uniform, strict=True)
    spacing = triple(float(e[-1] - e[0]) / n if same else np.nan for e, n, same in directions)
    tables = [_along(e, wall) for e, wall in zip(edges, low, strict=True)]
    members: dict[str, Any] = {
        name: tuple(LookupTable(-BEYOND, tuple(along[name].tolist())) for along in tables) for name in tables[0]
    }
    return Stretched(cells, spacing, low, high, **members)


def beyond_ends(widths: np.ndarray, before: int, behind: int, *, mirrored: bool) -> np.ndarray:
    """Return the widths with `before` and `behind` ghost cells, mirrored or periodic."""
    return np.pad(widths, (before, behind), mode="symmetric" if mirrored else "wrap")


def _along(edges: np.ndarray, wall: bool) -> dict[str, np.ndarray]:
    """Return the tables along one direction, with cells mirrored at walls."""
    inside = np.diff(edges)
    widths = beyond_ends(inside, BEYOND + 1, BEYOND + 1, mirrored=wall)
    centres = np.concatenate([[0.0], np.cumsum((widths[:-1] + widths[1:]) / 2)])
    centres -= centres[BEYOND + 1] - widths[BEYOND + 1] / 2
    here, distance = slice(1, -1), np.diff(centres)
    return {
        "widths": widths[here],
        "per_cell": 1 / widths[here],
        "per_face": 1 / distance[:-1],
        "per_two_cells": 1 / (centres[2:] - centres[:-2]),
        "behind": 2 * widths[here] / (widths[:-2] + widths[here]),
        "share": widths[here] / inside.mean(),
        "centre": centres[here],
        "filter": widths[here] ** (2 / 3),
    }
