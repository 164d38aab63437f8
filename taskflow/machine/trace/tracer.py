"""Traces: the analysed step of one block as a flat list of operations, bound to its arrays and ready to be replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from taskflow.machine.device import Event, Lane, lanes
from taskflow.machine.mapper import Mapper
from taskflow.machine.trace.binding import Binder
from taskflow.machine.trace.operation import Call, Kind, Operation
from taskflow.machine.trace.transfer import Transfers
from taskflow.machine.trace.wavefront import Stage, Wavefront
from taskflow.tasks import (
    AllReduce,
    Analysis,
    Claim,
    Compute,
    Grant,
    Launch,
    Message,
    Node,
    Receive,
    Refresh,
    Roles,
    Send,
    TaskGraph,
)


@dataclass(frozen=True, eq=False)
class Trace:
    """What a block does in a step, and the state in which the step leaves the program.

    `operations` do the nodes of `graph`, in the order of the list. `arrivals` are the messages that come in. `roles`
    and the number `state` of the valid ghost cells hold when it has been replayed.
    """

    graph: TaskGraph
    operations: list[Operation]
    arrivals: list[Message]
    messages: dict[tuple[int, int], int]
    roles: Roles
    state: int


@dataclass(eq=False)
class Tracer:
    """Turns the graph of a block into operations.

    Nodes are taken in the mapper's order. Each runs on the lane (stream) the mapper gives it and waits, on the
    device, for what the graph says it waits for on other lanes. The host waits only for messages and for reductions;
    before it does, everything that was ready has been enqueued and sent, and it waits in program order: so blocks
    cannot wait for each other in a circle.
    """

    binder: Binder
    transfers: Transfers
    mapper: Mapper
    reduce: Callable[[AllReduce, bool], None]
    lanes: tuple[Lane, Lane] = field(init=False)
    start: Event = field(init=False)
    wavefront: Wavefront = field(init=False)

    def __post_init__(self) -> None:
        self.lanes = lanes(self.binder.device, two=self.mapper.overlap == "full")
        self.start = self.lanes[0].event()
        self.wavefront = Wavefront(self.binder, self.mapper.cache)

    def begin(self) -> None:
        """Let the urgent lane follow what was enqueued on the other one, and wait until the buffers of messages that
        came in have been emptied.
        """
        plain, urgent = self.lanes
        urgent.synchronize()
        if urgent is not plain:
            plain.recorder(self.start)()
            urgent.waiter(self.start)()

    def synchronize(self) -> None:
        """Wait until everything enqueued is done."""
        for lane in self.lanes:
            lane.synchronize()

    def trace(self, analysis: Analysis, roles: Roles, state: int) -> Trace:
        """Bind the graph of this block."""
        graph = analysis.graph
        numbers = [int(self.lanes[1] is not self.lanes[0] and self.mapper.urgent(node)) for node in graph.nodes]
        events = self._events(graph, numbers)
        contributing = {node.launch for node in graph.nodes if isinstance(node, Compute)}
        operations: list[Operation] = []
        sends: list[Operation] = []  # of messages whose packing has been enqueued
        stages: list[tuple[int, Stage]] = []  # launches that can be done slab by slab
        for n in graph.order(self.mapper.priority):
            node, number = graph.nodes[n], numbers[n]
            lane = self.lanes[number]
            if not lane.asynchronous and (more := self.wavefront.stages(node, lane)) is not None:
                stages += [(n, stage) for stage in more]
                continue
            operations += self._slabs(stages)
            stages = []
            if isinstance(node, Receive | AllReduce):
                operations += sends
                sends = []
            operations += [
                Operation(lane.waiter(events[m]), "wait", (m,), number)
                for m in sorted(graph.waits[n])
                if numbers[m] != number
            ]
            operations += self._node(n, node, number, contributing)
            if n in events:
                operations.append(Operation(lane.recorder(events[n]), "record", (n,), number))
            if isinstance(node, Send):
                send = Operation(partial(self.transfers.send, node.message, events.get(n)), "send", (n,))
                (sends if lane.asynchronous else operations).append(send)
        operations += self._slabs(stages)
        arrivals = [node.message for node in graph.nodes if isinstance(node, Receive)]
        return Trace(graph, operations + sends, arrivals, analysis.messages, roles, state)

    def _events(self, graph: TaskGraph, numbers: list[int]) -> dict[int, Event]:
        """An event for every node that a node on another lane waits for, and for packing, which the host waits for."""
        watched = {m for n, waits in enumerate(graph.waits) for m in waits if numbers[m] != numbers[n]}
        watched |= {
            n for n, node in enumerate(graph.nodes) if isinstance(node, Send) and self.lanes[numbers[n]].asynchronous
        }
        return {n: self.lanes[numbers[n]].event() for n in watched}

    def _slabs(self, stages: list[tuple[int, Stage]]) -> Iterable[Operation]:
        """The stages, as operations of the nodes to which they belong."""
        nodes = {stage: n for n, stage in stages}
        for stage, call in self.wavefront.operations([stage for _, stage in stages]):
            yield Operation(call, "compute", (nodes[stage],), 0)

    def _node(self, n: int, node: Node, number: int, contributing: set[Launch]) -> list[Operation]:
        lane = self.lanes[number]

        def enqueued(kind: Kind, calls: Iterable[Call]) -> list[Operation]:
            return [Operation(call, kind, (n,), number) for call in calls]

        if isinstance(node, Compute):
            return enqueued("compute", [self.binder.compute(node, lane)])
        if isinstance(node, Refresh):
            return enqueued("copy", [self.binder.copy(name, copy, lane) for name, copy in node.copies])
        if isinstance(node, AllReduce):
            return [Operation(partial(self.reduce, node, node.launch in contributing), "reduce", (n,))]
        if isinstance(node, Grant | Claim):  # messages have buffers: their source overwrites nothing here
            return []
        finish = partial(self.transfers.finish, node.message)
        if isinstance(node, Send):
            return [Operation(finish, "free", (n,)), *enqueued("pack", self.transfers.pack(node.message, lane))]
        return [Operation(finish, "receive", (n,)), *enqueued("unpack", self.transfers.unpack(node.message, lane))]
