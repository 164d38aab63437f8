"""A step of a flow on some blocks: what it takes, moves, computes and costs, and the divergence that it leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import mean
from typing import Any

from taskflow.errors import RunFailed
from taskflow.flow import Monitor, NavierStokes
from taskflow.flow.poisson import relative_residual
from taskflow.machine import Shard
from taskflow.machine.mapper import Overlap
from taskflow.regions import Triple
from taskflow.simulation.bench.cavity.cases import Flow, velocity_of
from taskflow.simulation.bench.cavity.cost import cost
from taskflow.simulation.bench.cavity.initial_velocity import InitialVelocity
from taskflow.simulation.bench.passes import BESIDE, Conditions, PassJob, Timing, moving
from taskflow.simulation.bench.team import Team
from taskflow.simulation.build.scales import advective_rate
from taskflow.simulation.build.simulation import Simulation
from taskflow.simulation.memory import Needs
from taskflow.tasks import counts, plan

COUNTED = 5  # steps over which iterations are averaged, where they vary
HOUR = 3600.0
STATE = ("iterations", "rounds", "divergence", "residual", "kinetic_energy")  # what `End` tells


@dataclass(frozen=True)
class Begin:
    """Fills the fields of a block and takes the first steps."""

    model: NavierStokes
    initial: InitialVelocity
    dt: float
    steps: int

    def __call__(self, shard: Shard) -> None:
        self.initial.fill(shard)
        shard.run(self.model.start, dt=1.0)
        shard.run(self.model.step, **self.model.scalars(self.dt, 0.0))
        for _ in range(self.steps):
            shard.run(self.model.step, **self.model.scalars(self.dt, 1.0))


@dataclass(frozen=True)
class End:
    """What the flow is like after the steps; some more are taken where the solver's iterations vary."""

    model: NavierStokes

    def __call__(self, shard: Shard) -> dict[str, Any]:
        pressure, names = self.model.pressure, list(counts(plan(self.model.step, shard.roles)[0]))
        taken, rounds = [], []
        for _ in range(COUNTED if names else 1):
            shard.run(self.model.step)
            taken.append(pressure.taken(shard.scalars))
            rounds.append([shard.scalars[name] for name in names])
        shard.run(Monitor(self.model))
        found = shard.scalars
        return {
            "iterations": mean(taken),
            "rounds": dict(zip(names, map(mean, zip(*rounds, strict=True)), strict=True)),
            "divergence": found["divergence"],
            "residual": relative_residual(found),
            "kinetic_energy": found["energy"] / shard.region.cells.volume,
        }


@dataclass(frozen=True)
class StepTiming:
    """Measures steps of a flow on the processes of a team."""

    team: Team
    conditions: Conditions
    precision: str
    flow: Flow

    def measure(self, name: str, cells: Triple, blocks: Triple, overlap: Overlap) -> dict[str, Any]:
        """A row of a table, for so many cells in all. Raises BadInput where the memory is not enough, RunFailed where
        the flow diverges.
        """
        flow = self.flow
        case = flow.of(cells, self.precision, self.conditions.channel)
        setup = Simulation(case, blocks, device=self.team.device)
        check_memory(self.team, setup)
        dt = setup.clock.limit.longest(advective_rate(setup))
        begin = Begin(setup.model, InitialVelocity(setup.grid, velocity_of(flow.case, cells)), dt, flow.warm)
        scalars = setup.model.scalars(dt, 1.0)
        job = PassJob(begin, setup.model.step, End(setup.model), 1, scalars, self.conditions.seconds)
        row, reports = Timing(self.team, self.conditions).measure(name, setup.partition, job, overlap)
        state = {name: reports[0][name] for name in STATE}
        if not math.isfinite(state["kinetic_energy"]):
            raise RunFailed(f"{flow.case}, {' x '.join(map(str, cells))} cells: the flow diverged while it was timed")
        return {**row, "cells": list(cells), "dt": dt, **state, **self._costs(setup, row, state["rounds"])}

    def _costs(self, setup: Simulation, row: dict[str, Any], rounds: dict[str, float]) -> dict[str, Any]:
        """What follows from the time of a step and what it does."""
        spent, volume = cost(setup, setup.model.step, rounds), setup.grid.box.volume
        busiest, price, rate = max(setup.step_cost.traffic), self.flow.price, row["cells_per_second_per_block"]
        return {
            **moving(row, spent.nbytes),
            "bytes_per_cell": spent.nbytes / volume,
            "operations_per_cell": None if spent.operations is None else spent.operations / volume,
            "flops": None if spent.operations is None else spent.operations / row["seconds"],
            "cells_per_dollar": None if price is None else rate * HOUR / price,
            "messages": busiest.messages,
            "bytes": busiest.nbytes,
        }


def check_memory(people: Team, setup: Simulation) -> None:
    """Raises BadInput where the memory is not enough: for the blocks, and the copies measured beside them."""
    blocks = len(setup.partition)
    needs = Needs(setup, people.spread(blocks), people.device).blocks
    need = max(memory.total - memory.output for memory in needs) + BESIDE[people.device]
    people.check_memory(need, blocks, f"{' x '.join(map(str, setup.case.grid.cells))} cells")
