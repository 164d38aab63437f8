"""In which order a block does the nodes of a pass, on which lane each, and which buffers its messages share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from taskflow.runtime.machine.mapper import Mapper
from taskflow.runtime.machine.trace.deadlock import Rings, turns
from taskflow.runtime.tasks import Claim, Message, Node, TaskGraph


@dataclass(frozen=True, eq=False)
class Ordering:
    """Numbers of nodes in the order in which they are enqueued; by node the number of its lane; the buffers."""

    order: Sequence[int]
    lanes: Sequence[int]
    rings: Rings

    @classmethod
    def of(cls, graph: TaskGraph, mapper: Mapper, direct: Callable[[Message], bool], *, two: bool) -> Ordering:
        """That of the graph of a block, on a device with `two` lanes or one; `direct` messages need no buffers."""
        lanes = [int(two and urgent) for urgent in mapper.urgent(graph.nodes, direct)]

        def priority(node: Node) -> int:
            """The rank of the mapper, but 0 for a claim of a message with buffers, which waits for nobody."""
            return 0 if isinstance(node, Claim) and not direct(node.message) else mapper.priority(node)

        order = turns(graph, lanes, direct).order(priority)
        return cls(order, lanes, Rings(graph, order, lambda message: not direct(message)))
