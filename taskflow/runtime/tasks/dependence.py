"""Dependence analysis: from launches in program order to the graph of what each block does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from taskflow.runtime.regions import Partition
from taskflow.runtime.tasks.exchange import exchange
from taskflow.runtime.tasks.ghosts import Geometries, Valid
from taskflow.runtime.tasks.graph import (
    AllReduce,
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
from taskflow.runtime.tasks.order import Order, States, Uses
from taskflow.runtime.tasks.poison import Poison
from taskflow.runtime.tasks.split import Cut, Splitter, Tiles, rows
from taskflow.runtime.tasks.task import Launch

FIRST: dict[type[Node], type[Node]] = {Receive: Send, Claim: Grant, Send: Claim}  # what comes before, on any block


class Known:
    """Results that analyses for some blocks of a partition share with the next one.

    A step is analysed once for each state in which it is met, and in all of them it touches the same cells.
    """

    def __init__(self, partition: Partition, blocks: Collection[int]) -> None:
        self.geometries, self.uses, self.states = Geometries.of(partition, blocks), Uses(), States()


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
    split: bool | Collection[int] = True,
    tiles: Tiles = rows,
    poisoned: bool = False,
    known: Known | None = None,
) -> Analysis:
    """The task graph of a step for `blocks` (all of them by default).

    Two nodes of a block are ordered when one writes cells that the other reads or writes (RAW, WAR, WAW). Between
    blocks a receive waits for its send, a claim for its grant and a send for its claim, an all-reduce for the shares of
    all.

    Launches whose results travel are cut into edge (the layers that travel) and middle, so that the middle can overlap
    with the transfer; where `split` holds positions of launches, only these are, and none where it is False. Edges
    are whole `tiles` along directions in which half of one is left for the middle.
    `following` and `valid`: see `exchange`; `poisoned`: see `Poison`. `known` is what was worked out before for these
    blocks. Raises BadInput where a launch is impossible on this partition.
    """
    launches = _distinct(launches)
    mine = sorted(range(len(partition)) if blocks is None else blocks)
    geometries = known.geometries if known else None
    exchanged = exchange(launches, partition, following=following, valid=valid, blocks=mine, known=geometries)
    splitter = Splitter(launches, range(len(launches)) if split is True else split or (), tiles)
    uses, states = (known.uses, known.states) if known else (Uses(), States())
    graph, messages = TaskGraph(), exchanged.by_block()
    for block in mine:
        parts = splitter.parts(block, partition, messages[block])
        first, order = len(graph.nodes), Order(states)
        poison = Poison(partition, block) if poisoned else None
        for node in _nodes(Share(block, partition, parts, messages[block]), launches, poison, valid or {}):
            graph.nodes.append(node)
            graph.waits.append({first + m for m in order.add(uses.of(node))})
    _between_blocks(graph)
    return Analysis(graph, exchanged.valid, exchanged.count)


def _between_blocks(graph: TaskGraph) -> None:
    """Add what nodes wait for on other blocks."""
    numbers: dict[tuple[type[Node], Message], int] = {}
    producers: dict[Launch, set[int]] = defaultdict(set)
    for n, node in enumerate(graph.nodes):
        if isinstance(node, Grant | Claim | Send):
            numbers[type(node), node.message] = n
        elif isinstance(node, Compute) and node.launch.task.reductions:
            producers[node.launch].add(n)
    for node, waits in zip(graph.nodes, graph.waits, strict=True):
        if isinstance(node, AllReduce):
            waits |= producers[node.launch]
        elif isinstance(node, Claim | Send | Receive) and (FIRST[type(node)], node.message) in numbers:
            waits.add(numbers[FIRST[type(node)], node.message])


def _distinct(launches: Sequence[Launch]) -> list[Launch]:
    """The launches, with a copy in the place of each that occurs again: nodes are told apart by their launch."""
    distinct: dict[Launch, None] = {}
    for launch in launches:
        distinct[replace(launch) if launch in distinct else launch] = None
    return list(distinct)


@dataclass(frozen=True, eq=False)
class Share:
    """The work of one block: parts of each launch, and the messages that it takes part in, by moment."""

    block: int
    partition: Partition
    parts: Sequence[Sequence[Cut]]
    messages: Mapping[int, Sequence[Message]]


def _nodes(share: Share, launches: Sequence[Launch], poison: Poison | None, valid: Valid) -> Iterable[Node]:
    """Yield the nodes of one block, in program order."""
    block = share.block
    yield from poison.before(valid) if poison else ()
    yield from _permission(block, share.messages.get(-1, ()))
    yield from _transfer(block, share.messages.get(-1, ()))
    for n, (launch, parts) in enumerate(zip(launches, share.parts, strict=True)):
        before = [*(poison.instead(launch) if poison else ()), *_permission(block, share.messages.get(n, ()))]
        yield from () if launch.coloured else before
        for m, (box, part, piece, cells, middle) in enumerate(parts):
            yield Compute(block, launch, box, part, share.partition, piece, cells, middle, m == 0)
        yield from before if launch.coloured else ()
        if launch.task.reductions:
            yield AllReduce(block, launch)
        yield from _transfer(block, share.messages.get(n, ()))


def _permission(block: int, messages: Sequence[Message]) -> Iterable[Node]:
    """Yield what precedes a launch whose results travel: the ghost cells of its messages are granted, and claimed.

    So early, because then a block can wait in program order and no two blocks wait for each other. Nothing reads these
    ghost cells any more: the launch itself reads no cell that it writes elsewhere. One that is coloured does read them,
    and gives them away behind it: what a block waits for depends on earlier launches and on this one, which waits for
    nobody.
    """
    yield from (Grant(block, m) for m in messages if m.target == block != m.source)
    yield from (Claim(block, m) for m in messages if m.source == block != m.target)


def _transfer(block: int, messages: Sequence[Message]) -> Iterable[Node]:
    """A block's part in the messages of one moment: sends first, so that no two blocks wait for each other."""
    yield from (Send(block, m) for m in messages if m.source == block != m.target)
    yield from (Refresh(block, m.copies) for m in messages if m.source == block == m.target)
    yield from (Receive(block, m) for m in messages if m.target == block != m.source)
