"""Traces: the analysed step of one block as a flat list of operations, bound to its arrays and ready to be replayed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from taskflow.machine.binding import Binder
from taskflow.machine.lane import Event, Lane, lanes
from taskflow.machine.mapper import Mapper
from taskflow.machine.transfer import Transfers
from taskflow.machine.wavefront import Stage, Wavefront
from taskflow.tasks import AllReduce, Analysis, Compute, Launch, Message, Node, Receive, Refresh, Roles, Send, TaskGraph

Operation = Callable[[], None]


@dataclass(frozen=True, eq=False)
class Trace:
    """What a block does in a step, and the state in which the step leaves the program.

    `arrivals` are the messages that come in. `roles` and the number `state` of the valid ghost cells hold when it has
    been replayed.
    """

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
        lanes = [self.lanes[self.mapper.urgent(node)] for node in graph.nodes]
        events = self._events(graph, lanes)
        contributing = {node.launch for node in graph.nodes if isinstance(node, Compute)}
        operations: list[Operation] = []
        sends: list[Operation] = []  # of messages whose packing has been enqueued
        stages: list[Stage] = []  # launches that can be done slab by slab
        for n in graph.order(self.mapper.priority):
            node, lane = graph.nodes[n], lanes[n]
            if not lane.asynchronous and (more := self.wavefront.stages(node, lane)) is not None:
                stages += more
                continue
            operations += self.wavefront.operations(stages)
            stages = []
            if isinstance(node, Receive | AllReduce):
                operations += sends
                sends = []
            operations += [lane.waiter(events[m]) for m in sorted(graph.waits[n]) if lanes[m] is not lane]
            operations += self._node(node, lane, contributing)
            if n in events:
                operations.append(lane.recorder(events[n]))
            if isinstance(node, Send):
                (sends if lane.asynchronous else operations).append(
                    partial(self.transfers.send, node.message, events.get(n))
                )
        operations += self.wavefront.operations(stages)
        arrivals = [node.message for node in graph.nodes if isinstance(node, Receive)]
        return Trace(operations + sends, arrivals, analysis.messages, roles, state)

    def _events(self, graph: TaskGraph, lanes: list[Lane]) -> dict[int, Event]:
        """An event for every node that a node on another lane waits for, and for packing, which the host waits for."""
        watched = {m for n, waits in enumerate(graph.waits) for m in waits if lanes[m] is not lanes[n]}
        watched |= {n for n, node in enumerate(graph.nodes) if isinstance(node, Send) and lanes[n].asynchronous}
        return {n: lanes[n].event() for n in watched}

    def _node(self, node: Node, lane: Lane, contributing: set[Launch]) -> list[Operation]:
        if isinstance(node, Compute):
            return [self.binder.compute(node, lane)]
        if isinstance(node, Send):
            return self.transfers.pack(node.message, lane)
        if isinstance(node, Refresh):
            return [self.binder.copy(name, copy, lane) for name, copy in node.copies]
        if isinstance(node, Receive):
            return [partial(self.transfers.finish, node.message), *self.transfers.unpack(node.message, lane)]
        return [partial(self.reduce, node, node.launch in contributing)]
