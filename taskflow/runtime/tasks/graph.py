"""The task graph: the work of each block in a step, and its dependences."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeVar

from taskflow.common.caching import cached_property
from taskflow.runtime.regions import Box, Copy, Partition
from taskflow.runtime.tasks.numbers import Operator
from taskflow.runtime.tasks.privilege import Privilege, Read, Write
from taskflow.runtime.tasks.reading import place, readings
from taskflow.runtime.tasks.sweep import PlacedSweep
from taskflow.runtime.tasks.task import Launch

Part = Literal["whole", "edge", "middle"]
Place = tuple[str, int]  # field and piece, or a scalar
Access = tuple[Place, Box, Privilege]
UNIT = Box((0, 0, 0), (1, 1, 1))


def number(name: str) -> Place:
    """Return the place under which a scalar is tracked among the fields of a block."""
    return f"scalar {name}", 0


def _fields(copies: Iterable[tuple[str, Copy]]) -> str:
    return ", ".join(dict.fromkeys(name for name, _ in copies))


@dataclass(frozen=True, eq=False)
class Compute:
    """A point task: one block's part of a launch on some `cells` of a piece, with their middle if they are cut. `first`
    marks the block's first point task of this launch.
    """

    block: int
    launch: Launch
    box: Box
    part: Part
    partition: Partition
    piece: int
    cells: Box
    middle: Box | None = None
    first: bool = True

    def place(self, name: str) -> Place:
        """Return a field with the piece of its region on which this point task is done."""
        home = self.partition.homes[name]
        mine = place(self.launch, self.partition)
        return name, self.piece if home is mine else mine.beside_piece(self.piece, home)

    def accesses(self) -> list[Access]:
        """Return the cells read, with the stencil, and the cells written."""
        accesses: list[Access] = []
        for name, ways in readings(self.launch, self.partition).items():
            accesses += [(self.place(name), cells, Read) for way in ways for cells in way.around(self.box)]
        accesses += [(self.place(name), self.box, Write) for name in self.launch.written]
        accesses += [(number(name), UNIT, Read) for name in self.launch.scalars.values()]
        accesses += [(number(name), UNIT, Write) for name, _ in self.launch.reductions.values()]
        return accesses

    @property
    def placed(self) -> dict[str, PlacedSweep]:
        """The sweep of the launch, if any, by its parameter, with the cells that contain its tiles here."""
        if self.launch.swept is None:
            return {}
        name, direction, sweep = self.launch.swept
        home = place(self.launch, self.partition)
        inside = next((part for part in home.parts if self.box in part), self.box)
        return {name: PlacedSweep(sweep, direction, sweep.around(home.region, inside))}

    @property
    def contributes(self) -> bool:
        """True if its reductions count: of several blocks with the same cells only the first contributes."""
        return place(self.launch, self.partition).first(self.block)

    def __str__(self) -> str:
        return f"{self.launch} {self.part}"


@dataclass(frozen=True, eq=False)
class Message:
    """Cells of some fields that are sent together. `number` counts the messages of this pair of blocks in the step.

    Messages with a later `turn` of one moment may pass on cells from messages with an earlier turn.
    """

    source: int
    target: int
    number: int
    copies: tuple[tuple[str, Copy], ...]
    turn: int = 0

    @property
    def cells(self) -> int:
        """Values in the message."""
        return sum(copy.source_box.volume for _, copy in self.copies)


@dataclass(frozen=True, eq=False)
class _Transfer:
    """An operation of a block on a message to or from its `peer`; `words` describe it."""

    block: int
    message: Message
    words: ClassVar[tuple[str, str]]

    @property
    def peer(self) -> int:
        """The block at the other end."""
        return self.message.target if self.block == self.message.source else self.message.source

    def accesses(self) -> list[Access]:
        """Return the ghost cells that the message fills."""
        return [((name, copy.target), copy.target_box, Write) for name, copy in self.message.copies]

    def __str__(self) -> str:
        verb, way = self.words
        return f"{verb} {_fields(self.message.copies)} {way} {self.peer}"


class Grant(_Transfer):
    """Let the source of a message overwrite its ghost cells, after all earlier reads and writes of them.

    Between blocks that access each other's memory a send waits for it. It has no effect for buffered messages.
    """

    words = "grant", "to"


class Claim(_Transfer):
    """Wait until the target of a message has granted its ghost cells."""

    words = "claim", "of"

    def accesses(self) -> list[Access]:
        """Return no cells: the subsequent send accesses them."""
        return []


class Send(_Transfer):
    """Pack a message and pass it to the channel, or copy its cells directly into the ghost cells of the target."""

    words = "send", "to"

    def accesses(self) -> list[Access]:
        """Return the cells that are packed."""
        return [((name, copy.source), copy.source_box, Read) for name, copy in self.message.copies]


class Receive(_Transfer):
    """Wait until a message is in its ghost cells."""

    words = "receive", "from"


@dataclass(frozen=True, eq=False)
class Refresh:
    """Copy a block's own cells to its ghost cells across periodic faces, seams and cuts between its pieces."""

    block: int
    copies: tuple[tuple[str, Copy], ...]

    def accesses(self) -> list[Access]:
        """Return the cells read and the ghost cells filled."""
        reads = [((name, copy.source), copy.source_box, Read) for name, copy in self.copies]
        return reads + [((name, copy.target), copy.target_box, Write) for name, copy in self.copies]

    def __str__(self) -> str:
        return f"refresh {_fields(self.copies)}"


@dataclass(frozen=True, eq=False)
class AllReduce:
    """Fold all reductions of a launch over all blocks together, with bitwise identical results on every block."""

    block: int
    launch: Launch

    @cached_property
    def scalars(self) -> dict[str, Operator]:
        """The scalars that are folded, with their operators."""
        return dict(self.launch.reductions.values())

    def accesses(self) -> list[Access]:
        """Return the scalars, and the turn: all blocks reduce in one order."""
        return [*((number(scalar), UNIT, Write) for scalar in self.scalars), (("turn", 0), UNIT, Write)]

    def __str__(self) -> str:
        return f"{', '.join(f'{operator} of {scalar}' for scalar, operator in self.scalars.items())} over all blocks"


Node = Compute | Grant | Claim | Send | Receive | Refresh | AllReduce
Kind = TypeVar("Kind", Compute, Grant, Claim, Send, Receive, Refresh, AllReduce)


@dataclass(eq=False)
class TaskGraph:
    """Nodes, block after block in program order, and for each the nodes that it waits for."""

    nodes: list[Node] = field(default_factory=list)
    waits: list[set[int]] = field(default_factory=list)

    def order(self, key: Callable[[Node], float]) -> list[int]:
        """Return the topological order that takes, among ready nodes, the one of lowest key, then the earliest.

        Raises ValueError if the graph has a cycle.
        """
        missing = [len(w) for w in self.waits]
        after = self.followers()
        ready = [(key(node), n) for n, node in enumerate(self.nodes) if not missing[n]]
        heapq.heapify(ready)
        order = []
        while ready:
            n = heapq.heappop(ready)[1]
            order.append(n)
            for follower in after[n]:
                missing[follower] -= 1
                if not missing[follower]:
                    heapq.heappush(ready, (key(self.nodes[follower]), follower))
        if len(order) < len(self.nodes):
            raise ValueError(f"{len(self.nodes) - len(order)} nodes of the task graph wait for one another in a cycle")
        return order

    def followers(self) -> list[list[int]]:
        """Return for each node the nodes that wait for it."""
        after: list[list[int]] = [[] for _ in self.nodes]
        for n, waits in enumerate(self.waits):
            for m in waits:
                after[m].append(n)
        return after

    def of(self, kind: type[Kind]) -> Iterable[Kind]:
        """Return the nodes of one kind, in program order."""
        return (node for node in self.nodes if isinstance(node, kind))
