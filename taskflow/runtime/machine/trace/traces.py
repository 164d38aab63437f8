"""The traces of one block: recorded stretches of its programs, and their replay.

States number sets of valid ghost cells, consistently on all blocks, because the next pass of a block depends on them.
Each block has only its own and its neighbours' ghost cells, so two states may look equal to one block and not to
another. They get one number only if all blocks agree.

Replays are the operations of a trace as calls, recorded as CUDA graphs if possible. A pass that never waits on the host
is one graph. With messages that the host moves, each sequence on a lane between two synchronisations with the other
lane or the host is one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.runtime.machine.channel import Gather
from taskflow.runtime.machine.device import Call, Lane
from taskflow.runtime.machine.device.lane import captured
from taskflow.runtime.machine.kernel.host_call import joined
from taskflow.runtime.machine.trace.binding import Binder
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.machine.trace.operation import Operation, nothing
from taskflow.runtime.machine.trace.tracer import Trace, Tracer
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import (
    Compute,
    Deciding,
    Known,
    Part,
    Program,
    Recordings,
    Roles,
    Stretch,
    Valid,
    analyse,
    deciding,
    shares_of,
    stretches,
)

WORTH = 2  # least launches of a graph
# One block of a process plans at a time: programs compute cached objects on first use, which all blocks must share to
# agree on which stretches are identical.
_planning = threading.Lock()


class GhostStates:
    """The states met so far. In state 0, at the start of a run, no ghost cell is valid."""

    def __init__(self, gather: Gather) -> None:
        self._gather = gather
        self._valid: list[Valid] = [{}]
        self._written: dict[tuple[int, frozenset[str]], int] = {}

    def valid(self, number: int) -> Valid:
        """Return the valid ghost cells of a state."""
        return self._valid[number]

    def number(self, valid: Valid) -> int:
        """Return the number of an earlier state that equals this one on all blocks, or a new number. Collective."""
        earlier = self.agreed([valid == other for other in self._valid])
        return self._new(valid) if earlier is None else earlier

    def agreed(self, true: Sequence[bool]) -> int | None:
        """Return the position of the first item that is true on all blocks, or None. Collective, with lists of equal
        length.
        """
        everywhere = self._gather(np.array(true, np.uint8)).all(axis=0)
        return int(everywhere.argmax()) if everywhere.any() else None

    def after_writing(self, number: int, fields: Iterable[str]) -> int:
        """Return the state after every block has overwritten these fields, which invalidates their ghost cells."""
        key = number, frozenset(fields)
        if key not in self._written:
            kept = {ghosts: boxes for ghosts, boxes in self._valid[number].items() if ghosts[1] not in key[1]}
            self._written[key] = self._new(kept)
        return self._written[key]

    def _new(self, valid: Valid) -> int:
        self._valid.append(valid)
        return len(self._valid) - 1


class Instrument(Protocol):
    """Marks the operations of traces, to record when they are done. `graphs`: marks also work in a CUDA graph."""

    graphs: bool

    def mark(self, trace: Trace, program: Program) -> Trace:
        """Return the trace with marks; its work and order are unchanged."""

    def enclose(self, trace: Trace) -> Trace:
        """Return a marked trace that is ready, with marks around its calls if needed."""
        return trace


Key = tuple[Stretch, Mapper, int, Instrument | None]
Plans = dict[tuple[Program, tuple[tuple[str, str], ...]], tuple[tuple[Part, ...], Roles]]  # by initial roles


@dataclass(eq=False)
class Traces:
    """Traces `recorded` so far, in order, by stretch, way, initial state and instrument.

    `tracer` makes the tracer of a way. Recording is collective: blocks agree on the states.
    """

    partition: Partition
    block: int
    states: GhostStates
    lanes: tuple[Lane, Lane]
    binder: Binder
    tracer: Callable[[Mapper], Tracer]
    synchronize: Callable[[], None]
    instrument: Instrument | None = None
    recorded: dict[Key, Trace] = field(default_factory=dict)
    plans: Plans = field(default_factory=dict)
    recordings: Recordings = field(default_factory=Recordings)
    _decided: dict[tuple[Stretch, int], Deciding] = field(default_factory=dict)

    @cached_property
    def known(self) -> Known:
        """The analysis of this block so far."""
        return Known(self.partition, [self.block])

    def mark(self, by: Instrument | None) -> None:
        """Use traces marked by `by` from the next pass, or unmarked ones if None."""
        self.instrument = by
        self.recorded = {key: trace for key, trace in self.recorded.items() if key[-1] in (None, by)}

    def keep(self, stretch: Stretch, way: Mapper) -> None:
        """Discard the traces of other ways of a stretch."""
        self.recorded = {key: t for key, t in self.recorded.items() if key[0] is not stretch or key[1] == way}

    def cut(self, stretch: Stretch, way: Mapper) -> set[str]:
        """Return the tasks that `way` cuts in a stretch, on this block."""
        graphs = [trace.graph for (mine, other, *_), trace in self.recorded.items() if mine is stretch and other == way]
        return {node.launch.task.name for graph in graphs for node in graph.of(Compute) if node.part == "edge"}

    def planned(self, program: Program, roles: Roles) -> tuple[tuple[Part, ...], Roles]:
        """Return the plan of a program that starts with these roles, and the roles after it. Raises as `prepare`."""
        key = program, roles.key()
        if key not in self.plans:
            self.prepare([program], roles)
        return self.plans[key]

    def prepare(self, programs: Iterable[Program], roles: Roles) -> None:
        """Plan new programs, and compile their kernels concurrently, before a pass begins, as loading a kernel can wait
        until all GPUs of a process are idle. Raises BadInput if a launch is impossible on the partition.
        """
        state = roles.key()
        with _planning:
            unknown = [program for program in programs if (program, state) not in self.plans]
            new = {(program, state): self.recordings.plan(program, roles) for program in unknown}
        some = dict.fromkeys(stretch for parts, _ in new.values() for stretch in stretches(parts))
        launches = [launch for stretch in some for launch in stretch.launches]
        self.known.geometries.check((*launches, *(launch for stretch in some for launch in stretch.following)))
        self.binder.compile(launch for launch in launches if shares_of(launch, self.partition, self.block))
        self.plans.update(new)

    def record(self, key: Key, program: Program) -> Trace:
        """Analyse a stretch of a program and prepare its replay, unless a trace of an equivalent state exists.

        States are not compared for marked traces and in debug mode, which depend on more of a state than the stretch
        does.
        """
        stretch, way, state, marks = key
        if marks is None and not way.debug and (trace := self._alike(stretch, way, state)):
            self.recorded[key] = trace
            return trace
        trace, valid = self._traced(stretch, way, state)
        if marks is not None:
            trace = marks.mark(trace, program)
        if trace.arrivals:
            self.synchronize()  # buffers are zeroed before messages arrive there
        graphs = way.graphs and (marks is None or marks.graphs)
        trace = replace(trace, calls=calls(trace.operations, self.lanes, graphs=graphs))
        # Only now: an allocation or the load of a kernel can wait until all GPUs of a process are idle, so no block may
        # wait meanwhile for a pass that has not begun.
        trace = replace(trace, state=self.states.number(valid))
        trace = self.recorded[key] = trace if marks is None else marks.enclose(trace)
        return trace

    def _alike(self, stretch: Stretch, way: Mapper, state: int) -> Trace | None:
        """Return the trace of another state that is equivalent for the stretch on every block, or None."""
        same = [key for key in self.recorded if key[:2] == (stretch, way) and key[-1] is None]
        if not same:
            return None
        mine = self._deciding(stretch, state)
        alike = self.states.agreed([self._deciding(stretch, other).read == mine.read for _, _, other, _ in same])
        if alike is None:
            return None
        trace = self.recorded[same[alike]]
        return replace(trace, state=self.states.number(mine.after(self.states.valid(trace.state))))

    def _deciding(self, stretch: Stretch, state: int) -> Deciding:
        if (stretch, state) not in self._decided:
            valid, known = self.states.valid(state), self.known.geometries
            self._decided[stretch, state] = deciding(stretch.launches, stretch.following, valid, known)
        return self._decided[stretch, state]

    def _traced(self, stretch: Stretch, way: Mapper, state: int) -> tuple[Trace, Valid]:
        tracer = self.tracer(way)
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
        self.binder.begin()
        return tracer.trace(analysis, state), analysis.valid


def calls(operations: Sequence[Operation], lanes: tuple[Lane, Lane], *, graphs: bool) -> list[Call]:
    """Return the calls of a replay, in order. They follow all earlier work on lane 0, and later work there follows
    them. On a CPU, compiled functions that follow each other are one call.
    """
    plain, urgent = lanes
    if not plain.asynchronous:
        return list(joined([operation.call for operation in operations if operation.call is not nothing]))
    whole = graphs and all(operation.lane is not None and operation.fixed for operation in operations)
    inner = list(_segments(operations, lanes)) if graphs and not whole else [operation.call for operation in operations]
    replayed = inner if urgent is plain else _joined(inner, lanes)
    return [captured(plain, replayed)] if whole and len(replayed) >= WORTH else replayed


def _joined(inner: list[Call], lanes: tuple[Lane, Lane]) -> list[Call]:
    """Fork the urgent lane from the plain one at the start, and join it at the end."""
    plain, urgent = lanes
    fork, join = plain.event(), urgent.event()
    return [plain.recorder(fork), urgent.waiter(fork), *inner, urgent.recorder(join), plain.waiter(join)]


def _segments(operations: Sequence[Operation], lanes: tuple[Lane, Lane]) -> Iterator[Call]:
    """Yield sequences of launches on a lane as graphs, with events and work of the host between them."""
    runs: dict[int, list[Call]] = {0: [], 1: []}

    def closed(number: int) -> list[Call]:
        run, runs[number] = runs[number], []
        return [captured(lanes[number], run)] if len(run) >= WORTH else run

    for operation in operations:
        if operation.lane is not None and operation.fixed and operation.kind not in ("record", "wait"):
            runs[operation.lane].append(operation.call)
            continue
        # Nothing is held back where the host may wait: another block may need it before it can end that wait.
        for number in (0, 1) if operation.lane is None or not operation.fixed else (operation.lane,):
            yield from closed(number)
        yield operation.call
    for number in (0, 1):
        yield from closed(number)
