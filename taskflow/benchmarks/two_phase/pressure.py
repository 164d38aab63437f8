"""Solvers of the pressure equation in the steps of the bubble, beside each other: figure 4 of the seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from taskflow.benchmarks.steps import Pressure
from taskflow.benchmarks.team import Request, open_team
from taskflow.benchmarks.timing import TimingConditions
from taskflow.benchmarks.two_phase.bubble import Bubble
from taskflow.benchmarks.two_phase.step import CELLS, BubbleTiming, described
from taskflow.errors import BadInput
from taskflow.runtime.regions import Triple


@dataclass(frozen=True)
class PressureMethod:
    """A solver in the words of a case, with other settings of it."""

    solver: str
    settings: tuple[str, ...] = ()

    def of(self, bubble: Bubble) -> Bubble:
        """The bubble with this solver."""
        pressure = Pressure(self.solver, bubble.pressure.iterations, bubble.pressure.tolerance)
        return replace(bubble, pressure=pressure, settings=(*bubble.settings, *self.settings))


METHODS: Mapping[str, PressureMethod] = {
    "cg": PressureMethod("cg", ("pressure.max_iterations=100000",)),
    "multigrid": PressureMethod("multigrid"),
    "mixed": PressureMethod("multigrid", ("pressure.precision=single",)),
}


def measure_pressure(
    device: str,
    cells: Triple | None,
    blocks: Triple,
    conditions: TimingConditions,
    bubble: Bubble,
    methods: tuple[str, ...],
) -> dict[str, Any]:
    """A row per method: the whole step, and the solution of the last equation from p = 0. `refused` has those that the
    case does not accept, with the reason.

    Raises BadInput where no method is accepted, or the memory is not enough; RunFailed where the flow diverges.
    """
    with open_team(Request(device, blocks)) as team:
        rows, refused, overlap = [], {}, conditions.overlaps[0]
        whole = cells or CELLS[team.device]
        for name in methods:
            timing = BubbleTiming(team, conditions, METHODS[name].of(bubble))
            try:
                timing.setup(whole, blocks)
            except BadInput as error:
                refused[name] = str(error)
                continue
            rows.append({"method": name, **timing.measure(overlap, whole, blocks, overlap, solved=True)})
        if not rows:
            raise BadInput("; ".join(refused.values()))
        return {**described(BubbleTiming(team, conditions, bubble), rows), "refused": refused, "results": rows}
