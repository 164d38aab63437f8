"""Steps of a flow on some blocks: time, data, operations, cost and remaining divergence.

Also the papers' scaling studies with the step of the lid-driven cavity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from taskflow.bench.projection.flows import Flow, InitialVelocity, velocity_of
from taskflow.bench.projection.in_use import seconds_in_use
from taskflow.bench.steps import check_memory, check_state, costs, flow_state
from taskflow.bench.tables import Columns, Result, Units, about, conditions, listed, reached
from taskflow.bench.team import Request, open_team
from taskflow.bench.timing import PRECISION, PassJob, PassTiming, TimingConditions, describe
from taskflow.common.units import times
from taskflow.flow import Monitor, NavierStokes
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Mapper, Shard
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import counts, plan
from taskflow.systems.projection import Projection
from taskflow.terminal.format import say

COUNTED = 5  # steps over which varying iterations are averaged
STATE = ("iterations", "rounds", "divergence", "residual", "kinetic_energy")  # values reported by `End`


@dataclass(frozen=True)
class WarmUp:
    """Fill the fields of a block and take the first steps."""

    model: NavierStokes
    initial: InitialVelocity
    dt: float
    steps: int

    def __call__(self, shard: Shard) -> None:
        shard.prepare((self.model.start, self.model.step, Monitor(self.model)))
        self.initial.fill(shard)
        shard.run(self.model.start, dt=1.0)
        shard.run(self.model.step, **self.model.scalars(self.dt, 0.0))
        for _ in range(self.steps):
            shard.run(self.model.step, **self.model.scalars(self.dt, 1.0))


@dataclass(frozen=True)
class End:
    """Measure the flow after the steps. Some more steps are taken if the solver's iterations vary."""

    model: NavierStokes

    def __call__(self, shard: Shard) -> dict[str, Any]:
        iterations: dict[str, list[float]] = {name: [] for name in counts(plan(self.model.step, shard.roles)[0])}
        taken = []
        for _ in range(COUNTED if iterations else 1):
            shard.run(self.model.step)
            taken.append(self.model.pressure.taken(shard.scalars))
            for name, done in iterations.items():
                done.append(shard.scalars[name])
        shard.run(Monitor(self.model))
        return flow_state(shard, taken, iterations)


@dataclass(frozen=True)
class StepTiming(PassTiming):
    """Timing of steps of a flow on the processes of a team."""

    flow: Flow
    in_use: bool = False  # also time the loop of a run
    usual = PRECISION

    def measure(self, name: str, cells: Triple, blocks: Triple, overlap: Overlap) -> dict[str, Any]:
        """Return a row of a table, for `cells` in total.

        Raises BadInput if memory is insufficient, and RunFailed if the flow diverges.
        """
        flow = self.flow
        case = flow.of(cells, self.precision, self.conditions.channel)
        setup = RunSetup(case, blocks, device=self.team.device)
        check_memory(self.team, setup)
        dt = setup.clock.limit.longest(setup.system.advective_rate)
        model = Projection.of(setup.system).model
        begin = WarmUp(model, InitialVelocity(setup.grid, velocity_of(flow.case, cells)), dt, flow.warm)
        scalars = model.scalars(dt, 1.0)
        job = PassJob(begin, model.step, End(model), 1, scalars, self.conditions.seconds)
        row, reports = self.timed(name, setup.partition, job, overlap)
        state = {name: reports[0][name] for name in STATE}
        check_state(state, flow.case, cells)
        spent = costs(setup, row, state["rounds"], flow.price)
        used = None
        if self.in_use:
            mapper = Mapper(overlap, graphs=self.conditions.graphs)
            used = seconds_in_use(self.team, case, blocks, mapper, row["seconds"], self.conditions.seconds)
        return {**row, "seconds_in_use": used, "cells": list(cells), "dt": dt, **state, **spent}


def measure_step(
    device: str, cells: Triple, blocks: Triple, conditions: TimingConditions, flow: Flow, workers: int | None = None,
    *, in_use: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Return a row per overlap for one flow of `cells` in total. Raises as `measure_cavity` does."""
    with open_team(Request(device, blocks, workers or "auto")) as team:
        timing = StepTiming(team, conditions, flow, in_use)
        overlaps = conditions.apart(blocks)
        rows = [timing.measure(overlap, cells, blocks, overlap) for overlap in overlaps]
    return {**described(timing, rows), "results": rows}


def described(timing: StepTiming, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Where and with what the rows were measured, and of which flow."""
    flow = timing.flow
    labels = {"case": flow.case, "pressure": str(flow.pressure), "settings": list(flow.settings), "price": flow.price}
    return {**describe(timing.team, timing.precision, rows), **labels}


def show_steps(result: Result) -> None:
    """Print the result of `measure_step`."""
    row = result["results"][0]
    say(f"Steps of {result['case']}, {times(row['cells'])} cells, {solved(result)}", about(result))
    units = Units.of(result["results"])
    listed(result["results"], [{**units.speed(row), **_state(row), **units.costs(row)} for row in result["results"]])


def solved(result: Result) -> str:
    """The solver of the pressure, with what and where it was measured."""
    return f"{result['pressure']}, {conditions(result)}"


def _state(row: Result) -> Columns:
    return {**reached(row), "div": f"{row['divergence']:.1e}"}
