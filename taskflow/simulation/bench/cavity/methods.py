"""The solvers of the pressure equation that are compared, each to one tolerance after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from taskflow.flow import Grid
from taskflow.flow.poisson import FFT, ConjugateGradients, ConvergedJacobi, Cycle, Multigrid, Solver, Tolerance
from taskflow.regions import Triple

SWEEPS = 4  # on the last level of a truncated cycle, as in the papers
PLANES = 2  # of a block on that level

Tolerances = Sequence[Tolerance]


def truncated(grid: Grid, blocks: Triple) -> Cycle:
    """A V-cycle that ends where the blocks have two planes of cells left: nothing is gathered."""
    thinnest = min(n // count for n, count in zip(grid.cells, blocks, strict=True))
    depth = max(1, (thinnest // PLANES).bit_length())
    return Cycle(grid, gathered=0, depth=depth, coarsest=SWEEPS)


def _jacobi(grid: Grid, blocks: Triple, tolerances: Tolerances) -> list[Solver]:
    return [ConvergedJacobi(grid, tolerance) for tolerance in tolerances]


def _truncated(grid: Grid, blocks: Triple, tolerances: Tolerances) -> list[Solver]:
    return [Multigrid(truncated(grid, blocks), tolerance) for tolerance in tolerances]


def _amalgamated(grid: Grid, blocks: Triple, tolerances: Tolerances) -> list[Solver]:
    return [Multigrid(Cycle(grid), tolerance) for tolerance in tolerances]


def _conjugate_gradients(grid: Grid, blocks: Triple, tolerances: Tolerances) -> list[Solver]:
    return [ConjugateGradients(Cycle(grid), tolerance) for tolerance in tolerances]


def _mixed(grid: Grid, blocks: Triple, tolerances: Tolerances) -> list[Solver]:
    """The levels in single precision, for a pressure in double precision."""
    return [ConjugateGradients(Cycle(grid, single=True), tolerance) for tolerance in tolerances]


def _fft(grid: Grid, blocks: Triple, tolerances: Tolerances) -> list[Solver]:
    """One, whatever the tolerances: it is exact but for rounding."""
    return [FFT(grid, blocks)]


METHODS: Mapping[str, Callable[[Grid, Triple, Tolerances], list[Solver]]] = {
    "truncated": _truncated,
    "amalgamated": _amalgamated,
    "cg": _conjugate_gradients,
    "mixed": _mixed,
    "fft": _fft,
    "jacobi": _jacobi,
}
