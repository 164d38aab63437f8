"""The task graph: what each block does in a step, and what has to wait for what."""

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
Place = tuple[str, int]  # a field and the piece, or a number
Access = tuple[Place, Box, Privilege]
UNIT = Box((0, 0, 0), (1, 1, 1))


def number(name: str) -> Place:
    """The place under which a scalar is tracked among the fields of a block."""
    return f"scalar {name}", 0


def _fields(copies: Iterable[tuple[str, Copy]]) -> str:
    return ", ".join(dict.fromkeys(name for name, _ in copies))


@dataclass(frozen=True, eq=False)
class Compute:
    """A point task: the part of a launch that one block does on some `cells` of a piece, with the middle of these, if
    they are cut. `first` is the first of the block's point tasks of this launch.
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
        """A field, with the piece of its region that lives where this point task is done."""
        home = self.partition.homes[name]
        mine = place(self.launch, self.partition)
        return name, self.piece if home is mine else mine.beside_piece(self.piece, home)

    def accesses(self) -> list[Access]:
        """Cells read, with the stencil, and cells written."""
        accesses: list[Access] = []
        for name, ways in readings(self.launch, self.partition).items():
            accesses += [(self.place(name), cells, Read) for way in ways for cells in way.around(self.box)]
        accesses += [(self.place(name), self.box, Write) for name in self.launch.written]
        accesses += [(number(name), UNIT, Read) for name in self.launch.scalars.values()]
        accesses += [(number(name), UNIT, Write) for name, _ in self.launch.reductions.values()]
        return accesses

    @property
    def placed(self) -> dict[str, PlacedSweep]:
        """The sweep of the launch, if it is one, by its parameter, with the cells in which its tiles lie here."""
        if self.launch.swept is None:
            return {}
        name, direction, sweep = self.launch.swept
        home = place(self.launch, self.partition)
        inside = next((part for part in home.parts if self.box in part), self.box)
        return {name: PlacedSweep(sweep, direction, sweep.around(home.region, inside))}

    @property
    def contributes(self) -> bool:
        """Return whether its reductions count: where every block has all cells, those of one block do."""
        return self.block == 0 or not place(self.launch, self.partition).replicated

    def __str__(self) -> str:
        return f"{self.launch} {self.part}"


@dataclass(frozen=True, eq=False)
class Message:
    """Cells of some fields that travel together; `number` counts the messages of this pair of blocks in the step."""

    source: int
    target: int
    number: int
    copies: tuple[tuple[str, Copy], ...]

    @property
    def cells(self) -> int:
        """Values in the message."""
        return sum(copy.source_box.volume for _, copy in self.copies)


@dataclass(frozen=True, eq=False)
class _Transfer:
    """A step of a block that is about a message, `words` of what it does with that, to or from its `peer`."""

    block: int
    message: Message
    words: ClassVar[tuple[str, str]]

    @property
    def peer(self) -> int:
        """The block at the other end."""
        return self.message.target if self.block == self.message.source else self.message.source

    def accesses(self) -> list[Access]:
        """The ghost cells that the message fills."""
        return [((name, copy.target), copy.target_box, Write) for name, copy in self.message.copies]

    def __str__(self) -> str:
        verb, way = self.words
        return f"{verb} {_fields(self.message.copies)} {way} {self.peer}"


class Grant(_Transfer):
    """Let the source of a message overwrite the ghost cells that it fills: all that read or wrote them before is done.
    From here on they are its source's.

    Between blocks that see each other's memory a send waits for it; where messages have buffers of their own it has
    nothing to do.
    """

    words = "grant", "to"


class Claim(_Transfer):
    """Wait until the target of a message has granted the ghost cells that it fills."""

    words = "claim", "of"

    def accesses(self) -> list[Access]:
        """No cells: the send that follows touches them."""
        return []


class Send(_Transfer):
    """Pack a message and hand it to the channel, or copy its cells straight into the ghost cells of the target."""

    words = "send", "to"

    def accesses(self) -> list[Access]:
        """The cells that are packed."""
        return [((name, copy.source), copy.source_box, Read) for name, copy in self.message.copies]


class Receive(_Transfer):
    """Wait until a message is in the ghost cells that it fills."""

    words = "receive", "from"


@dataclass(frozen=True, eq=False)
class Refresh:
    """Copy a block's own cells to its ghost cells across periodic faces, seams and cuts between its pieces."""

    block: int
    copies: tuple[tuple[str, Copy], ...]

    def accesses(self) -> list[Access]:
        """Cells read and ghost cells filled."""
        reads = [((name, copy.source), copy.source_box, Read) for name, copy in self.copies]
        return reads + [((name, copy.target), copy.target_box, Write) for name, copy in self.copies]

    def __str__(self) -> str:
        return f"refresh {_fields(self.copies)}"


@dataclass(frozen=True, eq=False)
class AllReduce:
    """Fold what a launch reduced on every block, all of it at once; every block receives the same bits."""

    block: int
    launch: Launch

    @cached_property
    def scalars(self) -> dict[str, Operator]:
        """The scalars that are folded, each with its operator."""
        return dict(self.launch.reductions.values())

    def accesses(self) -> list[Access]:
        """The scalars, and the turn: all blocks reduce in one order."""
        return [*((number(scalar), UNIT, Write) for scalar in self.scalars), (("turn", 0), UNIT, Write)]

    def __str__(self) -> str:
        return f"{', '.join(f'{operator} of {scalar}' for scalar, operator in self.scalars.items())} over all blocks"


Node = Compute | Grant | Claim | Send | Receive | Refresh | AllReduce
Kind = TypeVar("Kind", Compute, Grant, Claim, Send, Receive, Refresh, AllReduce)


@dataclass(eq=False)
class TaskGraph:
    """Nodes, block after block in program order, and, for each, the nodes that it waits for."""

    nodes: list[Node] = field(default_factory=list)
    waits: list[set[int]] = field(default_factory=list)

    def order(self, key: Callable[[Node], float]) -> list[int]:
        """The topological order that takes, of the nodes that are ready, the one of lowest key, then the earliest.

        Raises ValueError where the graph has a cycle.
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
        """For each node the nodes that wait for it."""
        after: list[list[int]] = [[] for _ in self.nodes]
        for n, waits in enumerate(self.waits):
            for m in waits:
                after[m].append(n)
        return after

    def of(self, kind: type[Kind]) -> Iterable[Kind]:
        """The nodes of one kind, in program order."""
        return (node for node in self.nodes if isinstance(node, kind))
