"""Spectra of turbulence: how kinetic energy is spread over wavenumbers. Their scale is free, their peak is at 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.simulation.initial.wave_sum import Lattice, WaveSum

ROUNDING = 1e-6  # what is left of a random vector where none can be normal to its wavenumber


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
    def lattice(self) -> Lattice:
        """The wavenumbers that the spectrum has."""
        return Lattice(self.grid, self.spectrum.end * self.wavenumber)

    def drawn(self) -> WaveSum:
        """The waves."""
        lattice, periodic = self.lattice, self.grid.periodic
        n = lattice.everywhere
        k = [number * lattice.unit(axis) for axis, number in enumerate(n)]
        like_it, alone = self._copies(n)
        amplitudes = self._directions(lattice, k, alone)
        length = np.sqrt(sum(abs(part) ** 2 for part in amplitudes))
        size = np.sqrt(sum(part**2 for part in k))
        kept = self._kept(lattice, k, size) & (length > ROUNDING)
        size, length = np.where(kept, size, 1.0), np.where(kept, length, 1.0)
        dimensions = len(lattice.dimensions)
        shell = size ** (dimensions - 1)  # over which the energy of a wavenumber is spread
        energy = np.where(kept, like_it * self.spectrum.energy(size / self.wavenumber) / shell, 0.0)
        scale = self.rms * np.sqrt(dimensions / energy.sum() * energy * like_it) / length
        turned = (scale * (part if wraps else 1j * part) for part, wraps in zip(amplitudes, periodic, strict=True))
        u, v, w = ((part.real, part.imag) for part in turned)
        return WaveSum(lattice, (u, v, w))

    def _copies(self, n: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        """How many waves of the whole space each stands for, being mirrored and its opposite; and whether it has no
        opposite, being constant along all periodic axes.

        One over the first is the mean square of a wave of amplitude 1, too.
        """
        like_it, alone = np.ones((1, 1, 1)), np.ones((1, 1, 1), bool)
        for part, wraps in zip(n, self.grid.periodic, strict=True):
            alone = alone & (part == 0) if wraps else alone
            like_it = like_it if wraps else like_it * np.where(part == 0, 1, 2)
        return like_it * np.where(alone, 1, 2), alone

    def _directions(self, lattice: Lattice, k: list[np.ndarray], alone: np.ndarray) -> list[np.ndarray]:
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

    def _kept(self, lattice: Lattice, k: list[np.ndarray], size: np.ndarray) -> np.ndarray:
        """Which waves there are: those of the spectrum that the cells can show, one of two opposite ones."""
        kept = (size > 0) & (size <= lattice.end * (1 + 1e-12))
        first = np.ones((1, 1, 1), bool)  # whether the wave is constant along all periodic axes before
        for axis, (part, wraps) in enumerate(zip(k, self.grid.periodic, strict=True)):
            kept = kept & (abs(part) < lattice.finest(axis) * (1 - 1e-12))
            if wraps:
                kept = kept & ~(first & (part < 0))
                first = first & (part == 0)
        return kept
