"""The profiler of one block: marks the operations of traces while active, and returns their times afterwards.

Traces recorded meanwhile get marks: the host time around work of the host, and on a GPU a stamp before and after every
operation that takes time on its lane. A replay only records times, which are assembled when the profiler stops. Stamps
are launches and become part of CUDA graphs; host times then refer to the graph's launch. The other instrument is
NVTX ranges: named operations in the timelines of NVIDIA's profilers.
"""

from __future__ import annotations

import os
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import pairwise
from typing import Any

from taskflow.common.errors import BadArgument
from taskflow.runtime.machine.device import Call
from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.machine.trace.operation import Operation
from taskflow.runtime.machine.trace.tracer import Trace
from taskflow.runtime.machine.trace.traces import Instrument
from taskflow.runtime.profile.stamp import Offset, Stamps, host_offset
from taskflow.runtime.profile.timeline import LANES, LASTING, Replay, Span, Timeline, Track, Vertex, sketch
from taskflow.runtime.tasks import Program, TaskGraph, called

HOMES = (("nvtx", "push_range", "pop_range"), ("cupy.cuda.nvtx", "RangePush", "RangePop"))  # packages with NVTX


@dataclass(eq=False)
class Script:
    """The records of a trace's replay: host times around `called`, stamps around `stamped` by lane."""

    program: str
    graph: tuple[Vertex, ...]
    called: list[Operation] = field(default_factory=list)
    stamped: dict[int, list[Operation]] = field(default_factory=lambda: defaultdict(list))
    calls: int = 0

    def span(self, operation: Operation, moments: Iterator[int], track: Track) -> Span:
        """Return the operation between the next two times. Ghost cells filled by a wavefront count as copied, not
        computed.
        """
        copied = operation.kind == "compute" and self.graph[operation.nodes[0]].type == "refresh"
        kind = "copy" if copied else operation.kind
        return Span(next(moments), next(moments), track, kind, operation.nodes)


class Profiler:
    """Profiles a shard between `start` and `stop`. Its `timeline` is available afterwards."""

    graphs = True

    def __init__(self, shard: Shard) -> None:
        self.shard = shard
        self._stamps: dict[int, Stamps] = {}  # by lane number
        self._scripts: dict[TaskGraph, Script] = {}
        self._replays: list[tuple[Script, int]] = []  # with its start
        self._moments: list[int] = []  # host times: before and after calls, and the end of each replay
        self._steps: list[int] = []  # the number of replays at the end of each step
        self._timeline: Timeline | None = None

    def start(self) -> None:
        self.shard.synchronize()
        lanes = dict.fromkeys(lane for lane in self.shard.lanes if lane.asynchronous)  # the two may be one lane
        self._stamps = {number: Stamps(self.shard.device, lane) for number, lane in enumerate(lanes)}
        measured = [stamps.calibrate() for stamps in self._stamps.values()]
        self._device = min((offset for offset, _ in measured), key=lambda o: o.accuracy, default=Offset(0, 0))
        self._cost = max((cost for _, cost in measured), default=0)
        self.shard.instrument(self)

    def stop(self) -> None:
        """End the profile, and assemble the timeline."""
        self.shard.synchronize()
        self.shard.instrument(None)
        self._timeline = self._read()
        self._stamps, self._scripts, self._moments, self._replays, self._steps = {}, {}, [], [], []

    def step(self) -> None:
        """Mark the end of a step. All passes of a step with a fresh pass are excluded from typical ones, as shares of a
        step would be wrong without it.
        """
        self._steps.append(len(self._replays))

    @property
    def timeline(self) -> Timeline:
        """The recorded timeline. Raises RuntimeError before `stop`."""
        if self._timeline is None:
            raise RuntimeError("a timeline is there once the profiler has been stopped")
        return self._timeline

    # ------------------------------------------------------------------------------------------------ marking traces

    def mark(self, trace: Trace, program: Program) -> Trace:
        """Return the trace with marks around its operations."""
        script = Script(called(program), sketch(trace.graph))
        self._scripts[trace.graph] = script
        marked = [mark for operation in trace.operations for mark in self._marked(script, operation)]
        return replace(trace, operations=marked)

    def _marked(self, script: Script, operation: Operation) -> list[Operation]:
        lane = operation.lane
        if lane is None or lane not in self._stamps:
            script.called.append(operation)
            return [replace(operation, call=_timed(operation.call, self._moments.append))]
        if operation.kind not in LASTING:
            return [operation]
        script.stamped[lane].append(operation)
        stamp = Operation(self._stamps[lane].stamp, "stamp", operation.nodes, lane)
        return [stamp, operation, stamp]

    def enclose(self, trace: Trace) -> Trace:
        """Return the trace with records of the begin and end of a replay."""
        script, replays, moments, clock = self._scripts[trace.graph], self._replays, self._moments, time.perf_counter_ns
        script.calls = len(trace.calls)

        def begin() -> None:
            replays.append((script, clock()))

        def end() -> None:
            moments.append(clock())

        return replace(trace, calls=[begin, *trace.calls, end])

    # ---------------------------------------------------------------------------------------------- putting together

    def _read(self) -> Timeline:
        host = host_offset()
        moments = iter([moment + host.add for moment in self._moments])
        to_epoch = self._device.add + host.add
        stamps = {n: iter([moment + to_epoch for moment in stamps.read()]) for n, stamps in self._stamps.items()}
        graphs: dict[Script, int] = {}
        passes: list[Replay] = []
        try:
            for script, began in self._replays:
                spans = [script.span(op, moments, "host") for op in script.called]
                issued = next(moments)
                for number, operations in script.stamped.items():
                    spans += [script.span(op, stamps[number], LANES[number]) for op in operations]
                fresh, start = script not in graphs, began + host.add
                graph = graphs.setdefault(script, len(graphs))
                end = max([issued, *(span.end for span in spans)])
                passes.append(Replay(script.program, graph, fresh, start, end, issued, script.calls, tuple(spans)))
        except StopIteration:  # a failed replay, or a full log
            pass
        for first, last in pairwise((0, *self._steps)):
            if any(p.fresh for p in passes[first:last]):
                passes[first:last] = [replace(p, fresh=True) for p in passes[first:last]]
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
    """Profile every `shard.run` in this context. Afterwards the profiler has the block's `timeline`.

    The first pass of a program in each of its states is analysed and not typical: run a few extra steps, and call
    `step` after each step with several passes. Collective.
    """
    profiler = Profiler(shard)
    profiler.start()
    try:
        yield profiler
    except BaseException:
        shard.instrument(None)
        raise
    profiler.stop()


def _timed(call: Call, note: Callable[[int], Any]) -> Call:
    clock = time.perf_counter_ns

    def timed() -> None:
        note(clock())
        call()
        note(clock())

    return timed


@dataclass(frozen=True)
class Ranges(Instrument):
    """Instrument for `shard.instrument` that puts every operation of a trace into a range with the name of its node.

    A range is the time in which the host calls or enqueues the operation; `nsys` shows the device alongside.
    """

    push: Callable[[str], Any]
    pop: Callable[[], Any]
    graphs = False  # which have no names of operations

    @classmethod
    def open(cls) -> Ranges:
        """Return ranges of the package nvtx, or else of CuPy. Raises BadInput if neither is installed."""
        for module, push, pop in HOMES:
            try:
                package = import_module(module)
                return cls(getattr(package, push), getattr(package, pop))
            except (ImportError, AttributeError):
                continue
        raise BadArgument("nvtx", None, ": neither nvtx nor CuPy is installed", "install one (pip install nvtx)")

    def mark(self, trace: Trace, program: Program) -> Trace:
        """Return the trace with ranges; its work and order are unchanged."""
        nodes = trace.graph.nodes
        names = (f"{op.kind} {', '.join(str(nodes[n]) for n in op.nodes)}" for op in trace.operations)
        operations = [
            replace(op, call=self._ranged(op.call, name)) for op, name in zip(trace.operations, names, strict=True)
        ]
        return replace(trace, operations=operations)

    def _ranged(self, call: Call, name: str) -> Call:
        push, pop = self.push, self.pop

        def ranged() -> None:
            push(name)
            try:
                call()
            finally:
                pop()

        return ranged
