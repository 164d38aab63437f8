"""Dependence analysis: from launches in program order to the graph of each block's work.

Poison are tasks that fill ghost cells with NaN as soon as they are invalid, which exposes reads. A correct program
never reads poisoned cells, and its results are bitwise unchanged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from taskflow.runtime.regions import Box, Copy, Partition, difference
from taskflow.runtime.tasks.define import task
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
from taskflow.runtime.tasks.order import Order, State, Uses
from taskflow.runtime.tasks.privilege import Write
from taskflow.runtime.tasks.reading import common, shares
from taskflow.runtime.tasks.split import Cut, Splitter, Tiles, rows
from taskflow.runtime.tasks.task import Launch

FIRST: dict[type[Node], type[Node]] = {Receive: Send, Claim: Grant, Send: Claim}  # predecessor, on any block


@task
def poison(ghosts: Write) -> None:
    """ghosts = NaN"""
    target: Any = ghosts
    target[...] = np.nan


@dataclass(frozen=True, eq=False)
class Poison:
    """The ghost cells of one block to poison, and when. Integer and constant fields are unchanged, and private ones
    have none.
    """

    partition: Partition
    block: int
    _known: dict[tuple[Partition, int], list[Copy]] = field(default_factory=dict)

    def before(self, valid: Valid) -> Iterator[Compute]:
        """Yield poison for the start of a pass: all invalid ghost cells."""
        for name, home, piece in self._fields(self.partition.fields):
            ghosts = self._ghosts(home, piece)
            yield from self._tasks(name, piece, difference(ghosts, valid.get((piece, name), ())))

    def instead(self, launch: Launch) -> Iterator[Compute]:
        """Yield poison for a launch: the ghost cells that are copies of written cells, and not written by the block
        itself.
        """
        for name, home, piece in self._fields(launch.written):
            mine = shares(launch, self.partition, piece)
            for copy in self._copies(home, piece):
                written = map(copy.turn, common(launch.boxes, [copy.source_box]))
                yield from self._tasks(name, piece, difference(written, mine))

    def _ghosts(self, home: Partition, piece: int) -> list[Box]:
        return difference([home.clip(home.memory[piece])], home.own[piece])

    def _copies(self, home: Partition, piece: int) -> list[Copy]:
        if (home, piece) not in self._known:
            self._known[home, piece] = home.sources(piece, self._ghosts(home, piece))
        return self._known[home, piece]

    def _fields(self, names: Iterable[str]) -> Iterator[tuple[str, Partition, int]]:
        for name in names:
            field, home = self.partition.fields[name], self.partition.homes[name]
            if np.dtype(field.dtype).kind == "f" and not field.constant and not field.private:
                yield from ((name, home, piece) for piece in home.pieces_of(self.block))

    def _tasks(self, name: str, piece: int, boxes: Iterable[Box]) -> Iterator[Compute]:
        tasks = ((poison(name, over=box), box) for box in boxes if box)
        return (Compute(self.block, launch, box, "whole", self.partition, piece, box) for launch, box in tasks)


class Known:
    """Results that analyses for some blocks of a partition share.

    A step is analysed once per state, and accesses the same cells in all of them.
    """

    def __init__(self, partition: Partition, blocks: Collection[int]) -> None:
        self.geometries, self.uses, self.states = Geometries.of(partition, blocks), Uses(), cache(State)


@dataclass(frozen=True, eq=False)
class Analysis:
    """An analysed step: the graph of the given blocks, the ghost cells valid after it, messages per pair of blocks.

    Ghost cells and messages (a block's copies to itself count as one) are complete for the given blocks only.
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
    """Return the task graph of a step for `blocks` (default: all).

    Two nodes of a block are ordered if one writes cells that the other reads or writes (RAW, WAR, WAW). Between blocks
    a receive waits for its send, a claim for its grant, a send for its claim, and an all-reduce for the shares of all.

    Launches whose results are sent are cut into edge (the layers to send) and middle, so that the middle can overlap
    with the transfer: all launches, those at positions in `split`, or none if it is False. Edges are whole `tiles`
    along directions in which at least half a tile remains for the middle. `following` and `valid`: see `exchange`;
    `poisoned`: see `Poison`. `known` are earlier results for these blocks. Raises BadInput if a launch is impossible on
    this partition.
    """
    launches = _distinct(launches)
    mine = sorted(range(len(partition)) if blocks is None else blocks)
    geometries = known.geometries if known else None
    exchanged = exchange(launches, partition, following=following, valid=valid, blocks=mine, known=geometries)
    splitter = Splitter(launches, range(len(launches)) if split is True else split or (), tiles)
    uses, states = (known.uses, known.states) if known else (Uses(), cache(State))
    graph, messages = TaskGraph(), exchanged.by_block()
    for block in mine:
        parts = splitter.parts(block, partition, messages[block])
        first, order = len(graph.nodes), Order(states)
        poison = Poison(partition, block) if poisoned else None
        for node in _nodes(block, partition, zip(launches, parts, strict=True), messages[block], poison, valid or {}):
            graph.nodes.append(node)
            graph.waits.append({first + m for m in order.add(uses.of(node))})
    _between_blocks(graph)
    return Analysis(graph, exchanged.valid, exchanged.count)


def _between_blocks(graph: TaskGraph) -> None:
    """Add the dependences on other blocks."""
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
    """Return the launches, with repeated ones copied: nodes are identified by their launch."""
    distinct: dict[Launch, None] = {}
    for launch in launches:
        distinct[replace(launch) if launch in distinct else launch] = None
    return list(distinct)


def _nodes(
    block: int,
    partition: Partition,
    launches: Iterable[tuple[Launch, Sequence[Cut]]],
    messages: Mapping[int, Sequence[Message]],
    poison: Poison | None,
    valid: Valid,
) -> Iterable[Node]:
    """Yield the nodes of one block, in program order, from its parts of each launch and its messages of each moment."""
    yield from poison.before(valid) if poison else ()
    yield from _permission(block, messages.get(-1, ()))
    yield from _transfer(block, messages.get(-1, ()))
    for n, (launch, parts) in enumerate(launches):
        before = [*(poison.instead(launch) if poison else ()), *_permission(block, messages.get(n, ()))]
        yield from () if launch.coloured else before
        for m, (box, part, piece, cells, middle) in enumerate(parts):
            yield Compute(block, launch, box, part, partition, piece, cells, middle, m == 0)
        yield from before if launch.coloured else ()
        if launch.task.reductions:
            yield AllReduce(block, launch)
        yield from _transfer(block, messages.get(n, ()))


def _permission(block: int, messages: Sequence[Message]) -> Iterable[Node]:
    """Yield the nodes before a launch whose results are sent: grants and claims of the ghost cells of its messages.

    They come this early so that a block can wait in program order and no two blocks wait for each other. Nothing reads
    these ghost cells any longer, as the launch reads no cell that it writes elsewhere. A coloured launch does read
    them, and grants them afterwards. A wait then depends on earlier launches and on this one, which waits for no block.
    """
    yield from (Grant(block, m) for m in messages if m.target == block != m.source)
    yield from (Claim(block, m) for m in messages if m.source == block != m.target and not m.turn)


def _transfer(block: int, messages: Sequence[Message]) -> Iterable[Node]:
    """Yield a block's part in the messages of one moment, turn by turn: sends first, so that no two blocks wait for
    each other. What an earlier turn brought is claimed for when it is passed on.
    """
    for turn in sorted({message.turn for message in messages}):
        now = [message for message in messages if message.turn == turn]
        yield from (Claim(block, m) for m in now if turn and m.source == block != m.target)
        yield from (Send(block, m) for m in now if m.source == block != m.target)
        yield from (Refresh(block, m.copies) for m in now if m.source == block == m.target)
        yield from (Receive(block, m) for m in now if m.target == block != m.source)
