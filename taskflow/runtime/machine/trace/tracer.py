"""Tracing: the graph of a block as a flat list of operations, bound to its arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeGuard, cast

from taskflow.common.caching import cached_property
from taskflow.runtime.machine.device import Call, Event, Lane
from taskflow.runtime.machine.direct import DirectExchange, HostExchange, HostNeighbourhood, Neighbourhood
from taskflow.runtime.machine.trace.binding import Binder
from taskflow.runtime.machine.trace.deadlock import Rings, turns
from taskflow.runtime.machine.trace.gather import Group, gathered, list_keys
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.machine.trace.operation import Kind, Listing, Operation, nothing
from taskflow.runtime.machine.trace.transfer import Transfers
from taskflow.runtime.machine.trace.wavefront import SlabStage, Wavefront
from taskflow.runtime.tasks import (
    AllReduce,
    Analysis,
    Claim,
    Compute,
    Grant,
    Message,
    Node,
    Receive,
    Refresh,
    Send,
    TaskGraph,
)


@dataclass(frozen=True, eq=False)
class Trace:
    """The operations of a block in a pass of a program, and the state of ghost cells after it.

    `operations` do the nodes of `graph`, in order. `slots` are the buffers of messages (see `Rings`), `arrivals` the
    messages posted when the pass begins. `calls` replay the trace. `state` is the number of the valid ghost cells after
    a replay.
    """

    graph: TaskGraph
    operations: list[Operation]
    arrivals: list[Message]
    slots: Mapping[Message, int]
    messages: dict[tuple[int, int], int]
    state: int
    calls: list[Call] = field(default_factory=list)

    @cached_property
    def folded(self) -> tuple[str, ...]:
        """The scalars that are reduced on the device."""
        nodes = (self.graph.nodes[op.nodes[0]] for op in self.operations if op.kind == "reduce" and op.lane is not None)
        return tuple(scalar for node in nodes if isinstance(node, AllReduce) for scalar in node.scalars)


@dataclass(eq=False)
class Tracer:
    """Converts the graph of a block into operations.

    Nodes are taken in the mapper's order. Each runs on its lane (stream) and waits, on the device, for its dependences
    on the other lane. Nodes that wait for other blocks (receives, reductions) come last, in program order, after all
    other ready nodes were enqueued and sent. A claim follows when its message is ready (see `turns`). So blocks cannot
    wait for each other in a circle. `near`: the blocks whose ghost cells are filled directly. Messages to others go
    through buffers and the channel.
    """

    binder: Binder
    transfers: Transfers
    mapper: Mapper
    reduce: Callable[[AllReduce, bool], None]
    lanes: tuple[Lane, Lane]
    near: Neighbourhood | HostNeighbourhood | None = None

    def trace(self, analysis: Analysis, state: int) -> Trace:
        """Bind the graph of this block; for `state` see `Trace`."""
        bound = _Pass(self, analysis)
        operations, rings = bound.operations(), bound.rings
        arriving = (node.message for node in analysis.graph.nodes if isinstance(node, Receive))
        arrivals = [message for message in arriving if message in rings.slots and message not in rings.earlier]
        return Trace(analysis.graph, operations, arrivals, rings.slots, analysis.messages, state)

    def direct(self, message: Message) -> bool:
        """Return whether a message is copied directly into the ghost cells of its target."""
        return self.near is not None and self.near.reaches(message)

    def priority(self, node: Node) -> int:
        """Return the rank of the mapper, except 0 for a claim of a buffered message, which waits for no block."""
        return 0 if isinstance(node, Claim) and not self.direct(node.message) else self.mapper.priority(node)


class _Pass:
    """Conversion of one graph to operations."""

    def __init__(self, tracer: Tracer, analysis: Analysis) -> None:
        self.tracer, self.graph, self.lanes = tracer, analysis.graph, tracer.lanes
        near = tracer.near
        messages = {node.message for node in self.graph.nodes if isinstance(node, Send | Receive)}
        self.exchange: DirectExchange | HostExchange | None = near.exchange(messages) if near is not None else None
        self.folds_on_device = near is not None and near.complete
        two, mapper = self.lanes[0] is not self.lanes[1], tracer.mapper
        self.numbers = [int(two and urgent) for urgent in mapper.urgent(self.graph.nodes, tracer.direct)]
        computed = [node for node in self.graph.nodes if isinstance(node, Compute)]
        self.middles = {node.launch: n for n, node in enumerate(self.graph.nodes) if _is(node, "middle")}
        self.contributing = {node.launch for node in computed if node.contributes}
        self.alone = any(len(node.partition) == 1 for node in computed)
        self.wavefront = Wavefront(tracer.binder, mapper.cache)
        self.sends: list[Operation] = []  # messages whose packing has been enqueued
        self.claims: list[tuple[int, Any]] = []  # the next copy waits for these
        self.stages: list[tuple[int, SlabStage]] = []  # launches that can be done slab by slab
        self.list = self._listing()
        order = turns(self.graph, self.numbers, tracer.direct).order(tracer.priority)
        self.listed = list_keys(self.graph, self.numbers, gpu=self.lanes[0].asynchronous, debug=mapper.debug)
        self.groups = gathered(self.graph, order, self.listed)
        self.order = [n for group in self.groups for n in group]
        self.rings = Rings(self.graph, self.order, lambda message: not tracer.direct(message))
        self.receives = {node.message: n for n, node in enumerate(self.graph.nodes) if isinstance(node, Receive)}
        self.waits = self._waits()
        self.events = self._events()

    def operations(self) -> list[Operation]:
        waits, events = self.waits, self.events
        for group in self.groups:
            n = group[0]
            if self.listed[n] is not None:
                self._list(group)
                continue
            node, number = self.graph.nodes[n], self.numbers[n]
            lane = self.lanes[number]
            if not lane.asynchronous and (more := self.wavefront.stages(node, lane)) is not None:
                self.stages += [(n, stage) for stage in more]
                continue
            self._flush(sends=isinstance(node, Receive | AllReduce) or self._takes_turns(node))
            if n in waits:
                self.list.add([Operation(lane.waiter(events[waits[n]]), "wait", (waits[n],), number)])
            self._node(n, node, number)
            if n in events:
                self.list.add([Operation(lane.recorder(events[n]), "record", (n,), number)])
            if isinstance(node, Send) and not self.tracer.direct(node.message):
                call = partial(self.tracer.transfers.send, node.message, self.rings.slots[node.message], events.get(n))
                self.sends.append(Operation(call, "send", (n,)))
                if not lane.asynchronous:
                    self._flush(sends=True)
        self._flush(sends=True)
        return self.list.operations()

    def _list(self, group: Group) -> None:
        """Do point tasks in one launch, which waits for all their dependences."""
        number = self.numbers[group[0]]
        lane, nodes = self.lanes[number], cast(list[Compute], [self.graph.nodes[n] for n in group])
        self._flush(sends=False)
        for last in (self.waits[n] for n in group if n in self.waits):
            self.list.add([Operation(lane.waiter(self.events[last]), "wait", (last,), number)])
        self.list.add([Operation(self.tracer.binder.compute_all(nodes, lane), "compute", group, number)])
        for n in (n for n in group if n in self.events):
            self.list.add([Operation(lane.recorder(self.events[n]), "record", (n,), number)])

    def _takes_turns(self, node: Node) -> bool:
        """Return whether a message reuses a buffer, or waits for claims."""
        return isinstance(node, Send) and (node.message in self.rings.earlier or bool(self.claims))

    def _waits(self) -> dict[int, int]:
        """Return, for each node that must wait for the other lane, its last dependence there.

        Dependences already covered by an earlier wait of its lane are omitted.
        """
        place, waited, awaited = {n: i for i, n in enumerate(self.order)}, [-1, -1], {}
        for n in self.order:
            mine = self.numbers[n]
            last = max((m for m in self.graph.waits[n] if self.numbers[m] != mine), key=place.__getitem__, default=None)
            if last is not None and place[last] > waited[mine]:
                waited[mine], awaited[n] = place[last], last
        return awaited

    def _events(self) -> dict[int, Event]:
        """Return an event for every node that the other lane waits for, or that the host does (packing, unpacking)."""
        lanes = [self.lanes[number] for number in self.numbers]
        packed = {
            n
            for n, node in enumerate(self.graph.nodes)
            if isinstance(node, Send) and lanes[n].asynchronous and not self.tracer.direct(node.message)
        }
        return {n: lanes[n].event() for n in packed.union(self._unpacked(packed), self.waits.values())}

    def _unpacked(self, packed: Collection[int]) -> Iterator[int]:
        """Yield receives that the host must know to be done before it posts another message into their buffer, unless
        packing that it waits for follows on their lane.
        """
        place = {n: i for i, n in enumerate(self.order)}
        for message, later in self.rings.posts.items():
            n = self.receives[self.rings.earlier[later]]
            known = range(place[n], place[self.receives[message]])
            if self.lanes[self.numbers[n]].asynchronous and not any(
                self.order[i] in packed and self.numbers[self.order[i]] == self.numbers[n] for i in known
            ):
                yield n

    def _flush(self, *, sends: bool) -> None:
        """Add deferred stages, and sends if requested, to the list."""
        nodes = {stage: n for n, stage in self.stages}
        slabs = self.wavefront.operations([stage for _, stage in self.stages])
        self.list.add(Operation(call, "compute", (nodes[stage],), 0) for stage, call in slabs)
        self.stages = []
        if sends:
            self.list.add(self.sends)
            self.sends = []

    def _node(self, n: int, node: Node, number: int) -> None:
        lane, binder, transfers = self.lanes[number], self.tracer.binder, self.tracer.transfers
        if isinstance(node, Compute):
            fixed = (node.launch.task.kernel or node.launch.task.library) is not None
            self.list.add([Operation(binder.compute(node, lane), "compute", (n,), number, fixed)])
        elif isinstance(node, Refresh):
            self._enqueue("copy", n, number, binder.copies(node.copies, lane))
        elif isinstance(node, AllReduce):
            self._reduce(n, node, number)
        elif self.tracer.direct(node.message):
            self._exchange(n, node, number)
        elif isinstance(node, Send):
            slot = self.rings.slots[node.message]
            self.list.add([Operation(partial(transfers.finish, node.message, slot), "free", (n,))])
            self._enqueue("pack", n, number, transfers.pack(node.message, slot, lane))
        elif isinstance(node, Receive):
            slot = self.rings.slots[node.message]
            if node.message in self.rings.posts:
                self._post(self.rings.posts[node.message])
            self.list.add([Operation(partial(transfers.finish, node.message, slot), "receive", (n,))])
            self._enqueue("unpack", n, number, transfers.unpack(node.message, slot, lane))

    def _post(self, message: Message) -> None:
        event = self.events.get(self.receives[self.rings.earlier[message]])
        call = partial(self.tracer.transfers.post, message, self.rings.slots[message], event)
        self.list.add([Operation(call, "post", (self.receives[message],))])

    def _enqueue(self, kind: Kind, n: int, number: int, calls: Iterable[Call]) -> None:
        self.list.add(Operation(call, kind, (n,), number) for call in calls)

    def _reduce(self, n: int, node: AllReduce, number: int) -> None:
        contributes = node.launch in self.contributing
        if contributes and self.alone:
            self.list.add([Operation(nothing, "reduce", (n,), number)])
        elif self.exchange is not None and self.folds_on_device:
            values = [self.tracer.binder.scalars.array(scalar) for scalar in node.scalars]
            self._enqueue("reduce", n, number, [self.exchange.fold(node, values, contributes, self.lanes[number])])
        else:
            self.list.add([Operation(partial(self.tracer.reduce, node, contributes), "reduce", (n,))])

    def _exchange(self, n: int, node: Grant | Claim | Send | Receive, number: int) -> None:
        assert self.exchange is not None
        message = node.message
        if isinstance(node, Grant):
            self.list.join("signal", number, n, [self.exchange.grant(message)])
        elif isinstance(node, Claim):
            self.claims.append((n, self.exchange.claim(message)))
        elif isinstance(node, Receive):
            self.list.join("await", number, n, [self.exchange.arrival(message)])
            if packed := self.exchange.unpack(message):
                self.list.join("unpack", number, n, packed)
        else:
            while self.claims:
                claim, flag = self.claims.pop(0)
                self.list.join("await", number, claim, [flag])
            self.list.join("pack", number, n, self.exchange.copies(message))
            self.list.join("signal", number, n, [self.exchange.sent(message)])

    def _listing(self) -> Listing:
        """Return an empty list that joins operations of direct messages."""
        exchange, lanes = self.exchange, self.lanes
        if exchange is None:
            return Listing(lambda *_: [], lambda *_: [])
        return Listing(
            lambda kind, items, number: exchange.bind(kind, items, lanes[number]),
            lambda claims, pairs, flags, number, nodes: exchange.send(
                claims, pairs, flags, lanes[number], hidden=all(map(self._hidden, nodes))
            ),
        )

    def _hidden(self, send: int) -> bool:
        """Return whether a message is sent while the middle of a launch, whose edge it contains, runs on the other
        lane.
        """
        edges = [node for node in map(self.graph.nodes.__getitem__, self.graph.waits[send]) if _is(node, "edge")]
        middles = {self.middles[edge.launch] for edge in edges if edge.launch in self.middles}
        beside = {middle for middle in middles if self.numbers[middle] != self.numbers[send]}
        return bool(beside - _behind(send, min(beside, default=send), self.graph.waits))


def _is(node: Node, part: str) -> TypeGuard[Compute]:
    return isinstance(node, Compute) and node.part == part


def _behind(node: int, first: int, waits: Sequence[Collection[int]]) -> set[int]:
    """Return the direct and indirect dependences of a node, from number `first` on."""
    behind, ahead = set[int](), [node]
    while ahead:
        new = {n for n in waits[ahead.pop()] if n >= first} - behind
        behind |= new
        ahead += new
    return behind
