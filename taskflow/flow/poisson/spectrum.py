"""Modes that diagonalise the discrete Laplacian of a box along x and y, their layout, and transforms of planes.

Real Fourier transforms, and the order of cells that turns them into cosine transforms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from taskflow.flow.grid import Counts, Vector
from taskflow.flow.grid.metrics import Stretched
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, Field, FieldSpace, Triple, cuts
from taskflow.runtime.tasks import Foreign, LookupTable, ReadWrite, Write, lines, task

PERIODIC, WALL, GIVEN = 0, 1, -1
FEW = 8192  # lines along z: a GPU has more threads than that


@dataclass(frozen=True)
class Spectrum:
    """Layout of the modes, for kernels.

    `low_end` and `high_end` are the faces across x, y and z: 0 periodic, 1 wall, -1 p = 0. Planes of `cells` become
    planes of `extended` values, twice as many along an axis with a wall at one end and p = 0 at the other, and these
    become half as many complex numbers. `stretch` = ((dz / dx)^2, (dz / dy)^2, 1). `scale` = dz^2 over the values of a
    plane, the factor of a transform and its inverse. The planes are in `slabs` of `slab` planes, the last with the
    remainder.
    """

    cells: Counts
    extended: Counts
    low_end: Counts
    high_end: Counts
    stretch: Vector
    scale: float
    slab: int
    slabs: int

    @classmethod
    def of(cls, cells: Counts, spacing: Vector, low: Counts, high: Counts, blocks: int) -> Spectrum:
        """Return the spectrum of cells of this spacing, in slabs for `blocks` blocks."""
        x, y, z = (n if a == b else 2 * n for n, a, b in zip(cells, low, high, strict=True))
        dx, dy, dz = spacing
        slab = -(-cells[2] // blocks)
        stretch, scale = ((dz / dx) ** 2, (dz / dy) ** 2, 1.0), dz**2 / (x * y)
        kind = FewLines if x * y <= FEW else cls
        return kind(cells, (x, y, z), low, high, stretch, scale, slab, -(-cells[2] // slab))

    @property
    def plain(self) -> bool:
        """True if x and y are periodic, so that each complex number is a mode."""
        return self.low_end[:2] == (PERIODIC, PERIODIC)

    @property
    def modes(self) -> Box:
        """Cells of the spectrum: real and imaginary parts alternate along x."""
        return Box.of((2 * (self.extended[0] // 2 + 1), self.extended[1], self.cells[2]))

    @property
    def ends(self) -> Box:
        """Cells that slabs exchange: one plane per slab."""
        return Box.of((*self.modes.shape[:2], self.slabs))

    def fits(self, blocks: Triple) -> bool:
        """Return True if blocks of the grid, cut as `Partition` does by default, are the slabs.

        This must hold with one ghost layer and with two, where the last block may not be a single plane.
        """
        nx, ny, nz = blocks
        slabs = *range(0, nz * self.slab, self.slab), self.cells[2]
        return nx == ny == 1 and all(cuts(self.cells[2], nz, ghost) == slabs for ghost in (1, 2))


@dataclass(frozen=True)
class FewLines(Spectrum):
    """Modes of a plane so small that lines along z do not occupy a GPU, as in a two-dimensional flow."""

    defines: ClassVar[tuple[str, ...]] = ("FEW_LINES",)


@dataclass(frozen=True)
class LayeredSpectrum(Spectrum):
    """Modes of planes of different heights.

    `height`: of each plane. `conductance`: 1 / distance between the centres on both sides of its low face, 0 on a wall,
    twice as much on a face with p = 0. `stretch` = (1 / dx^2, 1 / dy^2, 1). `scale` = 1 / values of a plane.
    """

    height: LookupTable
    conductance: LookupTable

    @classmethod
    def between(cls, grid: Stretched, low: Counts, high: Counts, blocks: int) -> LayeredSpectrum:
        """Return the spectrum of a grid stretched along z, in slabs for `blocks` blocks."""
        plain, planes = Spectrum.of(grid.cells, (*grid.spacing[:2], 1.0), low, high, blocks), range(grid.cells[2] + 1)
        (x, y, _), (dx, dy, _), per_face = plain.extended, grid.spacing, grid.per_face[2]
        beside = {WALL: 0.0, GIVEN: 2.0}
        part = {0: beside[low[2]], grid.cells[2]: beside[high[2]]}
        conductance = LookupTable(0, tuple(part.get(k, 1.0) * per_face[k] for k in planes))
        height = LookupTable(0, tuple(grid.width(2, k) for k in planes[:-1]))
        stretch, scale = (1 / dx**2, 1 / dy**2, 1.0), 1 / (x * y)
        return cls(
            plain.cells, plain.extended, low, high, stretch, scale, plain.slab, plain.slabs, height, conductance
        )


def space(dtype: str, *names: str) -> FieldSpace:
    """Return fields of these names and one type."""
    return FieldSpace(Field(name, dtype) for name in names)


@task(library="forward")
def forward(rhs: Foreign[lines("xy")], spectrum: Write) -> None:
    """spectrum = the two-dimensional discrete Fourier transform of each plane of rhs"""
    source: Any = rhs
    target: Any = spectrum
    target[...] = np.fft.rfft2(source[...]).view(source[...].dtype)


@task(library="forward_in_place")
def forward_in_place(spectrum: ReadWrite, *, cells: int) -> None:
    """Transform the first `cells` values of each row, over all rows of a plane."""
    values: Any = spectrum
    values[...] = np.fft.rfft2(values[...][:, :, :cells]).view(values[...].dtype)


@task(library="inverse_in_place")
def inverse_in_place(spectrum: ReadWrite, *, cells: int) -> None:
    """Inverse transform, times the number of values of a plane, into the first `cells` values of each row."""
    values: Any = spectrum
    values[...][:, :, :cells] = _back(values[...], cells)


@task(library="inverse")
def inverse(spectrum: Foreign[lines("xy")], p: Write, *, cells: int) -> None:
    """p = inverse transform into rows of `cells` values, times a plane's number of values. Overwrites the spectrum."""
    source: Any = spectrum
    target: Any = p
    target[...] = _back(source[...], cells)


def _back(values: np.ndarray, cells: int) -> np.ndarray:
    modes = np.ascontiguousarray(values).view(np.result_type(values.dtype, np.complex64))
    return np.fft.irfft2(modes, (values.shape[1], cells), norm="forward")


@task(kernel=KERNELS / "poisson" / "dct_order.cu")
def to_dct_order(spectrum: Write, rhs: Foreign[lines("xy")], *, s: Spectrum) -> None:
    """spectrum = rhs in the order, and with the signs, in which a Fourier transform is a cosine or sine transform"""


@task(kernel=KERNELS / "poisson" / "dct_order.cu")
def from_dct_order(p: Write, spectrum: Foreign[lines("xy")], *, s: Spectrum) -> None:
    """p = spectrum in the order of cells, the inverse of `to_dct_order`"""


@task(kernel=KERNELS / "poisson" / "dct_order.cu")
def transfer(there: Write, here: Foreign) -> None:
    """there = here, in another region"""
