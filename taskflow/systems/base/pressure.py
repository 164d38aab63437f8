"""The pressure solver of a case, requested or chosen automatically."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from taskflow.cases import Case
from taskflow.cases.tables.openings import partly_released
from taskflow.cases.tables.pressure import FEWEST, untransformed
from taskflow.cases.timing.intervals import Tick
from taskflow.common.errors import RunFailed
from taskflow.flow import Grid
from taskflow.flow.poisson import (
    FFT,
    ConjugateGradients,
    ConvergedJacobi,
    Cycle,
    Jacobi,
    Multigrid,
    NotConverged,
    Operator,
    Solver,
    Tolerance,
    blocking_pays,
    relative_residual,
)
from taskflow.flow.poisson.multigrid import RedBlack, WeightedJacobi
from taskflow.flow.poisson.multigrid.cycle import Shape
from taskflow.runtime.regions import Box, Triple, triple

FORCING = 4  # solves of FFT in a projection around obstacles
SHAPES: dict[str, Shape] = {"v": "V", "w": "W", "f": "F"}
REDUNDANT = {"cpu": 0, "gpu": 1 << 21}  # ghost cells that are computed in less time than an exchange takes
EXACT = 256  # cells of the largest level that is solved by an inverse: 512 KiB, in the time of one launch
# Cells of the largest level that is on every block: see docs/notes/performance_log.md
AMALGAMATED = {"cpu": 32**3, "gpu": 64**3}


def pressure_numbers(pressure: Solver, scalars: Mapping[str, float], tick: Tick) -> dict[str, float]:
    """Return the relative residual of the pressure equation, and the number of iterations of a step, for the log."""
    return {"residual": relative_residual(scalars), "iterations": pressure.taken(scalars) if tick.step else 0}


@dataclass(frozen=True)
class SolverChoice:
    """A solver, named as in a case file, and the reason if the case has auto."""

    solver: str
    why: str | None = None


def choice(case: Case) -> SolverChoice:
    """Return FFT if possible (uniform cells, walls, periodic), multigrid with obstacles, Jacobi for fixed sweeps."""
    if case.pressure.solver != "auto":
        return SolverChoice(case.pressure.solver)
    if case.pressure.iterations is not None:
        return SolverChoice("jacobi", "a number of iterations is given")
    if case.obstacles and max(case.grid.cells) >= FEWEST:
        return SolverChoice("multigrid", "its equation takes the faces of obstacles into account")
    if reason := untransformed(case.grid, case.boundaries) or next(iter(mixed(case).values()), None):
        return SolverChoice("multigrid" if max(case.grid.cells) >= FEWEST else "jacobi", reason)
    opened = " or sides with p = 0" if released(case) else ""
    along = " along x and y" if case.grid.stretching else ""
    return SolverChoice("fft", f"cells are uniform{along}, and each direction is periodic or between walls{opened}")


def released(case: Case) -> tuple[str, ...]:
    """Return the faces on which p = 0. The others are walls for the pressure, or periodic."""
    in_sides = [table for table in case.openings if table.obstacle is None]
    found = {face for face in case.boundaries.sides if case.boundary(face).kind.fixes_pressure}
    found |= {table.side for table in in_sides if table.kind.fixes_pressure}
    whole = {table.side: table.kind for table in in_sides if table.covers(case.staggered).all()}
    closed = {face for face, kind in whole.items() if not kind.fixes_pressure}
    return tuple(face for face in case.boundaries.sides if face in found - closed)


def held(case: Case) -> bool:
    """Return True if p = 0 on a face of a body."""
    return any(table.obstacle is not None and table.kind.fixes_pressure for table in case.openings)


def mixed(case: Case) -> dict[str, str]:
    """Return the sides on which p = 0 in part alone, with the reason why FFT cannot solve the equation."""
    return partly_released(case.staggered, case.boundaries, case.openings) if case.openings else {}


def solver(case: Case, grid: Grid, blocks: Triple, device: str, near: Box | None = None) -> Solver:
    """Return the solver of a grid in blocks on a device. `near`: cells around bodies and their neighbours, or None."""
    name = choice(case).solver
    if name == "fft":
        return direct(case, grid, blocks)
    if name == "jacobi":
        return _jacobi(case, grid, _tolerance(case), _twice(case, blocks, device), near)
    parted = tuple(mixed(case))
    variable = bool(case.obstacles or parted)
    operator = Operator(grid, released(case), variable=variable, openings=parted, screened=held(case))
    return iterative(name, case, operator, blocks, device)


def direct(case: Case, grid: Grid, blocks: Triple) -> FFT:
    """Return the direct solver of Laplacian(p), with the sides of a case."""
    low, high = (triple(f"{axis}_{end}" in released(case) for axis in "xyz") for end in ("min", "max"))
    return FFT(grid, blocks, low, high)


def iterative(name: str, case: Case, operator: Operator, blocks: Triple, device: str) -> Solver:
    """Return the solver for an operator: "jacobi" to a tolerance, "cg", or "multigrid"."""
    if name == "jacobi":
        return ConvergedJacobi(operator, _tolerance(case))
    if name == "cg":
        return ConjugateGradients.by_diagonal(operator, _tolerance(case))
    return multigrid(case, operator, blocks, device)


def _tolerance(case: Case) -> Tolerance:
    table = case.pressure
    return Tolerance(table.tolerance or 0.0, table.iterations or table.max_iterations or 0)


def multigrid(case: Case, operator: Operator, blocks: Triple, device: str) -> Solver:
    """Return multigrid for an operator, or conjugate gradients preconditioned by a cycle."""
    table = case.pressure
    smoother, sweeps = (WeightedJacobi(), 2) if table.smoother == "jacobi" else (RedBlack(), 1)
    single = case.machine.precision == "double" and table.level_precision(case.machine) == "single"
    shape = SHAPES[table.cycle or "v"]
    gathered = table.amalgamate or AMALGAMATED[device]
    cycle = Cycle(
        operator,
        smoother=smoother,
        before=sweeps,
        after=sweeps,
        shape=shape,
        gathered=gathered,
        redundant=REDUNDANT[device],
        blocks=blocks,
        exact=1 if operator.variable else min(EXACT, gathered),
        depth=table.levels,
        single=single,
    )
    solver = Multigrid if table.outer == "none" else ConjugateGradients
    return solver(cycle, _tolerance(case))


def _jacobi(case: Case, grid: Grid, tolerance: Tolerance, twice: bool, near: Box | None) -> Solver:
    """Return a Jacobi solver. Near bodies its sweeps read flags, or coefficients if p = 0 on a face as well."""
    faces = released(case)
    if near is not None and not faces and not held(case):
        operator = Operator(grid, near=near)
    else:
        variable = near is not None or bool(mixed(case))
        operator = Operator(grid, faces, variable=variable, screened=held(case))
    if case.pressure.tolerance is not None:
        return ConvergedJacobi(operator, tolerance, twice)
    return Jacobi(operator, tolerance.most, twice)


def _twice(case: Case, blocks: Triple, device: str) -> bool:
    """Return True if two sweeps are done in one pass over memory."""
    cells = triple(-(-n // count) for n, count in zip(case.grid.cells, blocks, strict=True))
    walled = not released(case) and not held(case)
    return device == "gpu" and walled and case.grid.stretching is None and blocking_pays(cells)


def sweeps(case: Case, chosen: SolverChoice | None = None) -> int | None:
    """Return the fixed number of iterations of each solve; None if it iterates to a tolerance."""
    table, name = case.pressure, (chosen or choice(case)).solver
    return table.iterations if name != "fft" and table.tolerance is None else None


def described(case: Case, chosen: SolverChoice | None = None) -> str:
    """Return the solver as text, by default of a projection, with the reason if the case has auto."""
    table, chosen = case.pressure, chosen or choice(case)
    kinds = {
        "fft": "FFT",
        "jacobi": "Jacobi",
        "cg": "conjugate gradients with the diagonal",
        "multigrid": "multigrid" if table.outer == "none" else "conjugate gradients with multigrid",
    }
    if chosen.solver == "fft":
        how = "direct"
    elif table.tolerance is not None:
        how = f"to {table.tolerance:g} of the divergence, in at most {table.max_iterations} iterations"
    else:
        how = f"{table.iterations} iterations per solve"
    levels = ""
    if chosen.solver == "multigrid":
        levels = f"; levels in {table.level_precision(case.machine)} precision{'' if table.precision else ' (auto)'}"
    return f"{kinds[chosen.solver]}, {how}{f' (auto: {chosen.why})' if chosen.why else ''}{levels}"


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Add the place and a remedy to the error of a solver that did not converge."""
    try:
        yield
    except NotConverged as error:
        raise RunFailed(
            f"in {where}, {error}; give a larger pressure.tolerance or pressure.max_iterations, another"
            ' pressure.solver, or, where it stopped falling, machine.precision = "double"'
        ) from None
