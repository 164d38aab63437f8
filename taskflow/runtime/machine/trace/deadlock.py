"""Freedom from deadlock: what a block waits for before it enqueues a node, and which messages of a pass share a buffer.

`turns` orders the nodes of a block: a wait on a device holds back nothing that is earlier in the program and that
another block needs.

`Rings` are the buffers. Messages of one size from one block to another take turns with a few, at both ends. A message
that comes is posted when its buffer has been unpacked; one that goes is packed when its buffer has been taken, that is,
when the other block has posted it. So a block may wait for room, and two things keep blocks from waiting in a circle:

- a receiver posts a message no later than it waits for an earlier one of the ring;
- a sender takes a buffer again only after all that comes, in program order, before the old message is received: then it
  is behind nobody that the receiver could wait for.

Where a ring of `DEPTH` buffers is too small for the second, or messages come in another order than that of their
numbers, it has more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise

from taskflow.runtime.tasks import AllReduce, Claim, Grant, Message, Receive, Send, TaskGraph

DEPTH = 4  # buffers of a ring: blocks seldom run so far apart that they wait for room


def turns(graph: TaskGraph, lanes: Sequence[int], direct: Callable[[Message], bool]) -> TaskGraph:
    """The graph with what its nodes wait for until they are enqueued, each on the lane of that number.

    A claim comes when all is there that its message waits for, too, but behind all that is earlier in the program on
    its lane, and behind all that other blocks wait for, or that waits for them, and is earlier in the program: so a
    wait holds back nothing that is earlier and that another block needs, and blocks cannot wait for each other in a
    circle. Who waits for a claim or a receive waits for all others of its moment.
    """
    return TaskGraph(graph.nodes, _together(TaskGraph(graph.nodes, _claims(graph, lanes, direct))))


def _claims(graph: TaskGraph, lanes: Sequence[int], direct: Callable[[Message], bool]) -> list[set[int]]:
    """The nodes for which each one waits; and a claim also for those of its message, and for those that are earlier in
    the program on its lane, or between blocks.
    """
    sends = {node.message: n for n, node in enumerate(graph.nodes) if isinstance(node, Send)}
    earlier = defaultdict[int, set[int]](set)  # by lane: the last claim there, and what came since
    between = set[int]()  # blocks: the last claim, and what came since
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
    """The nodes for which each one waits, and with a claim or a receive all others of its moment: they are there at
    about the same time, and what follows them is then one wait, and one copy, instead of one for each neighbour.
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
    """The buffers of the messages of one block in a pass whose nodes are done in this `order`.

    `slots` numbers the buffer of each message in its ring; `earlier` is what was in it before, in this pass; `posts`
    is, per message that comes, the one to be posted before it is waited for. Left out are messages for which
    `buffered` is false.
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
    """Tells whether all is done, before a new message is packed, that comes before an old one is received."""
    missing, least = len(graph.nodes), {}  # per node: the first in program order that is not done before it
    for n in reversed(order):
        least[n] = missing = min(n, missing)
    packed: dict[Message, int] = {}  # per message: the same where it is sent
    following: dict[Message, int] = {}  # and where the one after it is, in program order
    last: dict[int, Message] = {}
    for n, node in enumerate(graph.nodes):
        if isinstance(node, Send):
            packed[node.message] = least[n]
            if node.message.target in last:
                following[last[node.message.target]] = n
            last[node.message.target] = node.message
    return lambda old, new: packed[new] >= following[old]
