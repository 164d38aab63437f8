"""The sizes of cells: what kernels know of a grid, uniform, or stretched with tables along each direction.

On stretched grids differences live where they do on uniform ones, in centres and on faces, and divide by the widths of
cells and the distances of centres that are there. Fluxes through faces are what one cell loses and the next one gains.
What is carried has the plain mean of both sides on a face, what carries it the mean over the volumes that it comes
from: so the central differences conserve kinetic energy as on uniform cells (Y. Morinishi, T. S. Lund, O. V. Vasilyev,
P. Moin 1998, J. Comput. Phys. 143, 90; R. W. C. P. Verstappen, A. E. P. Veldman 2003, J. Comput. Phys. 187, 343).
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
BEYOND = 3  # cells beyond the ends of a direction whose sizes are known, too


@dataclass(frozen=True)
class Grid:
    """The grid as kernels know it: the domain's cells, their spacing, and at which of its ends there are walls (not
    periodic).

    Derived: `first` and `last` are the indices of the cells beside the low and the high wall, out of reach without one;
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
            "first": tuple(0 if wall else -NOWHERE for wall in self.low),
            "last": tuple(n - 1 if wall else -NOWHERE for n, wall in zip(self.cells, self.high, strict=True)),
            "inverse": (x, y, z),
            "relaxation": 0.5 / (x * x + y * y + z * z),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def width(self, axis: int, cell: int) -> float:
        """Return the width of a cell along an axis; all are alike, but for those of a `Stretched` grid."""
        return self.spacing[axis]

    def distance(self, axis: int, face: int) -> float:
        """Return the distance between the centres on both sides of a face across an axis."""
        return self.spacing[axis]

    def beside(self, face: str) -> float:
        """Return the width, across it, of the cells beside a face of the domain (x_min to z_max), and of those beyond.
        """
        axis = AXES[face[0]]
        return self.width(axis, self.cells[axis] - 1 if face.endswith("max") else 0)

    def length(self, axis: int) -> float:
        """Return the length of the domain along an axis."""
        return self.spacing[axis] * self.cells[axis]

    def ends(self, axis: int) -> tuple[float, float]:
        """Return the distances of the low and of the high end from the place where kernels begin to count along an
        axis: the centre of the first cell or, on a stretched grid, the low end.
        """
        return self.spacing[axis] / 2, (self.cells[axis] - 0.5) * self.spacing[axis]

    def largest(self, axis: int) -> float:
        """The largest width along an axis."""
        return self.spacing[axis]

    @property
    def unevenness(self) -> float:
        """The largest volume of a cell over the mean one."""
        return 1.0

    @property
    def filter_width(self) -> float:
        """The cube root of a cell's volume; 1 on stretched grids, where kernels know it cell by cell."""
        dx, dy, dz = self.spacing
        return float((dx * dy * dz) ** (1 / 3))

    @property
    def resolved(self) -> tuple[float, ...]:
        """The spacings along directions of more than one cell: nothing changes along others. All, if there are none."""
        return tuple(h for h, n in zip(self.spacing, self.cells, strict=True) if n > 1) or self.spacing

    @property
    def inverse_spacing_squared(self) -> float:
        """1/dx^2 + 1/dy^2 + 1/dz^2: times a viscosity, what bounds the time step."""
        return sum(self.inverse_spacing_squared_along(axis) for axis in range(3))

    def inverse_spacing_squared_along(self, axis: int) -> float:
        """The part of an axis in `inverse_spacing_squared`."""
        return self.inverse[axis] ** 2

    def explicit_spacings(self, implicit: int | None) -> float:
        """`inverse_spacing_squared` without the part of the axis along which diffusion is implicit, if there is one."""
        return sum(self.inverse_spacing_squared_along(axis) for axis in range(3) if axis != implicit)

    def flat(self, axes: Collection[int]) -> Grid:
        """Return the grid with infinitely wide cells along `axes`, along which nothing changes: these bound no step."""
        return replace(self, spacing=triple(math.inf if a in axes else h for a, h in enumerate(self.spacing)))

    def without(self, faces: Collection[str]) -> Grid:
        """The grid without walls at these faces (x_min to z_max): kernels then read the cells beyond them."""
        low = triple(wall and f"{axis}_min" not in faces for axis, wall in zip(AXES, self.low, strict=True))
        high = triple(wall and f"{axis}_max" not in faces for axis, wall in zip(AXES, self.high, strict=True))
        return replace(self, low=low, high=high)


def on_face(face: str, grid: Grid) -> Box:
    """Return the cells whose low faces lie on a face of the domain: beyond it, where that is a high one."""
    axis, high = frame(face)
    return Box.of(grid.cells).layer(axis, high, -high, 1 - high)


@dataclass(frozen=True)
class Stretched(Grid):
    """A grid as kernels receive it, by cell along x, y and z. `spacing`, `inverse` and `relaxation` are NaN along
    directions that are not uniform: nothing computes with them there.

    `widths`: its width. `per_cell`: one over it. `per_face`: one over the distance between the centres on both sides of
    its low face; `per_two_cells`: between those of the cells before and behind it. `behind`: twice the part that it has
    of the volume around its low face. `share`: its width over the mean one. `centre`: its distance from the low end.
    `filter`: its width to the power of 2/3.
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
        """The places of all faces across an axis, from the low end, which is 0."""
        widths = [self.width(axis, cell) for cell in range(self.cells[axis])]
        return np.concatenate([[0.0], np.cumsum(widths)])

    def length(self, axis: int) -> float:
        return sum(1.0 / self.per_cell[axis][cell] for cell in range(self.cells[axis]))

    def ends(self, axis: int) -> tuple[float, float]:
        """0, and the length along an axis."""
        return 0.0, self.length(axis)

    def largest(self, axis: int) -> float:
        return 1.0 / min(self.per_cell[axis].values)

    @property
    def unevenness(self) -> float:
        """The product of the largest widths along all directions, each over the mean one."""
        return math.prod(max(share.values) for share in self.share)

    @property
    def filter_width(self) -> float:
        """1: kernels know that of each cell."""
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
        """Return a quarter of the largest sum of magnitudes in a row of the Laplacian, in cells and on faces: 1 /
        spacing^2 where cells are uniform.
        """
        row = slice(BEYOND - 1, BEYOND + self.cells[axis] + 1)  # one cell more at both ends
        cells, faces = (np.array(tables[axis].values[row]) for tables in (self.per_cell, self.per_face))
        in_cells, on_faces = cells[:-1] * (faces[:-1] + faces[1:]), faces[1:] * (cells[:-1] + cells[1:])
        return float(max(in_cells[1:].max(), on_faces.max())) / 2


def stretched(cells: Counts, edges: Sequence[np.ndarray], uniform: Flags, low: Flags, high: Flags) -> Stretched:
    """Return the grid of cells between these edges, of which all directions have some, those that are `uniform`, too.
    """
    directions = zip(edges, cells, uniform, strict=True)
    spacing = triple(float(e[-1] - e[0]) / n if same else np.nan for e, n, same in directions)
    tables = [_along(e, wall) for e, wall in zip(edges, low, strict=True)]
    members: dict[str, Any] = {
        name: tuple(LookupTable(-BEYOND, tuple(along[name].tolist())) for along in tables) for name in tables[0]
    }
    return Stretched(cells, spacing, low, high, **members)


def beyond_ends(widths: np.ndarray, before: int, behind: int, *, mirrored: bool) -> np.ndarray:
    """The widths of cells with those of so many before and behind them: mirrored, beyond walls, or else repeated."""
    return np.pad(widths, (before, behind), mode="symmetric" if mirrored else "wrap")


def _along(edges: np.ndarray, wall: bool) -> dict[str, np.ndarray]:
    """The tables along one direction. Beyond walls cells are mirrored."""
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
