"""Pressure equations whose solution is known, in space or on the grid, and the solvers for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from taskflow.flow.poisson import FFT, ConjugateGradients, ConvergedJacobi, Multigrid, Solver
from taskflow.runtime.machine.device import Device
from tests.flow.poisson import Domain, solve, tolerance
from tests.reference.multigrid import laplacian

Blocks = tuple[int, int, int]
Faces = tuple[tuple[str, str], ...]
LENGTHS = (1.0, 1.6, 1.2)
AMPLITUDES = (1.0, 0.5, -0.2)  # of the three longest waves along an axis: no product of them is an eigenfunction
GATHERED = 300  # cells of a level that is on every block: the finer ones are cut
MOST = 40_000


def fft(domain: Domain, relative: float, blocks: Blocks) -> Solver:
    low, high = (tuple(kinds[end] == "open" for kinds in domain.faces) for end in (0, 1))
    return FFT(domain.grid, blocks, low, high)


def multigrid(domain: Domain, relative: float, blocks: Blocks) -> Solver:
    return Multigrid(domain.cycle(gathered=GATHERED), tolerance(relative))


def gradients(domain: Domain, relative: float, blocks: Blocks) -> Solver:
    return ConjugateGradients(domain.cycle(gathered=GATHERED), tolerance(relative))


def mixed(domain: Domain, relative: float, blocks: Blocks) -> Solver:
    return ConjugateGradients(domain.cycle(gathered=GATHERED, single=True), tolerance(relative))


def jacobi(domain: Domain, relative: float, blocks: Blocks) -> Solver:
    return ConvergedJacobi(domain.operator(), tolerance(relative, MOST))


Make = Callable[[Domain, float, Blocks], Solver]
SOLVERS: tuple[Make, ...] = (fft, multigrid, gradients, mixed, jacobi)


def supports(make: Make, faces: Faces, real: str) -> bool:
    """Levels of another precision than p's are single ones. What Jacobi leaves at a tolerance is the smoothest wave, a
    longer one between a wall and p = 0: at tolerances of single precision more than the error of these grids.
    """
    if make is jacobi:
        return real == "f8" or not any("open" in kinds for kinds in faces)
    return make is not mixed or real == "f8"


def box(n: int, faces: Faces) -> Domain:
    """n x 3n/2 x n cells over `LENGTHS`: three spacings."""
    cells = n, 3 * n // 2, n
    x, y, z = (length / count for length, count in zip(LENGTHS, cells, strict=True))
    return Domain(cells, (x, y, z), faces)


@dataclass(frozen=True)
class Where:
    """How a field is kept and cut, and on what."""

    blocks: Blocks
    real: str
    device: Device | None = None


def solved(make: Make, domain: Domain, rhs: np.ndarray, relative: float, where: Where) -> np.ndarray:
    solver = make(domain, relative, where.blocks)
    return solve(domain, solver, rhs, blocks=where.blocks, real=where.real, device=where.device).p.astype("f8")


def without_constant(p: np.ndarray, domain: Domain) -> np.ndarray:
    """p, less its mean where nothing determines that."""
    return p if domain.outflow else p - p.mean()


@dataclass(frozen=True)
class Waves:
    """Along an axis: a function that obeys what is at its ends, and its second derivative."""

    values: np.ndarray
    bent: np.ndarray

    @classmethod
    def between(cls, low: str, high: str, length: float, cells: int) -> Waves:
        x, values, bent = (np.arange(cells) + 0.5) * length / cells, np.zeros(cells), np.zeros(cells)
        for n, amplitude in enumerate(AMPLITUDES):
            if low == "periodic":
                number, shift = 2 * np.pi * (n + 1) / length, 0.4 * n
            else:
                half = {"wallwall": n + 1.0, "openopen": n + 1.0}.get(low + high, n + 0.5)
                number, shift = np.pi * half / length, np.pi / 2 if low == "open" else 0.0
            wave = amplitude * np.cos(number * x - shift)
            values, bent = values + wave, bent - number**2 * wave
        return cls(values, bent)


@dataclass(frozen=True)
class Manufactured:
    """A solution p of Laplacian(p) = rhs in space, at the centres of the cells of a domain."""

    domain: Domain
    p: np.ndarray
    rhs: np.ndarray

    @classmethod
    def on(cls, domain: Domain) -> Manufactured:
        x, y, z = (Waves.between(*kinds, length, n)
                   for kinds, length, n in zip(domain.faces, LENGTHS, domain.cells, strict=True))  # fmt: skip

        def product(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
            return np.einsum("i,j,k->kji", a, b, c)

        rhs = product(x.bent, y.values, z.values)
        rhs += product(x.values, y.bent, z.values) + product(x.values, y.values, z.bent)
        return cls(domain, product(x.values, y.values, z.values), rhs)


def eigenvalues(low: str, high: str, cells: int, spacing: float) -> np.ndarray:
    """Those of minus the second difference along an axis, ascending."""
    first, step = {
        "periodicperiodic": (0.0, 2.0), "wallwall": (0.0, 1.0), "openopen": (1.0, 1.0),
    }.get(low + high, (0.5, 1.0))  # fmt: skip
    angles = np.pi / cells * (first + step * np.arange(cells))
    return np.sort((2 / spacing * np.sin(angles / 2)) ** 2)


def smallest_eigenvalue(domain: Domain) -> float:
    """Of minus the Laplacian, beside the 0 of a constant."""
    axes = [eigenvalues(*kinds, n, h) for kinds, n, h in zip(domain.faces, domain.cells, domain.spacing, strict=True)]
    if domain.outflow:
        return float(sum(item[0] for item in axes))
    return float(min(item[1] for item in axes if len(item) > 1))


def rounding(p: np.ndarray, rhs: np.ndarray, domain: Domain, real: str) -> float:
    """What it may make of the 2-norm of a residual that p and rhs are numbers of so many digits, twice."""
    terms = 4 * sum(1 / h**2 for h in domain.spacing) * np.abs(p).max() + np.abs(rhs).max()
    return float(np.finfo(real).eps * terms * np.sqrt(p.size))


def residual(p: np.ndarray, rhs: np.ndarray, domain: Domain) -> float:
    """|rhs - Laplacian(p)| in the 2-norm."""
    return float(np.linalg.norm(rhs - laplacian(p, domain.spacing, domain.faces)))
