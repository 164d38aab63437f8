"""Dependence analysis: from launches in program order to the graph of what each block does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from taskflow.regions import Box, Copy, Partition
from taskflow.tasks.exchange import GhostAnalysis, Moments, Valid
from taskflow.tasks.graph import AllReduce, Claim, Compute, Grant, Message, Node, Receive, Refresh, Send, TaskGraph
from taskflow.tasks.task import Launch


@dataclass(frozen=True, eq=False)
class Analysis:
    """A step analysed: the graph of the given blocks, the ghost cells valid after it, messages per pair of blocks.

    Ghost cells and messages (a block's copies to itself count as one) are complete for the given blocks; others may
    miss some.
    """

    graph: TaskGraph
    valid: Valid
    messages: dict[tuple[int, int], int]


def analyse(
    launches: Sequence[Launch],
    partition: Partition,
    *,
    following: Sequence[Launch] = (),
    valid: Valid | None = None,
    blocks: Iterable[int] | None = None,
    split: bool = True,
) -> Analysis:
    """The task graph of a step for `blocks` (all of them by default).

    Two nodes of a block are ordered when one writes cells that the other reads or writes (RAW, WAR, WAW). Between
    blocks a receive waits for its send, a claim for its grant and a send for its claim, an all-reduce for the shares of
    all. With `split`, a
    launch whose results travel is cut into edge (the layers that travel) and middle, so that the middle can overlap
    with the transfer.
    `following` and `valid`: see `GhostAnalysis.moments`. Raises BadInput where a launch is impossible on this
    partition.
    """
    launches = _distinct(launches)
    mine = sorted(range(len(partition)) if blocks is None else blocks)
    scope = frozenset(mine).union(*(partition.neighbours[block] for block in mine))
    moments, after = GhostAnalysis(partition, scope).moments(launches, following, valid or {})
    messages = _messages(moments)
    graph, accesses = TaskGraph(), {block: _Accesses() for block in mine}
    sends: dict[Message, int] = {}
    grants: dict[Message, int] = {}
    claims: dict[Message, int] = {}
    for block in mine:
        edges = _edge_boxes(launches, partition, block, messages) if split else {}
        first = len(graph.nodes)
        for node in _nodes(launches, partition, block, edges, messages):
            graph.waits.append({first + m for m in accesses[block].add(node)})
            if isinstance(node, Send):
                sends[node.message] = len(graph.nodes)
            if isinstance(node, Grant):
                grants[node.message] = len(graph.nodes)
            if isinstance(node, Claim):
                claims[node.message] = len(graph.nodes)
            graph.nodes.append(node)
    producers: dict[Launch, set[int]] = defaultdict(set)
    for n, node in enumerate(graph.nodes):
        if isinstance(node, Compute) and node.launch.reductions:
            producers[node.launch].add(n)
    for n, node in enumerate(graph.nodes):
        if isinstance(node, Receive) and node.message in sends:
            graph.waits[n].add(sends[node.message])
        if isinstance(node, Claim) and node.message in grants:
            graph.waits[n].add(grants[node.message])
        if isinstance(node, Send):
            graph.waits[n].add(claims[node.message])
        if isinstance(node, AllReduce):
            graph.waits[n] |= producers[node.launch]
    count: dict[tuple[int, int], int] = defaultdict(int)
    for _, message in messages:
        count[message.source, message.target] += 1
    return Analysis(graph, after, dict(count))


def _distinct(launches: Sequence[Launch]) -> list[Launch]:
    """The launches, with a copy in the place of each that occurs again: nodes are told apart by their launch."""
    found: dict[Launch, None] = {}
    for launch in launches:
        found[replace(launch) if launch in found else launch] = None
    return list(found)


def _messages(moments: Moments) -> list[tuple[int, Message]]:
    """All copies of one moment between two blocks as one message; those within a block as a message to itself."""
    found: list[tuple[int, Message]] = []
    count: dict[tuple[int, int], int] = defaultdict(int)
    for moment in sorted(moments):
        pairs: dict[tuple[int, int], list[tuple[str, Copy]]] = {}
        for name, copy in moments[moment]:
            pairs.setdefault((copy.source, copy.target), []).append((name, copy))
        for (source, target), copies in sorted(pairs.items()):
            found.append((moment, Message(source, target, count[source, target], tuple(copies))))
            count[source, target] += 1
    return found


def _edge_boxes(
    launches: Sequence[Launch], partition: Partition, block: int, messages: list[tuple[int, Message]]
) -> dict[int, list[Box]]:
    """Per launch: the cells it writes that travel to another block before anything overwrites them."""
    edges: dict[int, list[Box]] = defaultdict(list)
    owned = partition.owned[block]
    for moment, message in messages:
        if message.source != block or message.target == block:
            continue
        for name, copy in message.copies:
            rest = [copy.source_box]
            for n in range(moment, -1, -1):
                if not rest:
                    break
                if name in launches[n].written:
                    cells = launches[n].over & owned
                    edges[n] += [hit for box in rest if (hit := box & cells)]
                    rest = [piece for box in rest for piece in box.subtract(cells)]
    return edges


def _middle(cells: Box, travelling: Iterable[Box]) -> Box:
    """`cells` without whole layers at their sides, as few cells as it takes to leave all travelling boxes out."""
    middle = cells
    for box in sorted(travelling, key=lambda box: -box.volume):
        if box.meets(middle):
            lo, hi, shape = middle.lo, middle.hi, middle.shape
            behind = [middle.layer(a, 0, box.hi[a] - lo[a], shape[a]) for a in (2, 1, 0)]
            before = [middle.layer(a, 1, hi[a] - box.lo[a], shape[a]) for a in (2, 1, 0)]
            middle = max(behind + before, key=lambda box: box.volume)
    return middle


def _nodes(
    launches: Sequence[Launch],
    partition: Partition,
    block: int,
    edges: dict[int, list[Box]],
    messages: list[tuple[int, Message]],
) -> Iterable[Node]:
    """What one block does, in program order."""
    transfers: dict[int, list[Message]] = defaultdict(list)
    for moment, message in messages:
        if block in (message.source, message.target):
            transfers[moment].append(message)
    yield from _permission(block, transfers[-1])
    yield from _transfer(block, transfers[-1])
    for n, launch in enumerate(launches):
        yield from _permission(block, transfers[n])
        cells = launch.over & partition.owned[block]
        middle = _middle(cells, edges.get(n, ()))
        if cells and middle != cells and not launch.reductions:
            yield from (Compute(block, launch, box, "edge") for box in cells.subtract(middle))
            if middle:
                yield Compute(block, launch, middle, "middle")
        elif cells:
            yield Compute(block, launch, cells, "whole")
        yield from (AllReduce(block, launch, name, operator) for name, operator in launch.reductions.values())
        yield from _transfer(block, transfers[n])


def _permission(block: int, messages: list[Message]) -> Iterable[Node]:
    """What comes before the launch whose results travel: its messages' ghost cells are given away, and asked for.

    So early, because then a block can wait in program order and no two blocks wait for each other. Nothing reads these
    ghost cells any more: the launch itself reads no cell that it writes elsewhere.
    """
    yield from (Grant(block, m) for m in messages if m.target == block != m.source)
    yield from (Claim(block, m) for m in messages if m.source == block != m.target)


def _transfer(block: int, messages: list[Message]) -> Iterable[Node]:
    """A block's part in the messages of one moment: sends first, so that no two blocks wait for each other."""
    yield from (Send(block, m) for m in messages if m.source == block != m.target)
    yield from (Refresh(block, m.copies) for m in messages if m.source == block == m.target)
    yield from (Receive(block, m) for m in messages if m.target == block != m.source)


class _Accesses:
    """Who touched which cells of a block last.

    Nodes are numbered in the order in which they are added. An access is forgotten where a later one that waits for it
    stands for it: a write for everything it overwrites, a read for an earlier read. So the number of accesses kept does
    not grow with the program.
    """

    def __init__(self) -> None:
        self.reads: dict[str, list[tuple[int, Box]]] = defaultdict(list)
        self.writes: dict[str, list[tuple[int, Box]]] = defaultdict(list)
        self.before: list[int] = []  # per node: bit m is set where it comes after node m

    def add(self, node: Node) -> set[int]:
        """Register the next node; returns what it has to wait for, less what another of these waits for already."""
        touched = [(name, cells, privilege.changes) for name, cells, privilege in node.accesses()]
        interfering: set[int] = set()
        for name, cells, changes in touched:
            interfering.update(m for m, box in self.writes[name] if box.meets(cells))
            if changes:
                interfering.update(m for m, box in self.reads[name] if box.meets(cells))
        waits, before = set(), 0
        for m in sorted(interfering, reverse=True):
            if not before >> m & 1:
                waits.add(m)
                before |= self.before[m] | 1 << m
        n = len(self.before)
        for name, cells, changes in touched:
            if changes:
                self.writes[name] = [*_outside(cells, self.writes[name]), (n, cells)]
                self.reads[name] = _outside(cells, self.reads[name])
            else:
                later = [(m, box) for m, box in self.reads[name] if not before >> m & 1 or box not in cells]
                self.reads[name] = [*later, (n, cells)]
        self.before.append(before)
        return waits


def _outside(cells: Box, accesses: list[tuple[int, Box]]) -> list[tuple[int, Box]]:
    """What the accesses touched besides `cells`."""
    kept: list[tuple[int, Box]] = []
    for m, box in accesses:
        if box.meets(cells):
            kept += [(m, piece) for piece in box.subtract(cells)]
        else:
            kept.append((m, box))
    return kept
