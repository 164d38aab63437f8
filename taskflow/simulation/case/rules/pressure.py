"""What the pressure's solver must have in common with the rest of a case."""

from collections.abc import Iterator

from taskflow.simulation.case.machine import Machine
from taskflow.simulation.case.physics import Grid
from taskflow.simulation.case.pressure import Pressure
from taskflow.simulation.case.problems import Problem, wrong

LEAST_TOLERANCE = {"single": 1e-5, "double": 1e-13}  # some hundred roundings
FEWEST = 4  # cells in a row that multigrid can make fewer of


def _tolerance_can_be_reached(pressure: Pressure, machine: Machine) -> Iterator[Problem]:
    least = LEAST_TOLERANCE[machine.precision]
    if pressure.tolerance is not None and not least <= pressure.tolerance < 1:
        rounded = f"residuals are relative, and rounded in {machine.precision} precision"
        remedy = f"{rounded}; give {least:g} or more, below 1"
        yield wrong(("pressure", "tolerance"), pressure.tolerance, remedy)


def _levels_are_no_finer(pressure: Pressure, machine: Machine) -> Iterator[Problem]:
    if pressure.precision == "double" and machine.precision == "single":
        remedy = 'machine.precision is "single", and corrections cannot be finer; leave it out'
        yield wrong(("pressure", "precision"), pressure.precision, remedy)


def _multigrid_has_cells(grid: Grid, pressure: Pressure) -> Iterator[Problem]:
    if pressure.solver == "multigrid" and max(grid.cells) < FEWEST:
        remedy = f'{" x ".join(map(str, grid.cells))} cells are too few to coarsen; give "fft" or "jacobi"'
        yield wrong(("pressure", "solver"), pressure.solver, remedy)


RULES = (
    (_tolerance_can_be_reached, ("pressure", "machine")),
    (_levels_are_no_finer, ("pressure", "machine")),
    (_multigrid_has_cells, ("grid", "pressure")),
)
