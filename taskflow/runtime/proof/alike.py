"""Equivalent passes: their blocks do the same, whatever ghost cells are assumed valid before and after them.

Most passes of a program differ only in these assumptions, and many results for one hold for all others.
"""

from __future__ import annotations

from collections.abc import Hashable

from taskflow.runtime.machine.trace.tracer import Trace
from taskflow.runtime.proof.recording import RecordedPass
from taskflow.runtime.tasks import AllReduce, Compute, Launch, Message, Node, Refresh


def form(one: RecordedPass) -> Hashable:
    """Return a key of everything that affects the execution of a pass: passes with equal forms execute identically."""
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
