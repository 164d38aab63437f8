"""Common parts of steps of all flows: pressure solver, memory check, and rates derived from their time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from taskflow.bench.cost import cost
from taskflow.bench.team import Team
from taskflow.bench.timing import BESIDE, moving
from taskflow.common.errors import RunFailed
from taskflow.common.units import times
from taskflow.flow.poisson import relative_residual
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Shard

HOUR = 3600.0


@dataclass(frozen=True)
class Pressure:
    """Solver of the pressure equation, with the keys of a case file that are set."""

    solver: str = "jacobi"
    iterations: int | None = None
    tolerance: float | None = None

    @property
    def table(self) -> dict[str, Any]:
        """Table [pressure] of a case file."""
        values = {"solver": self.solver, "iterations": self.iterations, "tolerance": self.tolerance}
        return {name: value for name, value in values.items() if value is not None}

    def __str__(self) -> str:
        if self.tolerance is not None:
            return f"{self.solver} to {self.tolerance:g}"
        return self.solver if self.iterations is None else f"{self.iterations} {self.solver} iterations"


def flow_state(shard: Shard, taken: Sequence[float], iterations: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """Return the state of a flow after its monitor, the iterations of the solver, and the repetitions of each loop."""
    scalars = shard.scalars
    return {
        "iterations": mean(taken),
        "rounds": {name: mean(some) for name, some in iterations.items()},
        "divergence": scalars["divergence"],
        "residual": relative_residual(scalars),
        "kinetic_energy": scalars["energy"] / shard.region.cells.volume,
    }


def check_state(state: Mapping[str, Any], flow: str, cells: Sequence[int]) -> None:
    """Raise RunFailed if the flow has diverged."""
    if not math.isfinite(state["kinetic_energy"]):
        raise RunFailed(f"{flow}, {times(cells)} cells: the flow diverged while it was timed")


def check_memory(team: Team, setup: RunSetup) -> None:
    """Raise BadInput if memory is insufficient for the blocks and the copies used to measure bandwidth."""
    asked = f"{times(setup.case.grid.cells)} cells"
    team.check_memory(needed(team, setup) + BESIDE[team.device], len(setup.partition), asked)


def needed(team: Team, setup: RunSetup) -> int:
    """Return the bytes of the largest block, without output buffers."""
    blocks = MemoryEstimate(setup, team.spread(len(setup.partition)), team.device).blocks
    return max(memory.stepping for memory in blocks)


def costs(
    setup: RunSetup, row: Mapping[str, Any], iterations: Mapping[str, float], price: float | None
) -> dict[str, Any]:
    """Return the rates derived from the time of a step, in its row, and from its bytes, operations and messages.

    `iterations` as in `cost`. `price` is per device-hour.
    """
    spent, volume = cost(setup, setup.model.step, iterations), setup.grid.box.volume
    busiest = max(setup.step_cost.traffic)
    return {
        **moving(row, spent.nbytes),
        "bytes_per_cell": spent.nbytes / volume,
        "operations_per_cell": None if spent.operations is None else spent.operations / volume,
        "flops": None if spent.operations is None else spent.operations / row["seconds"],
        "cells_per_dollar": dollars(row, price),
        "messages": busiest.messages,
        "bytes": busiest.nbytes,
    }


def dollars(row: Mapping[str, Any], price: float | None) -> float | None:
    """Return the cells that a dollar buys, by the rate of a device and the price of its hour, if known."""
    rate = row["cells_per_second_per_block"] if "cells_per_second_per_block" in row else row["cells_per_second"]
    return None if price is None else rate * HOUR / price


def priced(row: Mapping[str, Any], price: float | None) -> dict[str, Any]:
    """Return a row with `dollars`."""
    return {**row, "cells_per_dollar": dollars(row, price)}
