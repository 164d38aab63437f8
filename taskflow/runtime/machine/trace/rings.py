"""Rings: which messages of a pass share a buffer.

Messages of one size from one block to another take turns with a few buffers, at both ends. A message that comes is
posted when its buffer has been unpacked; one that goes is packed when its buffer has been taken, that is, when the
other block has posted it. So a block may wait for room, and two things keep blocks from waiting in a circle:

- who receives posts a message no later than it waits for an earlier one of the ring;
- who sends takes a buffer again only after all that comes, in program order, before the old message is received: then
  it is behind nobody that the receiver could wait for.

Where a ring of `DEPTH` buffers is too small for the second, or messages come in another order than that of their
numbers, it has more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import pairwise

from taskflow.runtime.tasks import Message, Receive, Send, TaskGraph

DEPTH = 4  # buffers of a ring: blocks seldom run so far apart that they wait for room


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
        self._window = _Window(graph, order)
        rings: dict[tuple[type, int, int, int], list[Message]] = defaultdict(list)
        for node in (graph.nodes[n] for n in order):
            if isinstance(node, Send | Receive) and buffered(node.message):
                message = node.message
                rings[type(node), message.source, message.target, message.cells].append(message)
        for (kind, *_), ring in rings.items():
            depth = self._depth(ring, sends=kind is Send)
            for n, message in enumerate(ring):
                self.slots[message] = n % depth
            self.earlier.update(zip(ring[depth:], ring, strict=False))
            if kind is Receive:
                self.posts.update(zip(ring[1:], ring[depth:], strict=False))

    def _depth(self, ring: Sequence[Message], *, sends: bool) -> int:
        if any(one.number > other.number for one, other in pairwise(ring)):
            return len(ring)
        depth = DEPTH
        while sends and not all(map(self._window.clear, ring, ring[depth:])):
            depth += 1
        return depth


class _Window:
    """How far a block is when it packs a message."""

    def __init__(self, graph: TaskGraph, order: Sequence[int]) -> None:
        missing, least = len(graph.nodes), {}  # per node: the first in program order that is not done before it
        for n in reversed(order):
            least[n] = missing = min(n, missing)
        self._least: dict[Message, int] = {}
        self._next: dict[Message, int] = {}  # per message: where the one after it is sent, in program order
        last: dict[int, Message] = {}
        for n, node in enumerate(graph.nodes):
            if isinstance(node, Send):
                message = node.message
                self._least[message] = least[n]
                if message.target in last:
                    self._next[last[message.target]] = n
                last[message.target] = message

    def clear(self, old: Message, new: Message) -> bool:
        """Whether all is done, before the new message is packed, that comes before the old one is received."""
        return self._least[new] >= self._next[old]
