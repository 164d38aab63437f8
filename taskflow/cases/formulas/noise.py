"""Velocities that are sums of all waves that fit a domain, computed axis by axis, where they are needed.

A cell takes one product per wave along x, and few more for waves along y and z, since all waves of one
wavenumber along x are summed up before. Products and sums are done one by one, in one order: the bits depend neither on
blocks nor on devices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.flow import StaggeredGrid
from taskflow.flow.grid import FACES
from taskflow.runtime.regions import Box, triple

FLAT = 4  # cells along a direction in which nothing varies, and along which nothing flows: the plane of two dimensions
PIECE = 1 << 20  # cells whose values are computed at a time
Pair = tuple[Any, Any]  # real and imaginary parts
ROUNDING = 1e-6  # what is left of a random vector where none can be normal to its wavenumber


@dataclass(frozen=True)
class WaveLattice:
    """The wavenumbers of a domain up to `end`, by axis: 2 pi n / L, or pi n / L where the axis is not periodic.

    Opposite ones are one wave: along the first periodic axis n >= 0.
    """

    grid: StaggeredGrid
    end: float

    @cached_property
    def numbers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """n along x, y and z."""
        return triple(map(self._along, range(3)))

    def _along(self, axis: int) -> np.ndarray:
        if axis not in self.dimensions:
            return np.zeros(1, int)
        most = int(self.end / self.unit(axis) * (1 + 1e-12))
        periodic = [other for other in self.dimensions if self.grid.periodic[other]]
        return np.arange(-most if axis in periodic[1:] else 0, most + 1)

    @property
    def dimensions(self) -> list[int]:
        """Return the axes along which waves vary."""
        return [axis for axis, cells in enumerate(self.grid.cells) if cells > FLAT]

    def unit(self, axis: int) -> float:
        """The smallest wavenumber along an axis."""
        return (2 if self.grid.periodic[axis] else 1) * np.pi / self.grid.lengths[axis]

    def finest(self, axis: int) -> float:
        """The wavenumber of waves two cells long."""
        return np.pi / self.grid.spacing[axis]

    @property
    def size(self) -> float:
        return float(math.prod(map(len, self.numbers)))


@dataclass(frozen=True, eq=False)
class WaveSum:
    """u, v, w = Re sum c exp(i k . x), x from the lowest corner; an axis that is not periodic has sin(k x) in
    the component along it, cos(k x) in the others, instead of the exponential.

    `amplitudes` are the real and imaginary parts of c, [nz, ny, nx], of each component.
    """

    lattice: WaveLattice
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


@dataclass(frozen=True)
class EnergySpectrum:
    """E(k / k_peak), and where it ends, in multiples of k_peak."""

    energy: Callable[[np.ndarray], np.ndarray]
    end: float


def _passot_pouquet(x: np.ndarray) -> np.ndarray:
    return x**4 * np.exp(-2 * x**2)


def _von_karman(x: np.ndarray) -> np.ndarray:
    return x**4 / (1 + 12 / 5 * x**2) ** (17 / 6)


SPECTRA = {
    "passot-pouquet": EnergySpectrum(_passot_pouquet, 4.0),
    "von-karman": EnergySpectrum(_von_karman, 8.0),
}
"""`passot-pouquet`: E ~ x^4 exp(-2 x^2), a band, less than 1e-10 of its peak beyond 4 (Passot & Pouquet 1987, J. Fluid
Mech. 181, 441). `von-karman`: E ~ x^4 / (1 + 12/5 x^2)^(17/6), which falls like x^(-5/3) (von Karman 1948, Proc. Natl.
Acad. Sci. 34, 530); cut off at 8.
"""


@dataclass(frozen=True)
class RandomVelocity:
    """u, v, w with mean 0; `rms` is the root mean square of a component, on average over the components and the domain.
    The energy spectrum peaks at `wavenumber`, in radians per length.
    """

    grid: StaggeredGrid
    rms: float
    wavenumber: float
    spectrum: EnergySpectrum
    seed: int

    @property
    def lattice(self) -> WaveLattice:
        return WaveLattice(self.grid, self.spectrum.end * self.wavenumber)

    def drawn(self) -> WaveSum:
        lattice, periodic = self.lattice, self.grid.periodic
        n = np.ix_(*lattice.numbers[::-1])[::-1]  # arrays that broadcast to [nz, ny, nx]
        k = [number * lattice.unit(axis) for axis, number in enumerate(n)]
        like_it, alone = self._copies(n)
        amplitudes = self._directions(lattice, k, alone)
        length = np.sqrt(sum(abs(part) ** 2 for part in amplitudes))
        size = np.sqrt(sum(part**2 for part in k))
        selected = self._selected(lattice, k, size) & (length > ROUNDING)
        size, length = np.where(selected, size, 1.0), np.where(selected, length, 1.0)
        dimensions = len(lattice.dimensions)
        shell = size ** (dimensions - 1)  # over which the energy of a wavenumber is spread
        energy = np.where(selected, like_it * self.spectrum.energy(size / self.wavenumber) / shell, 0.0)
        scale = self.rms * np.sqrt(dimensions / energy.sum() * energy * like_it) / length
        turned = (scale * (part if wraps else 1j * part) for part, wraps in zip(amplitudes, periodic, strict=True))
        return WaveSum(lattice, triple((part.real, part.imag) for part in turned))

    def _copies(self, n: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The number of waves of the whole space that each stands for, with its mirror images and opposites, and
        whether it has no opposite, being constant along all periodic axes.

        One over the first is the mean square of a wave of amplitude 1, too.
        """
        like_it, alone = np.ones((1, 1, 1)), np.ones((1, 1, 1), bool)
        for part, wraps in zip(n, self.grid.periodic, strict=True):
            alone = alone & (part == 0) if wraps else alone
            like_it = like_it if wraps else like_it * np.where(part == 0, 1, 2)
        return like_it * np.where(alone, 1, 2), alone

    def _directions(self, lattice: WaveLattice, k: list[np.ndarray], alone: np.ndarray) -> list[np.ndarray]:
        """Random vectors normal to k~, of any length: complex, times i in components that have sin(k x) for exp.

        Waves that are alone are real.
        """
        shape = np.broadcast_shapes(*(part.shape for part in k))
        real, imaginary = np.random.Generator(np.random.Philox(self.seed)).standard_normal((2, 3, *shape))
        q, modified = [], []
        for axis, (wraps, h) in enumerate(zip(self.grid.periodic, self.grid.spacing, strict=True)):
            modified.append(2 / h * np.sin(k[axis] * h / 2))
            flows = (axis in lattice.dimensions) & (wraps | (k[axis] != 0))
            phases = np.where(alone & (not wraps), 0.0, real[axis]) + 1j * np.where(alone & wraps, 0.0, imaginary[axis])
            q.append(np.where(flows, phases, 0.0))
        square = sum(part**2 for part in modified)
        along = sum(part * q[axis] for axis, part in enumerate(modified)) / np.where(square > 0, square, 1.0)
        return [q[axis] - part * along for axis, part in enumerate(modified)]

    def _selected(self, lattice: WaveLattice, k: list[np.ndarray], size: np.ndarray) -> np.ndarray:
        """Return the mask of the resolved waves of the spectrum, one of each opposite pair."""
        selected = (size > 0) & (size <= lattice.end * (1 + 1e-12))
        first = np.ones((1, 1, 1), bool)  # whether the wave is constant along all periodic axes before
        for axis, (part, wraps) in enumerate(zip(k, self.grid.periodic, strict=True)):
            selected = selected & (abs(part) < lattice.finest(axis) * (1 - 1e-12))
            if wraps:
                selected = selected & ~(first & (part < 0))
                first = first & (part == 0)
        return selected
