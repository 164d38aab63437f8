"""The launches of a pass on a block, as they are replayed: how often each task, and bytes of which fields."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from taskflow.runtime.machine.trace.tracer import Trace
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import Compute, Program, TaskGraph, visited


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
