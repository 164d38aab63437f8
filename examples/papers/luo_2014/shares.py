"""The shares of the parts of an outer iteration, by a profile, and the bytes that it must move, by counted launches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from examples.papers.luo_2014.march import March
from taskflow.flow.models.artificial_compressibility.implicit import factor, krylov, outer
from taskflow.flow.models.artificial_compressibility.implicit.correction import left
from taskflow.flow.models.artificial_compressibility.implicit.derivative import derivative
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING, matrix
from taskflow.flow.models.artificial_compressibility.implicit.vectors import BEFORE
from taskflow.flow.models.artificial_compressibility.stage import residual
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.machine.trace.tracer import Trace
from taskflow.runtime.profile import Timeline, profiled, summarise
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Compute, Program, TaskGraph, visited
from taskflow.systems.artificial_compressibility.constants import MetricFields

TASKS = {
    "matrix": (matrix,),
    "factors": (factor.invert, factor.keep_inverse),
    "solves": (factor.forward, factor.backward),
    "derivative": (derivative, left),
    "sums": (krylov.largest_square, krylov.square, krylov.products),
    "vectors": (
        krylov.first_vector, krylov.orthogonal, krylov.next_vector, krylov.combined, outer.same, outer.add, outer.less,
        outer.damped,
    ),
    "residual": (residual, outer.right_side),
    "update": (outer.largest_change, outer.moved),
}  # fmt: skip
PART = {task.name: part for part, tasks in TASKS.items() for task in tasks}
GHOSTS, MESSAGES, REST = "ghosts", "messages", "rest"


@dataclass(frozen=True)
class Launched:
    """How often tasks were launched, and bytes by task and field: each field read once, and written once."""

    times: Counter[str] = field(default_factory=Counter)
    nbytes: Counter[tuple[str, str]] = field(default_factory=Counter)


class Tally:
    """An instrument of a shard that marks nothing, and counts how often each graph is replayed."""

    graphs = True

    def __init__(self) -> None:
        self._replays: Counter[TaskGraph] = Counter()

    def mark(self, trace: Trace, program: Program) -> Trace:
        """The trace itself."""
        return trace

    def enclose(self, trace: Trace) -> Trace:
        """The trace, counted when its calls begin."""
        return replace(trace, calls=[lambda: self._replays.update([trace.graph]), *trace.calls])

    def launched(self, partition: Partition) -> Launched:
        """Return what the replays launched; edges are parts of a launch."""
        launched = Launched()
        for graph, times in self._replays.items():
            for node in graph.nodes:
                if isinstance(node, Compute):
                    name, cells = node.launch.task.name, visited(replace(node.launch, boxes=(node.box,)), partition)
                    launched.times[name] += times * node.first
                    for role, privilege in node.launch.requirements:
                        nbytes = partition.fields[role].nbytes * (privilege.reads + privilege.writes)
                        launched.nbytes[name, role] += times * cells * nbytes
        return launched


@dataclass(frozen=True)
class OuterProfile:
    """The job of a block: a profile of a pass, and a tally of another one, once all has been done before."""

    march: March
    constants: MetricFields

    def __call__(self, shard: Shard, control: Control) -> tuple[Timeline, Launched]:
        """The timeline of this block, and its launches and bytes."""
        self.constants.fill(shard)
        with profiled(shard) as profiler:
            shard.run(self.march)  # analyses what is profiled
            shard.run(self.march)
        timeline = profiler.timeline
        tally = Tally()
        shard.instrument(tally)
        shard.run(self.march)
        shard.instrument(None)
        second = timeline.passes[len(timeline.passes) // 2 :]
        return replace(timeline, passes=second), tally.launched(shard.partition)


def shares(timelines: Sequence[tuple[Timeline, Launched]], made: float, present: float) -> dict[str, dict[str, float]]:
    """The share of a pass that each part computes, and the bytes that it must move on all blocks, of values that are
    used: for so many vectors that were `made`, with so many `present` in all of them together.
    """
    summary = summarise([timeline for timeline, _ in timelines])
    parts = {name: {"share": 0.0, "bytes": 0.0} for name in (*TASKS, GHOSTS, MESSAGES)}
    for task, times in summary["phases"].items():
        parts[PART.get(task, GHOSTS)]["share"] += times["compute"]
        parts[MESSAGES]["share"] += times["copy"] + times["communication"]
    for _, launched in timelines:
        for (task, name), nbytes in launched.nbytes.items():
            part = parts[PART.get(task, GHOSTS)]
            part["bytes"] += nbytes * used(task, name, launched.times[task], made, present)
    return {**parts, REST: {"share": summary["shares"]["rest"], "bytes": 0.0}}


def used(task: str, field: str, times: int, made: float, present: float) -> float:
    """The share of the values of a field that so many launches of a task use: the blocks for earlier neighbours in a
    sweep, the pivots once for both solves, of which the first only writes; of the vectors those that there are, all as
    if they were in the first of their fields.
    """
    solves = factor.forward.name, factor.backward.name
    others = {COUPLING[1]: (factor.invert.name, solves[0]), COUPLING[0]: solves[1:]}
    if task in others.get(field, ()):
        return 0.0
    halves = {"inverse": solves, **dict.fromkeys(BEFORE, solves[:1])}
    if task in halves.get(field, ()):
        return 0.5
    vectors = {
        krylov.products.name: present, krylov.orthogonal.name: present, krylov.combined.name: made,
        krylov.next_vector.name: made,
    }  # fmt: skip
    if field not in ("vectors", "later") or task not in vectors:
        return 1.0
    return vectors[task] / (krylov.PART * times) if field == "vectors" else 0.0
