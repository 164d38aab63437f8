"""Whether a case can start: what is only seen when its formulas have been evaluated, before any step."""

from __future__ import annotations

from taskflow.errors import BadInput
from taskflow.flow.navier_stokes import VELOCITY
from taskflow.simulation.inflow.inflow import moments
from taskflow.simulation.initial.initial import largest
from taskflow.simulation.magnitudes import Magnitudes
from taskflow.simulation.setup import Setup


def check_start(setup: Setup) -> None:
    """Raises BadInput where the first step cannot be made: a formula is not finite, or no length of it can be found;
    where more enters than can leave; and where bodies cannot be.
    """
    _ = setup.survey  # finds what is wrong with bodies
    setup.entering.check(moments(setup.case))
    initial = largest(setup.case, setup.grid)
    _check_sizes(setup, initial)
    speeds = [value for name, value in initial.items() if name in VELOCITY]
    if len(speeds) == len(VELOCITY) and not setup.entering.profiles:
        setup.case.clock().limit.longest(max(speeds))


def _check_sizes(setup: Setup, initial: dict[str, float]) -> None:
    """Raises BadInput where what formulas give is too large for the equations."""
    case, grid = setup.case, setup.grid
    x, y, z = (grid.narrowest(axis) for axis in range(3))
    numbers = Magnitudes((x, y, z), case.fluid.viscosity, case.machine.precision)
    entering = zip(setup.entering.profiles, setup.entering.fastest(moments(case)), strict=True)
    found = [(f"boundaries.{face}", float(max(speeds)), "velocity") for face, speeds in entering]
    found += [(f"initial {name}", value, "velocity" if name in VELOCITY else "") for name, value in initial.items()]
    for key, value, kind in found:
        if lost := numbers.velocity(value) if kind and value > 1 else numbers.carried(value):
            raise BadInput(f"{key}: values of {value:g}; {lost}; give smaller ones")
