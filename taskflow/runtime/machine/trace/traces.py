"""The traces of one block: what it has recorded of the stretches of its programs, and how it replays them.

States say which ghost cells are valid, as numbers that mean the same on all blocks. The next pass of a block depends on
the ghost cells that are valid. Each block knows its own and its neighbours' only, so two states may look alike to one
block and not to another: they get one number only where all agree.

Replays are the operations of a trace as calls, recorded as CUDA graphs where that can be. A pass that never waits on
the host is one graph. With messages that the host moves, what is enqueued on a lane between two points that the other
lane or the host waits for is one.
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
from taskflow.runtime.machine.trace.binding import Binder
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.machine.trace.operation import Operation
from taskflow.runtime.machine.trace.tracer import Trace, Tracer
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import (
    Compute,
    Deciding,
    Known,
    Part,
    Program,
    Roles,
    Stretch,
    Valid,
    analyse,
    deciding,
    plan,
    shares_of,
    stretches,
)

WORTH = 2  # launches that are worth a graph
# One block of a process plans at a time: what programs work out when they are first asked is one object for all blocks,
# and so all agree on which stretches are the same.
_planning = threading.Lock()


class GhostStates:
    """The states met so far; in number 0, with which a run begins, no ghost cell is valid."""

    def __init__(self, gather: Gather) -> None:
        self._gather = gather
        self._valid: list[Valid] = [{}]
        self._written: dict[tuple[int, frozenset[str]], int] = {}

    def valid(self, number: int) -> Valid:
        """The valid ghost cells of a state."""
        return self._valid[number]

    def number(self, valid: Valid) -> int:
        """The number of an earlier state which equals this one on all blocks, or a new one. All blocks have to ask."""
        earlier = self.agreed([valid == other for other in self._valid])
        return self._new(valid) if earlier is None else earlier

    def agreed(self, true: Sequence[bool]) -> int | None:
        """The position of the first that is true on all blocks. All blocks have to ask, about as many."""
        everywhere = self._gather(np.array(true, np.uint8)).all(axis=0)
        return int(everywhere.argmax()) if everywhere.any() else None

    def after_writing(self, number: int, fields: Iterable[str]) -> int:
        """The state after every block has overwritten these fields: their ghost cells are valid no more."""
        key = number, frozenset(fields)
        if key not in self._written:
            kept = {ghosts: boxes for ghosts, boxes in self._valid[number].items() if ghosts[1] not in key[1]}
            self._written[key] = self._new(kept)
        return self._written[key]

    def _new(self, valid: Valid) -> int:
        self._valid.append(valid)
        return len(self._valid) - 1


class Instrument(Protocol):
    """Marks the operations of traces, to see when they are done. `graphs`: marks work in a CUDA graph, too."""

    graphs: bool

    def mark(self, trace: Trace, program: Program) -> Trace:
        """The trace with marks: it does the same in the same order."""

    def enclose(self, trace: Trace) -> Trace:
        """The trace that was marked and is ready, with marks around its calls, if there are any."""
        return trace


Key = tuple[Stretch, Mapper, int, Instrument | None]
Plans = dict[tuple[Program, tuple[tuple[str, str], ...]], tuple[tuple[Part, ...], Roles]]  # by the roles before


@dataclass(eq=False)
class Traces:
    """Traces `of` a stretch, a way to do it, the state in which it begins, and what marks it, in the order in which
    they were `recorded`.

    A `tracer` is one for a way. All blocks have to record together: they agree on the states.
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
    _decided: dict[tuple[Stretch, int], Deciding] = field(default_factory=dict)

    @cached_property
    def known(self) -> Known:
        """The analysis of this block so far."""
        return Known(self.partition, [self.block])

    def mark(self, by: Instrument | None) -> None:
        """From now on use traces that `by` has marked, or, without one, traces without marks."""
        self.instrument = by
        self.recorded = {key: trace for key, trace in self.recorded.items() if key[-1] in (None, by)}

    def keep(self, stretch: Stretch, way: Mapper) -> None:
        """Forget what other ways to do a stretch have recorded."""
        self.recorded = {key: t for key, t in self.recorded.items() if key[0] is not stretch or key[1] == way}

    def cut(self, stretch: Stretch, way: Mapper) -> set[str]:
        """The tasks that this way cuts in a stretch, on this block."""
        graphs = [trace.graph for (mine, other, *_), trace in self.recorded.items() if mine is stretch and other == way]
        return {node.launch.task.name for graph in graphs for node in graph.of(Compute) if node.part == "edge"}

    def planned(self, program: Program, roles: Roles) -> tuple[tuple[Part, ...], Roles]:
        """The plan of a program begun with these roles, and the roles after it. Raises as `prepare` does."""
        key = program, roles.key()
        if key not in self.plans:
            self.prepare([program], roles)
        return self.plans[key]

    def prepare(self, programs: Iterable[Program], roles: Roles) -> None:
        """Plan programs, and compile their kernels side by side, as far as that is new; before a pass begins, as to
        load a kernel can take until all GPUs of a process are idle. Raises BadInput where a launch is impossible on the
        partition.
        """
        state = roles.key()
        with _planning:
            new = {(program, state): plan(program, roles) for program in programs if (program, state) not in self.plans}
        some = dict.fromkeys(stretch for parts, _ in new.values() for stretch in stretches(parts))
        launches = [launch for stretch in some for launch in stretch.launches]
        self.known.geometries.check((*launches, *(launch for stretch in some for launch in stretch.following)))
        self.binder.compile(launch for launch in launches if shares_of(launch, self.partition, self.block))
        self.plans.update(new)

    def record(self, key: Key, program: Program) -> Trace:
        """Analyse a stretch of a program, and make ready what does it, unless that was done in a state that is alike.

        What marks a trace, and poison, see more of a state than the stretch.
        """
        stretch, way, state, marks = key
        if marks is None and not way.debug and (trace := self._alike(stretch, way, state)):
            self.recorded[key] = trace
            return trace
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

    def _alike(self, stretch: Stretch, way: Mapper, state: int) -> Trace | None:
        """The trace of another state, if there is one, that differs on no block in what the stretch sees."""
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
    """The calls of a replay, in order. All that is enqueued on lane 0 before comes before it, all after comes after."""
    plain, urgent = lanes
    graphs = graphs and plain.asynchronous
    whole = graphs and all(operation.lane is not None and operation.fixed for operation in operations)
    inner = list(_segments(operations, lanes)) if graphs and not whole else [operation.call for operation in operations]
    replayed = inner if urgent is plain else _joined(inner, lanes)
    return [captured(plain, replayed)] if whole and len(replayed) >= WORTH else replayed


def _joined(inner: list[Call], lanes: tuple[Lane, Lane]) -> list[Call]:
    """Let the urgent lane follow the plain one at the start, and the plain one the urgent one at the end."""
    plain, urgent = lanes
    fork, join = plain.event(), urgent.event()
    return [plain.recorder(fork), urgent.waiter(fork), *inner, urgent.recorder(join), plain.waiter(join)]


def _segments(operations: Sequence[Operation], lanes: tuple[Lane, Lane]) -> Iterator[Call]:
    """Runs of launches on a lane as graphs; events, and what the host does, between them."""
    runs: dict[int, list[Call]] = {0: [], 1: []}

    def closed(number: int) -> list[Call]:
        run, runs[number] = runs[number], []
        return [captured(lanes[number], run)] if len(run) >= WORTH else run

    for operation in operations:
        if operation.lane is not None and operation.fixed and operation.kind not in ("record", "wait"):
            runs[operation.lane].append(operation.call)
            continue
        # Where the host may wait, nothing is held back: others may wait for it before they do what the host waits for.
        for number in (0, 1) if operation.lane is None or not operation.fixed else (operation.lane,):
            yield from closed(number)
        yield operation.call
    for number in (0, 1):
        yield from closed(number)
