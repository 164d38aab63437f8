"""Velocities that are sums of all waves that fit a domain, computed axis by axis, where they are needed.

A cell takes as many products as there are waves along x, and few more for those along y and z, since all waves of one
wavenumber along x are summed up before. Products and sums are done one by one, in one order: the bits depend neither on
blocks nor on devices.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.regions import Box, Location

FACES: tuple[Location, Location, Location] = ("fx", "fy", "fz")
FLAT = 4  # cells along a direction in which nothing varies, and along which nothing flows: the plane of two dimensions
PIECE = 1 << 20  # cells whose values are computed at a time
Pair = tuple[Any, Any]  # real and imaginary parts


@dataclass(frozen=True)
class Lattice:
    """The wavenumbers of a domain up to `end`, by axis: 2 pi n / L, or pi n / L where the axis is not periodic.

    Opposite ones are one wave: along the first periodic axis n >= 0.
    """

    grid: StaggeredGrid
    end: float

    @cached_property
    def numbers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """n along x, y and z."""
        x, y, z = (self._along(axis) for axis in range(3))
        return x, y, z

    @property
    def everywhere(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """n along x, y and z as arrays that broadcast to [nz, ny, nx]."""
        x, y, z = self.numbers
        return x[None, None, :], y[None, :, None], z[:, None, None]

    def _along(self, axis: int) -> np.ndarray:
        if axis not in self.dimensions:
            return np.zeros(1, int)
        most = int(self.end / self.unit(axis) * (1 + 1e-12))
        periodic = [other for other in self.dimensions if self.grid.periodic[other]]
        return np.arange(-most if axis in periodic[1:] else 0, most + 1)

    @property
    def dimensions(self) -> list[int]:
        """The axes along which there are waves."""
        return [axis for axis, cells in enumerate(self.grid.cells) if cells > FLAT]

    def unit(self, axis: int) -> float:
        """The smallest wavenumber along an axis."""
        return (2 if self.grid.periodic[axis] else 1) * np.pi / self.grid.lengths[axis]

    def finest(self, axis: int) -> float:
        """The wavenumber of waves two cells long."""
        return np.pi / self.grid.spacing[axis]

    @property
    def size(self) -> float:
        """How many there are."""
        x, y, z = (len(n) for n in self.numbers)
        return float(x) * y * z


@dataclass(frozen=True, eq=False)
class WaveSum:
    """u, v, w = Re sum c exp(i k . x), x from the lowest corner; for an axis that is not periodic there is sin(k x) in
    the component along it, cos(k x) in the others, in place of the exponential.

    `amplitudes` are the real and imaginary parts of c, [nz, ny, nx], of each component.
    """

    lattice: Lattice
    amplitudes: tuple[Pair, Pair, Pair]

    def values(self, axis: int, cells: Box, xp: Any = np) -> Any:
        """The velocity [z, y, x] along an axis on the low faces of cells, in double precision; xp is NumPy or CuPy."""
        real, imaginary = self.amplitudes[axis]
        total: Pair = xp.asarray(real), xp.asarray(imaginary)
        for along in (2, 1, 0):
            cosine, sine = self._waves(along, axis)
            here = slice(cells.lo[along], cells.hi[along])
            basis = xp.asarray(cosine[:, here]), None if sine is None else xp.asarray(sine[:, here])
            total = _summed(total, basis, xp, real=along == 0)
        return total[0]

    def _waves(self, along: int, axis: int) -> tuple[np.ndarray, np.ndarray | None]:
        """cos and sin of k x [n, cell] along a direction, on the faces across `axis`; one of them if not periodic."""
        n, grid = self.lattice.numbers[along], self.lattice.grid
        place: np.ndarray = 2 * np.arange(grid.cells[along]) + (along != axis)  # in half cells
        if grid.edges[along]:
            here = grid.coordinates("c" if along != axis else FACES[axis], along, 0, grid.cells[along])
            place = (here - grid.origin[along]) / (grid.spacing[along] / 2)
        turn = (2 if grid.periodic[along] else 4) * grid.cells[along]
        angle = 2 * np.pi / turn * (np.outer(n, place) % turn)
        if grid.periodic[along]:
            return np.cos(angle), np.sin(angle)
        return np.sin(angle) if along == axis else np.cos(angle), None


def _summed(values: Pair, basis: tuple[Any, Any | None], xp: Any, *, real: bool) -> Pair:
    """Sum over n of values[n] times basis[n], whose places become the last axis; with `real` the real part alone.

    Term by term: the order in which a matrix product sums depends on its size.
    """
    (a, b), (cosine, sine) = values, basis
    shape = (*a.shape[1:], cosine.shape[1])
    product, parts = xp.empty(shape), [xp.zeros(shape) for _ in range(1 if real else 2)]
    terms = [(a, cosine, 0, xp.add), (b, cosine, 1, xp.add)]
    if sine is not None:
        terms += [(b, sine, 0, xp.subtract), (a, sine, 1, xp.add)]
    for n in range(len(a)):
        for value, wave, part, joined in terms:
            if part < len(parts):
                xp.multiply(value[n][..., None], wave[n], out=product)
                joined(parts[part], product, out=parts[part])
    return parts[0], parts[-1]
