"""The solver of the pressure equation that a case asks for."""

from __future__ import annotations

from taskflow.flow import Grid
from taskflow.flow.poisson import ConvergedJacobi, Jacobi, Solver, Tolerance, blocking_pays
from taskflow.regions import Triple
from taskflow.simulation.case import Pressure


def solver(wanted: Pressure, grid: Grid, block: Triple, device: str) -> Solver:
    """Jacobi's iteration, to a tolerance or of so many sweeps, for blocks of at most so many cells on such a device."""
    blocked = device == "gpu" and blocking_pays(block)
    if wanted.tolerance is not None and wanted.max_iterations is not None:
        return ConvergedJacobi(grid, Tolerance(wanted.tolerance, wanted.max_iterations), blocked)
    assert wanted.iterations is not None
    return Jacobi(grid, wanted.iterations, blocked)
