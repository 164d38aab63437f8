"""The pressure of two phases: its solver, and how its gradient acts."""

from __future__ import annotations

from taskflow.cases import Case
from taskflow.cases.tables.pressure import untransformed
from taskflow.flow.models.two_phase.projection import SplitProjection, WholeProjection
from taskflow.flow.poisson import Operator, Solver, UniformCoefficient
from taskflow.runtime.regions import Triple
from taskflow.systems.base.pressure import SolverChoice, described, direct, iterative, mixed


def choice(case: Case) -> SolverChoice:
    """Return FFT if both densities are equal, and the grid and its sides allow it; else multigrid, also for a fixed
    number of iterations.
    """
    table, (first, second) = case.pressure, case.own.density
    if table.solver != "auto":
        return SolverChoice(table.solver)
    if table.iterations is not None:
        return SolverChoice("multigrid", "a number of iterations is given")
    if first != second:
        return SolverChoice("multigrid", "densities differ, so that the coefficient 1/density is variable")
    if case.obstacles:
        return SolverChoice("multigrid", "its equation takes the faces of obstacles into account")
    if reason := untransformed(case.grid, case.boundaries) or next(iter(mixed(case).values()), None):
        return SolverChoice("multigrid", reason)
    reason = "densities are equal, and each direction is periodic or between walls or sides with p = 0"
    return SolverChoice("fft", reason)


def solver(case: Case, operator: Operator, blocks: Triple, device: str) -> Solver:
    """Return the solver on a grid divided into blocks, for the operator with the coefficients 1/rho, or with FFT 1/rho
    of the lighter phase.
    """
    name = choice(case).solver
    if name == "fft":
        return UniformCoefficient(direct(case, operator.grid, blocks), operator, min(case.own.density))
    return iterative(name, case, operator, blocks, device)


def projecting(case: Case) -> type[WholeProjection]:
    """Return the projection, with a split gradient if FFT solves for densities that differ."""
    return SplitProjection if _split(case) else WholeProjection


def words(case: Case) -> str:
    """Return the solver as text, with the reason if the case has auto."""
    return f"{described(case, choice(case))}{', with a split gradient' if _split(case) else ''}"


def _split(case: Case) -> bool:
    first, second = case.own.density
    return choice(case).solver == "fft" and first != second
