"""Steps of a flow on some blocks: time, data, operations, cost and remaining divergence.

Also a step as users have it: in the loop of `taskflow run`, with its log, and lengths of steps from the flow.
"""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taskflow.bench.projection.flows import Flow, InitialVelocity, velocity_of
from taskflow.bench.steps import check_memory, check_state, costs, flow_state
from taskflow.bench.tables import Columns, Result, Units, about, conditions, listed, reached
from taskflow.bench.team import Request, Team, open_team
from taskflow.bench.timing import PRECISION, PassJob, PassTiming, TimingConditions, describe, slowest
from taskflow.cases import Case
from taskflow.common.units import times
from taskflow.flow import Monitor, NavierStokes
from taskflow.runs.block.checkpoints import CheckpointPolicy, RunStart
from taskflow.runs.block.job import RunLoop
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Control, Mapper, Shard
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import counts, plan
from taskflow.systems.projection import Projection
from taskflow.terminal.format import say

COUNTED = 5  # steps over which varying iterations are averaged
STATE = ("iterations", "rounds", "divergence", "residual", "kinetic_energy")  # values reported by `End`
LOGGED = 100  # steps between two lines of the log
EARLY = 0.4  # share of the steps that are not timed, in which kernels are compiled and overlaps tried
LEAST, MOST = 5 * LOGGED, 50 * LOGGED  # steps of a run
LASTS = 2.0  # times the duration of a measurement, as a step in use takes longer


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
        setup, begin = self.begun(cells, blocks)
        model, dt = begin.model, begin.dt
        job = PassJob(begin, model.step, End(model), 1, model.scalars(dt, 1.0), self.conditions.seconds)
        row, reports = self.timed(name, setup.partition, job, overlap)
        state = {name: reports[0][name] for name in STATE}
        check_state(state, flow.case, cells)
        spent = costs(setup, row, state["rounds"], flow.price)
        used = None
        if self.in_use:
            mapper = Mapper(overlap, graphs=self.conditions.graphs)
            used = seconds_in_use(self.team, setup.case, blocks, mapper, row["seconds"], self.conditions.seconds)
        return {**row, "seconds_in_use": used, "cells": list(cells), "dt": dt, **state, **spent}

    def begun(self, cells: Triple, blocks: Triple) -> tuple[RunSetup, WarmUp]:
        """Return the flow on `cells` in total, and how it begins. Raises BadInput if memory is insufficient."""
        case = self.flow.of(cells, self.precision, self.conditions.channel)
        setup = RunSetup(case, blocks, device=self.team.device)
        check_memory(self.team, setup)
        model, dt = Projection.of(setup.system).model, setup.clock.limit.longest(setup.system.advective_rate)
        initial = InitialVelocity(setup.grid, velocity_of(self.flow.case, cells))
        return setup, WarmUp(model, initial, dt, self.flow.warm)


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
    """Describe the flow, the machine and the settings of the rows."""
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


@dataclass(frozen=True)
class StepInUse:
    """Job of a block: a run from its start to its end, of which the steps after the first `untimed` are timed."""

    start: RunStart
    untimed: int

    def __call__(self, shard: Shard, control: Control) -> float:
        """Return the seconds of a step on the slowest block."""
        loop = RunLoop(self.start, shard, control)
        try:
            loop.begin()
            self._advance(loop, lambda: loop.now.step >= self.untimed)
            shard.synchronize()
            began, first = time.perf_counter(), loop.now.step
            self._advance(loop, lambda: loop.now.finished)
            return slowest(shard, began) / (loop.now.step - first)
        finally:
            loop.close()

    @staticmethod
    def _advance(loop: RunLoop, until: Callable[[], bool]) -> None:
        while not until():
            loop.record()
            loop.step()


def seconds_in_use(team: Team, case: Case, blocks: Triple, mapper: Mapper, about: float, seconds: float) -> float:
    """Return the seconds of a step of a run of this case. A step takes `about` so long without the loop, and the timed
    steps last about `seconds`.

    Raises BadInput if memory is insufficient, and RunFailed if the flow diverges.
    """
    steps = int(min(max(LASTS * seconds / about / (1 - EARLY), LEAST), MOST))
    run = case.replace(**{"time.steps": steps, "monitor.every": {"steps": LOGGED}})
    setup = RunSetup(run, blocks, device=team.device)
    MemoryEstimate(setup, team.spread(len(setup.partition)), setup.device).check()
    with tempfile.TemporaryDirectory() as folder:
        directory, policy = RunDirectory(Path(folder)), CheckpointPolicy.of(setup, Path(folder), uuid.uuid4().hex)
        directory.create(setup, force=True)
        job = StepInUse(RunStart(setup.spec, directory.initial(setup), policy), int(EARLY * steps))
        taken, _ = team.run(setup.partition, job, mapper, case.machine.channel)
    return taken[0]
