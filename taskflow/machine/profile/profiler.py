"""The profiler of one block: marks the operations of traces while it is on, and tells afterwards when they were done.

A trace that is recorded meanwhile gets marks: the time of the host around every call, and on a GPU a stamp before and
after every operation that works on cells or waits for another block, on its lane. A replay then only writes down
moments; they are put together when the profiler is stopped.
"""

from __future__ import annotations

import os
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from taskflow.machine.profile.clock import Offset, host_offset
from taskflow.machine.profile.stamp import Stamps
from taskflow.machine.profile.timeline import LANES, LASTING, Pass, Span, Timeline, Track, Vertex, sketch
from taskflow.machine.shard import Shard
from taskflow.machine.trace.operation import Call, Operation
from taskflow.machine.trace.tracer import Trace
from taskflow.tasks import Program


@dataclass(eq=False)
class Script:
    """What a replay of a trace writes down: moments of the host around `called`, stamps around `stamped` of a lane."""

    program: str
    graph: tuple[Vertex, ...]
    called: list[Operation] = field(default_factory=list)
    stamped: dict[int, list[Operation]] = field(default_factory=lambda: defaultdict(list))

    def span(self, operation: Operation, moments: Iterator[int], track: Track, issued: bool = False) -> Span:
        """The operation between the next two moments. Ghost cells that a wavefront fills are copied, not computed."""
        copied = operation.kind == "compute" and self.graph[operation.nodes[0]].type == "refresh"
        kind = "copy" if copied else operation.kind
        return Span(next(moments), next(moments), track, kind, operation.nodes, issued)


class Profiler:
    """Profiles a shard between `start` and `stop`; then its `timeline` is there."""

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self._stamps: dict[int, Stamps] = {}  # by number of the lane
        self._replays: list[tuple[Script, int]] = []  # with the moment when it began
        self._moments: list[int] = []  # of the host: before and after every call of every replay
        self._timeline: Timeline | None = None

    def start(self) -> None:
        """From now on replays are profiled."""
        self.shard.synchronize()
        lanes = dict.fromkeys(lane for lane in self.shard.lanes if lane.asynchronous)  # both numbers may mean one lane
        self._stamps = {number: Stamps(self.shard.device, lane) for number, lane in enumerate(lanes)}
        measured = [stamps.calibrate() for stamps in self._stamps.values()]
        self._device = min((offset for offset, _ in measured), key=lambda o: o.accuracy, default=Offset(0, 0))
        self._cost = max((cost for _, cost in measured), default=0)
        self.shard.instrument(self)

    def stop(self) -> None:
        """Profile no more, and put together what was seen."""
        self.shard.synchronize()
        self.shard.instrument(None)
        self._timeline = self._read()
        self._stamps, self._moments, self._replays = {}, [], []

    @property
    def timeline(self) -> Timeline:
        """What was seen. Raises RuntimeError before `stop`."""
        if self._timeline is None:
            raise RuntimeError("a timeline is there once the profiler has been stopped")
        return self._timeline

    # ------------------------------------------------------------------------------------------------ marking traces

    def mark(self, trace: Trace, program: Program) -> Trace:
        """The trace with marks: it does the same in the same order."""
        script = Script(getattr(program, "__name__", type(program).__name__), sketch(trace.graph))
        return replace(trace, operations=self.timed(script, self.stamped(script, trace.operations)))

    def stamped(self, script: Script, operations: Sequence[Operation]) -> list[Operation]:
        """The operations with stamps of the device around those that are enqueued. Has to come before capturing."""
        marked = []
        for operation in operations:
            if operation.lane in self._stamps and operation.kind in LASTING:
                stamp = Operation(self._stamps[operation.lane].stamp, "record", operation.nodes, operation.lane)
                script.stamped[operation.lane].append(operation)
                marked += [stamp, operation, stamp]
            else:
                marked.append(operation)
        return marked

    def timed(self, script: Script, operations: Sequence[Operation]) -> list[Operation]:
        """The operations with the time of the host around each call. Has to come after capturing."""
        stamps = [stamps.stamp for stamps in self._stamps.values()]
        marked = [Operation(lambda: self._replays.append((script, time.perf_counter_ns())), "record", ())]
        for operation in operations:
            if operation.call in stamps:
                marked.append(operation)
            else:
                script.called.append(operation)
                marked.append(replace(operation, call=_timed(operation.call, self._moments.append)))
        return marked

    # ---------------------------------------------------------------------------------------------- putting together

    def _read(self) -> Timeline:
        host = host_offset()
        moments = iter([moment + host.add for moment in self._moments])
        to_epoch = self._device.add + host.add
        stamps = {n: iter([moment + to_epoch for moment in stamps.read()]) for n, stamps in self._stamps.items()}
        graphs: dict[Script, int] = {}
        passes: list[Pass] = []
        try:
            for script, began in self._replays:
                spans = [script.span(op, moments, "host", op.lane in self._stamps) for op in script.called]
                for number, operations in script.stamped.items():
                    spans += [script.span(op, stamps[number], LANES[number]) for op in operations]
                fresh, start = script not in graphs, began + host.add
                graph = graphs.setdefault(script, len(graphs))
                end = max((span.end for span in spans), default=start)
                passes.append(Pass(script.program, graph, fresh, start, end, tuple(spans)))
        except StopIteration:  # a replay that an error ended, or a log that is full
            pass
        return Timeline(
            block=self.shard.block,
            host=socket.gethostname(),
            process=os.getpid(),
            device=self.shard.device.name,
            accuracy={"host": host.accuracy, "device": self._device.accuracy, "stamp": self._cost},
            graphs=tuple(script.graph for script in graphs),
            passes=tuple(passes),
        )


@contextmanager
def profiled(shard: Shard) -> Iterator[Profiler]:
    """Within it every `shard.run` is profiled; afterwards the profiler has the block's `timeline`.

    The first pass of a program in each of its states is analysed and not counted as typical: run a few steps more than
    are wanted. To be used on all blocks alike.
    """
    profiler = Profiler(shard)
    profiler.start()
    try:
        yield profiler
    finally:
        profiler.stop()


def _timed(call: Call, note: Callable[[int], Any]) -> Call:
    clock = time.perf_counter_ns

    def timed() -> None:
        note(clock())
        call()
        note(clock())

    return timed
