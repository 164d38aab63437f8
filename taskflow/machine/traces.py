"""The traces of one block: what it has recorded of the stretches of its programs, and when that is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

from taskflow.machine.device import Lane
from taskflow.machine.instrument import Instrument
from taskflow.machine.mapper import Mapper
from taskflow.machine.states import States
from taskflow.machine.trace.replay import calls
from taskflow.machine.trace.tracer import Trace, Tracer
from taskflow.regions import Partition
from taskflow.tasks import Compute, Known, Program, Stretch, Valid, analyse, share

Key = tuple[Stretch, Mapper, int, Instrument | None]


@dataclass(eq=False)
class Traces:
    """Traces `of` a stretch, a way to do it, the state in which it begins, and what marks it, in the order in which
    they were `recorded`.

    A `tracer` is one for a way. All blocks have to record together: they agree on the states.
    """

    partition: Partition
    block: int
    states: States
    lanes: tuple[Lane, Lane]
    tracer: Callable[[Mapper], Tracer]
    synchronize: Callable[[], None]
    instrument: Instrument | None = None
    recorded: dict[Key, Trace] = field(default_factory=dict)

    @cached_property
    def known(self) -> Known:
        """What was worked out for this block."""
        return Known(self.partition, [self.block])

    def mark(self, by: Instrument | None) -> None:
        """From now on those that `by` has marked, or, without one, those that nobody has."""
        self.instrument = by
        self.recorded = {key: trace for key, trace in self.recorded.items() if key[-1] in (None, by)}

    def keep(self, stretch: Stretch, way: Mapper) -> None:
        """Forget what other ways to do a stretch have recorded."""
        self.recorded = {key: t for key, t in self.recorded.items() if key[0] is not stretch or key[1] == way}

    def cut(self, stretch: Stretch, way: Mapper) -> set[str]:
        """The tasks that this way cuts in a stretch, on this block."""
        graphs = [trace.graph for (mine, other, *_), trace in self.recorded.items() if mine is stretch and other == way]
        nodes = (node for graph in graphs for node in graph.of(Compute))
        return {node.launch.task.name for node in nodes if isinstance(node, Compute) and node.part == "edge"}

    def record(self, key: Key, program: Program) -> Trace:
        """Analyse a stretch of a program, and make ready what does it."""
        stretch, way, state, marks = key
        trace, valid = self._traced(stretch, way, state)
        if marks is not None:
            trace = marks.mark(trace, program)
        if trace.arrivals:
            self.synchronize()  # buffers have been zeroed before anything arrives there
        graphs = way.graphs and (marks is None or marks.graphs)
        trace = replace(trace, calls=calls(trace.operations, self.lanes, graphs=graphs))
        # Only now: to allocate or to load a kernel can take until all GPUs of a process are idle, and none may wait
        # then for a pass that has not begun.
        trace = replace(trace, state=self.states.number(valid))
        trace = self.recorded[key] = trace if marks is None else marks.enclose(trace)
        return trace

    def _traced(self, stretch: Stretch, way: Mapper, state: int) -> tuple[Trace, Valid]:
        tracer = self.tracer(way)
        self.known.geometries.check((*stretch.launches, *stretch.following))  # before they are compiled
        tracer.binder.compile(each for each in stretch.launches if share(each, self.partition, self.block))
        analysis = analyse(
            stretch.launches,
            self.partition,
            following=stretch.following,
            valid=self.states.valid(state),
            blocks=[self.block],
            split=way.cuts(stretch.launches),
            tiles=tracer.binder.tile,
            poisoned=way.debug,
            known=self.known,
        )
        return tracer.trace(analysis, state), analysis.valid
