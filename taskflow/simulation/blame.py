"""What to change in a case whose run diverges: what is probably to blame, by what was seen of the run until then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taskflow.simulation.scenario import Scenario
from taskflow.simulation.schedule import Tick
from taskflow.simulation.stability import StepWatch

LEFT = 0.1  # share of the divergence that solves of a fixed number of iterations may leave


class Blame:
    """What was seen so far; called with the last step, the remedy in words.

    `watch` looks at the steps of the run; None where none that its case allows is too long.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._scenario, self._residual = scenario, 0.0
        self.watch = None if scenario.stability.certain else StepWatch(scenario.stability)

    def note(self, numbers: Mapping[str, Any]) -> None:
        """Note what a sane state was like, from its line in the log."""
        self._residual = numbers["residual"]

    @property
    def steps(self) -> str:
        """What to change where steps are too long."""
        return f"{self._scenario.clock.remedy}{self._scenario.stability.better}"

    def __call__(self, tick: Tick) -> str:
        scenario = self._scenario
        if self.watch is not None and self.watch.exceeded:
            return self.steps
        if scenario.sweeps is not None and self._residual > LEFT:
            now = f"pressure.iterations (now {scenario.sweeps})"
            return f"{self._residual:.0%} of the divergence was left: give more {now}, or another pressure.solver"
        if not scenario.stability.damped(tick.dt, scenario.clock.limit.cfl):
            return self.steps
        return 'steps are stable, so the grid may be too coarse: give more cells, or fluid.scheme = "quick"'
