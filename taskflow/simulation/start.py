"""Whether a case can start: what is only seen when its formulas have been evaluated, before any step."""

from __future__ import annotations

from taskflow.flow.navier_stokes import VELOCITY
from taskflow.simulation.inflow.inflow import moments
from taskflow.simulation.initial.initial import largest
from taskflow.simulation.setup import Setup


def check_start(setup: Setup) -> None:
    """Raises BadInput where the first step cannot be made: a formula is not finite, or no length of it can be found;
    where more enters than can leave; and where bodies cannot be.
    """
    _ = setup.survey  # finds what is wrong with bodies
    setup.entering.check(moments(setup.case))
    speeds = [value for name, value in largest(setup.case, setup.grid).items() if name in VELOCITY]
    if len(speeds) == len(VELOCITY) and not setup.entering.profiles:
        setup.case.clock().limit.longest(max(speeds))
