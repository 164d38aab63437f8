"""Turns: for what the nodes of a block wait before they are enqueued, beside what they wait for on the device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from taskflow.runtime.tasks import AllReduce, Claim, Grant, Message, Receive, Send, TaskGraph


def turns(graph: TaskGraph, lanes: Sequence[int], direct: Callable[[Message], bool]) -> TaskGraph:
    """The graph with what its nodes wait for until they are enqueued, each on the lane of that number.

    A claim comes when all is there that its message waits for, too, but behind all that is earlier in the program on
    its lane, and behind all that other blocks wait for, or that waits for them, and is earlier in the program: so a
    wait holds back nothing that is earlier and that another block needs, and blocks cannot wait for each other in a
    circle. Who waits for a claim or a receive waits for all others of its moment.
    """
    return TaskGraph(graph.nodes, _together(TaskGraph(graph.nodes, _claims(graph, lanes, direct))))


def _claims(graph: TaskGraph, lanes: Sequence[int], direct: Callable[[Message], bool]) -> list[set[int]]:
    """The nodes for which each one waits, and a claim also for what its message waits for, and for what is earlier in
    the program: on its lane, or between blocks.
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
