"""Templates as the blocks of a run would record them, without memory, kernels or channels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, cast

from taskflow.runtime.machine.device import Call, Lane, cpu
from taskflow.runtime.machine.direct.board import Rooms
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.machine.trace.tracer import Trace, Tracer
from taskflow.runtime.proof.cells import inboxes
from taskflow.runtime.proof.timeline import Hardware
from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks import (
    AllReduce,
    Analysis,
    Compute,
    Deciding,
    Known,
    Launch,
    Message,
    Node,
    Refresh,
    Stretch,
    Valid,
    analyse,
    deciding,
)

Scalars = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class RecordedPass:
    """A pass of a stretch over all blocks: its launches, each block's template, and the lane on which messages arrive.

    `valid` and `after` are each block's valid ghost cells before and after it. The host sets `scalars` before it.
    """

    launches: tuple[Launch, ...]
    traces: tuple[Trace, ...]
    entry: int
    valid: tuple[Valid, ...]
    after: tuple[Valid, ...]
    scalars: Scalars


class Recorder:
    """The blocks of a run. They record a stretch once for all equivalent states, as `Traces` do."""

    def __init__(self, partition: Partition, hardware: Hardware) -> None:
        self._partition, self._hardware = partition, hardware
        self._known = [Known(partition, [block]) for block in range(len(partition))]
        self._launches: dict[Stretch, tuple[Launch, ...]] = {}
        self._recorded: dict[tuple[Stretch, Mapper], list[tuple[list[Deciding], RecordedPass]]] = defaultdict(list)

    def record(self, stretch: Stretch, valid: Sequence[Valid], mapper: Mapper, scalars: Scalars = ()) -> RecordedPass:
        """Return a pass of all blocks, each with these valid ghost cells."""
        same = self._recorded[stretch, mapper]
        states = zip(valid, self._known, strict=True)
        mine = [deciding(stretch.launches, stretch.following, some, known.geometries) for some, known in states]
        for decided, one in () if mapper.debug else same:
            if all(a.read == b.read for a, b in zip(decided, mine, strict=True)):
                after = tuple(state.after(ghosts) for state, ghosts in zip(mine, one.after, strict=True))
                return replace(one, valid=tuple(valid), after=after, scalars=scalars)
        same.append((mine, self._record(stretch, valid, mapper, scalars)))
        return same[-1][1]

    def _record(self, stretch: Stretch, valid: Sequence[Valid], mapper: Mapper, scalars: Scalars) -> RecordedPass:
        if stretch not in self._launches:  # separate objects, shared by all blocks
            self._launches[stretch] = tuple(replace(launch) for launch in stretch.launches)
        launches, partition, hardware = self._launches[stretch], self._partition, self._hardware
        analyses = [
            analyse(
                launches,
                partition,
                following=stretch.following,
                valid=mine,
                blocks=[block],
                split=mapper.cuts(launches),
                tiles=hardware.tiles,
                poisoned=mapper.debug,
                known=self._known[block],
            )
            for block, mine in enumerate(valid)
        ]
        traces = tuple(template(analysis, partition, mapper, hardware) for analysis in analyses)
        entry, after = int(hardware.streams and mapper.overlap == "full"), tuple(one.valid for one in analyses)
        return RecordedPass(launches, traces, entry, tuple(valid), after, scalars)


def template(analysis: Analysis, partition: Partition, mapper: Mapper, hardware: Hardware) -> Trace:
    """Record the operations of one block, which do nothing."""
    paper, plain = cast(Any, _Paper()), _PaperLane(asynchronous=hardware.streams)
    near = cast(Any, _Near(partition, hardware)) if hardware.near is not None else None
    urgent = _PaperLane(asynchronous=True) if hardware.streams and mapper.overlap == "full" else plain
    tracer = Tracer(paper, paper, replace(mapper, cache=0), _nothing, (plain, urgent), near)
    return tracer.trace(analysis, 0)


def _nothing(*_: Any) -> None:
    """Placeholder for an operation that is only recorded."""


def _call(*_: Any) -> Call:
    return _nothing


def _one(*_: Any, **__: Any) -> list[Call]:
    """Return one operation for any number of copies, posts or waits."""
    return [_nothing]


class _Paper:
    """Placeholder for binder and transfers, with operations that do nothing."""

    device = cpu()
    instances = SimpleNamespace(arrays={})  # without memory no chain is worthwhile
    scalars = SimpleNamespace(array=_nothing)
    compute = compute_all = staticmethod(_call)
    copies = pack = unpack = staticmethod(_one)
    send = post = finish = staticmethod(_nothing)


class _Near:
    """Placeholder for the neighbourhood, and for the exchange of each trace."""

    def __init__(self, partition: Partition, hardware: Hardware) -> None:
        self._partition, self._hardware, self._rooms = partition, hardware, Rooms()
        self.complete = len(set(hardware.near or ())) == 1

    def reaches(self, message: Message) -> bool:
        return self._hardware.sees(message.source, message.target)

    def exchange(self, messages: Iterable[Message]) -> _Near:
        if self._hardware.streams:  # hosts copy directly, however short rows are
            self._rooms = inboxes(self._partition).rooms(messages)
        return self

    def unpack(self, message: Message) -> list[Any]:
        return list(self._rooms.get(message, ()))

    fold = staticmethod(_call)
    grant = claim = sent = arrival = staticmethod(_nothing)
    copies = bind = send = staticmethod(_one)


class _PaperLane(Lane):
    """A lane that does nothing, of a host or of a GPU."""

    def __init__(self, *, asynchronous: bool) -> None:
        self.asynchronous = asynchronous


def form(one: RecordedPass) -> Hashable:
    """Return a key of everything that affects the execution of a pass: passes with equal forms execute identically.

    Most passes of a program differ only in the ghost cells that are assumed valid before and after them, and many
    results for one hold for all others.
    """
    numbers = {launch: n for n, launch in enumerate(one.launches)}
    templates = tuple(_template(trace, numbers) for trace in one.traces)
    return tuple(map(_launch, one.launches)), templates, one.entry, one.scalars


def _launch(launch: Launch) -> Hashable:
    return launch.task, launch.fields, repr(launch.values), launch.boxes, launch.ghosts


def _template(trace: Trace, launches: dict[Launch, int]) -> Hashable:
    messages: dict[Message, int] = {}
    nodes = tuple(_node(node, launches, messages) for node in trace.graph.nodes)
    arrivals = tuple(messages.setdefault(message, len(messages)) for message in trace.arrivals)
    known = tuple((m.source, m.target, m.number, m.copies, trace.slots.get(m)) for m in messages)
    operations = tuple((operation.kind, operation.lane, operation.nodes) for operation in trace.operations)
    return nodes, arrivals, known, operations, tuple(trace.messages.items())


def _node(node: Node, launches: dict[Launch, int], messages: dict[Message, int]) -> Hashable:
    if isinstance(node, Compute):
        piece = id(node.partition), node.piece, node.cells, node.middle
        number = launches[node.launch] if node.launch in launches else _launch(node.launch)  # the launch of poison
        return node.block, number, node.box, node.part, node.first, piece
    if isinstance(node, AllReduce):
        return node.block, launches[node.launch]
    if isinstance(node, Refresh):
        return node.block, node.copies
    return type(node), node.block, messages.setdefault(node.message, len(messages))
