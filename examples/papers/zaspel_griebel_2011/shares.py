"""The shares of tasks in a step of the bubble, by a profile of its first steps: figure 5 of the seed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from examples.papers.zaspel_griebel_2011.bubble import Bubble, Rise
from examples.papers.zaspel_griebel_2011.step import CELLS, BubbleTiming, described
from taskflow.bench.team import Request, open_team
from taskflow.bench.timing import TimingConditions, rehearse
from taskflow.common.errors import BadInput
from taskflow.flow.models.two_phase.two_phase import TwoPhase
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.profile import Timeline, profiled, summarise
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import Launch, Program, Roles, plan
from taskflow.systems.base.step_cost import often


@dataclass(frozen=True)
class BubbleProfileJob:
    """The job of a block: a profile of the first steps, once everything has been done before."""

    rise: Rise

    def __call__(self, shard: Shard, control: Control) -> Timeline:
        """The timeline of this block."""
        rehearse(shard, partial(self.rise.once, shard))
        self.rise.begin(shard)
        with profiled(shard) as profiler:
            for _ in self.rise.steps(shard):
                profiler.step()
        return profiler.timeline


def measure_shares(
    device: str,
    cells: Triple | None,
    blocks: Triple,
    conditions: TimingConditions,
    bubble: Bubble,
    workers: int | None = None,
) -> dict[str, Any]:
    """A row per overlap: that of `measure_step`, with the shares of its `parts` and `tasks`.

    Raises as `measure_step` does, and BadInput if no step is replayed as a whole.
    """
    with open_team(Request(device, blocks, workers or "auto")) as team:
        timing, whole = BubbleTiming(team, conditions, bubble), cells or CELLS[team.device]
        rows = []
        for overlap in conditions.apart(blocks):
            row = timing.measure(overlap, whole, blocks, overlap)
            setup = timing.setup(whole, blocks)
            job = BubbleProfileJob(Rise.of(setup))
            timelines, _ = timing.run(setup.partition, job, overlap)
            summary = summarise(timelines)
            if not summary["passes"]:
                raise BadInput(f"--steps {bubble.steps}: each was the first of its kind and not typical; give 20")
            rows.append({**row, **_shares(setup, summary, row["rounds"])})
        return {**described(timing, rows), "results": rows}


def _shares(setup: RunSetup, summary: Mapping[str, Any], rounds: Mapping[str, float]) -> dict[str, Any]:
    """The tasks of a step, longest first: `share` of the time, what of it is computing, the part that each belongs to,
    its launches and bytes per cell in a step; the shares of the parts, and of all kinds of operations.
    """
    launches: defaultdict[str, float] = defaultdict(float)
    nbytes: defaultdict[str, float] = defaultdict(float)
    for done, times in often(setup.step_cost.parts, rounds):
        for launch in done:
            launches[launch.task.name] += times
            nbytes[launch.task.name] += times * setup.step_cost.bytes_of([launch])
    assert isinstance(setup.model, TwoPhase)
    of, roles = parts(setup.model), Roles.of(tuple(setup.partition.fields))
    part = {name: label for label, programs in of.items() for program in programs for name in _tasks(program, roles)}
    tasks = [
        {
            "name": name,
            "part": part.get(name, "momentum"),
            "share": sum(shares.values()),
            "compute": shares["compute"],
            "launches": launches[name],
            "bytes_per_cell": nbytes[name] / setup.grid.box.volume,
        }
        for name, shares in summary["phases"].items()
    ]
    sums = {label: sum(task["share"] for task in tasks if task["part"] == label) for label in (*of, "momentum")}
    return {"tasks": tasks, "parts": {**sums, "rest": summary["shares"]["rest"]}, "profile": summary}


def parts(model: TwoPhase) -> dict[str, list[Program]]:
    """The programs that make up the parts of a step; all else belongs to the momentum and its projection."""
    interface, pressure = model.interface, model.pressure

    def curvature(f: Roles) -> Iterator[Launch]:
        return interface.curvature(f, f.f_new)

    return {"interface": [interface.advance, curvature], "pressure": [pressure.prepare, pressure.solve]}


def _tasks(program: Program, roles: Roles) -> set[str]:
    """The names of the tasks of a program."""
    return {launch.task.name for launches, _ in often(plan(program, roles)[0], {}) for launch in launches}
