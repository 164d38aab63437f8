"""The solver of the pressure of two phases, div(1/rho grad p) = div(u) / dt, that a case asks for, or gets."""

from __future__ import annotations

from taskflow.flow.poisson import Operator, Solver, UniformCoefficient
from taskflow.runtime.regions import Triple
from taskflow.simulation.build import pressure
from taskflow.simulation.build.pressure import Choice
from taskflow.simulation.case import Case
from taskflow.simulation.case.pressure import untransformed


def choice(case: Case) -> Choice:
    """FFT where both densities are equal, and the grid and its sides let it; else multigrid, also for a number of
    iterations.
    """
    table, (first, second) = case.pressure, case.own.density
    if table.solver != "auto":
        return Choice(table.solver)
    if table.iterations is not None:
        return Choice("multigrid", "a number of iterations is given")
    if first != second:
        return Choice("multigrid", "densities differ, so that the coefficient 1/density is variable")
    if case.obstacles:
        return Choice("multigrid", "there are obstacles, of which its equation knows the faces")
    if reason := untransformed(case.grid, case.boundaries):
        return Choice("multigrid", reason)
    return Choice("fft", "densities are equal, and each direction is periodic or between walls or sides with p = 0")


def solver(case: Case, operator: Operator, blocks: Triple, device: str) -> Solver:
    """The solver, for the operator with the coefficients 1/rho, on a grid that is cut into blocks."""
    name = choice(case).name
    if name == "fft":
        return UniformCoefficient(pressure.direct(case, operator.grid, blocks), operator, case.own.density[0])
    return pressure.iterative(name, case, operator, blocks, device)
