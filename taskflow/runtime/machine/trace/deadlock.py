"""Freedom from deadlock: dependences that order the waits of a block, and buffers that messages of a pass share.

`turns` orders the nodes of a block: a wait on a device never delays a node that is earlier in the program and that
another block needs.

`Rings` are the buffers. Messages of one size from one block to another use a few buffers cyclically, at both ends. A
receive is posted when its buffer has been unpacked. A message is packed when its buffer has been taken, that is, when
the other block has posted the receive. So a block may wait for a buffer, and two rules prevent circular waits:

- A receiver posts a message no later than it waits for an earlier one of the ring.
- A sender reuses a buffer only after all nodes that precede, in program order, the receive of the old message. Then it
  does not follow a block that the receiver could wait for.

A ring has more than `DEPTH` buffers if these are too few for the second rule, or if messages are not in the order of
their numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise

from taskflow.runtime.tasks import AllReduce, Claim, Grant, Message, Receive, Send, TaskGraph

DEPTH = 4  # buffers of a ring, so many that blocks seldom wait for one


def turns(graph: TaskGraph, lanes: Sequence[int], direct: Callable[[Message], bool]) -> TaskGraph:
    """Return the graph with the dependences that must hold before a node is enqueued. `lanes`: the lane of each node.

    A claim also waits for the dependences of its message, for all earlier nodes on its lane, and for all earlier nodes
    that exchange data with other blocks. A wait therefore delays no earlier node that another block needs, so blocks
    cannot wait for each other in a circle. A node that waits for a claim or a receive waits for all others of its
    moment.
    """
    return TaskGraph(graph.nodes, _together(TaskGraph(graph.nodes, _claims(graph, lanes, direct))))


def _claims(graph: TaskGraph, lanes: Sequence[int], direct: Callable[[Message], bool]) -> list[set[int]]:
    """Return the dependences of each node. A claim also depends on its message's dependences, and on all earlier nodes
    in the program that are on its lane or between blocks.
    """
    sends = {node.message: n for n, node in enumerate(graph.nodes) if isinstance(node, Send)}
    earlier = defaultdict[int, set[int]](set)  # by lane: the last claim there, and later nodes
    between = set[int]()  # blocks: the last claim, and later nodes
    waits_of = []
    for n, (node, waits) in enumerate(zip(graph.nodes, graph.waits, strict=True)):
        mine = earlier[lanes[n]]
        if isinstance(node, Claim) and direct(node.message):
            waits_of.append(waits | mine | between | (graph.waits[sends[node.message]] - {n}))
            mine.clear()
            between = {n}
        else:
            waits_of.append(set(waits))
        mine.add(n)
        if isinstance(node, Grant | Send | Receive | AllReduce):
            between.add(n)
    return waits_of


def _together(graph: TaskGraph) -> list[set[int]]:
    """Return the dependences of each node, where a claim or a receive implies all others of its moment. They arrive at
    about the same time, and one wait and one copy then serve all neighbours.
    """
    moments = dict[int, set[int]]()
    for n, node in enumerate(graph.nodes):
        if isinstance(node, Claim | Receive):
            same = n > 0 and type(graph.nodes[n - 1]) is type(node)
            moments[n] = moments[n - 1] if same else set()
            moments[n].add(n)
    return [
        waits if isinstance(node, Claim | Receive) else waits.union(*(moments[m] for m in waits if m in moments))
        for node, waits in zip(graph.nodes, graph.waits, strict=True)
    ]


class Rings:
    """The buffers of the messages of one block in a pass with its nodes in this `order`.

    `slots` numbers the buffer of each message in its ring; `earlier` is its previous message in this pass. `posts` maps
    a received message to the one that must be posted before the wait for it. Messages that are not `buffered` are
    omitted.
    """

    def __init__(self, graph: TaskGraph, order: Sequence[int], buffered: Callable[[Message], bool]) -> None:
        self.slots: dict[Message, int] = {}
        self.earlier: dict[Message, Message] = {}
        self.posts: dict[Message, Message] = {}
        clear = _clear(graph, order)
        rings: dict[tuple[type, int, int, int], list[Message]] = defaultdict(list)
        for node in (graph.nodes[n] for n in order):
            if isinstance(node, Send | Receive) and buffered(node.message):
                message = node.message
                rings[type(node), message.source, message.target, message.cells].append(message)
        for (kind, *_), ring in rings.items():
            depth = _depth(ring, clear if kind is Send else None)
            for n, message in enumerate(ring):
                self.slots[message] = n % depth
            self.earlier.update(zip(ring[depth:], ring, strict=False))
            if kind is Receive:
                self.posts.update(zip(ring[1:], ring[depth:], strict=False))


Clear = Callable[[Message, Message], bool]


def _depth(ring: Sequence[Message], clear: Clear | None) -> int:
    if any(one.number > other.number for one, other in pairwise(ring)):
        return len(ring)
    depth = DEPTH
    while clear and not all(map(clear, ring, ring[depth:])):
        depth += 1
    return depth


def _clear(graph: TaskGraph, order: Sequence[int]) -> Clear:
    """Return a function: whether all nodes before the receive of an old message are done before a new one is packed."""
    missing, least = len(graph.nodes), {}  # per node: the first node in program order not done before it
    for n in reversed(order):
        least[n] = missing = min(n, missing)
    packed: dict[Message, int] = {}  # per message: `least` of its send
    following: dict[Message, int] = {}  # and the position of the next send, in program order
    last: dict[int, Message] = {}
    for n, node in enumerate(graph.nodes):
        if isinstance(node, Send):
            packed[node.message] = least[n]
            if node.message.target in last:
                following[last[node.message.target]] = n
            last[node.message.target] = node.message
    return lambda old, new: packed[new] >= following[old]
