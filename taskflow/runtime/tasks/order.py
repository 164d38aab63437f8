"""Order: the dependences between the nodes of a block, from the cells that they access.

A step is repetitive: every sweep accesses the same boxes. So the geometry (which boxes meet, and their remainders) is
separate from the nodes, and is computed once for each state of a field.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache

from taskflow.runtime.regions import Box
from taskflow.runtime.tasks.graph import AllReduce, Compute, Node, Place, Refresh

NEW = -1  # origin of boxes that the present node adds

Origins = tuple[int, ...]
Pieces = list[tuple[int, Box]]


@dataclass(frozen=True, eq=False)
class Use:
    """Cells of a field that a node reads and writes. One object for the same cells, whatever the field."""

    reads: tuple[Box, ...]
    writes: tuple[Box, ...]


@dataclass(frozen=True, eq=False)
class State:
    """The boxes of a field that were written and read last. One object per state, which caches its successors."""

    writes: tuple[Box, ...]
    reads: tuple[Box, ...]
    _met: dict[Use, tuple[Origins, Origins, Origins]] = field(default_factory=dict)
    _next: dict[tuple[Use, Origins], tuple[State, Origins, Origins]] = field(default_factory=dict)

    def met(self, use: Use) -> tuple[Origins, Origins, Origins]:
        """Return the writes and the reads that the use must follow, and the reads that it covers."""
        if use not in self._met:
            touched = use.reads + use.writes
            self._met[use] = (
                tuple(n for n, box in enumerate(self.writes) if any(box.meets(cells) for cells in touched)),
                tuple(n for n, box in enumerate(self.reads) if any(box.meets(cells) for cells in use.writes)),
                tuple(n for n, box in enumerate(self.reads) if any(box in cells for cells in use.reads)),
            )
        return self._met[use]

    def then(self, use: Use, covered: Origins, states: States) -> tuple[State, Origins, Origins]:
        """Return the state after the use, and the box of this state from which each of its writes and reads comes.
        `covered` are the reads that the use replaces.
        """
        key = use, covered
        if key not in self._next:
            writes: Pieces = list(enumerate(self.writes))
            reads: Pieces = [(n, box) for n, box in enumerate(self.reads) if n not in covered]
            reads += [(NEW, box) for box in use.reads]
            for box in use.writes:
                writes, reads = [*_outside(box, writes), (NEW, box)], _outside(box, reads)
            state = states(tuple(box for _, box in writes), tuple(box for _, box in reads))
            self._next[key] = state, tuple(n for n, _ in writes), tuple(n for n, _ in reads)
        return self._next[key]


def _outside(cells: Box, pieces: Pieces) -> Pieces:
    """Return the pieces without `cells`."""
    return [(n, rest) for n, box in pieces for rest in (box.subtract(cells) if box.meets(cells) else (box,))]


States = Callable[[tuple[Box, ...], tuple[Box, ...]], State]
"""Returns the unique object of a state: `cache(State)`."""


class Touched:
    """A record of the nodes that last accessed the cells of a field."""

    def __init__(self, states: States) -> None:
        self._states, self.state = states, states((), ())
        self.writers: Sequence[int] = ()
        self.readers: Sequence[int] = ()

    def written(self, use: Use) -> list[tuple[int, Box]]:
        """Return the last writers of the cells of a use, each with a box that it wrote and that the use meets."""
        return [(self.writers[n], self.state.writes[n]) for n in self.state.met(use)[0]]

    def before(self, use: Use) -> list[int]:
        """Return the nodes that the use must follow: readers and writers of the cells that it writes, and writers of
        those it reads.
        """
        writers, readers, _ = self.state.met(use)
        return [self.writers[n] for n in writers] + [self.readers[n] for n in readers]

    def add(self, use: Use, node: int, before: int) -> None:
        """Register the use by a node that follows the nodes whose bits are set in `before`.

        An access is dropped if a later one that follows it implies it: a write for all cells that it overwrites, a read
        for an earlier read. So the number of accesses does not grow with the program.
        """
        writers, readers = self.writers, self.readers
        covered = tuple(n for n in self.state.met(use)[2] if before >> readers[n] & 1)
        self.state, written, read = self.state.then(use, covered, self._states)
        self.writers = [node if n < 0 else writers[n] for n in written]
        self.readers = [node if n < 0 else readers[n] for n in read]


class Uses:
    """The uses of the nodes of a partition, cached for nodes that access the same cells."""

    def __init__(self) -> None:
        self._found: dict[object, tuple[tuple[Place, Use], ...]] = {}
        self._of_cells = cache(Use)

    def of(self, node: Node) -> tuple[tuple[Place, Use], ...]:
        """Return the cells that a node reads and writes, field by field."""
        if isinstance(node, Compute):
            key: object = node.launch.kind, node.box, node.piece
        elif isinstance(node, AllReduce):
            key = tuple(node.scalars)
        else:
            key = type(node), node.copies if isinstance(node, Refresh) else node.message.copies
        if key not in self._found:
            fields: dict[Place, tuple[list[Box], list[Box]]] = defaultdict(lambda: ([], []))
            for place, box, privilege in node.accesses():
                fields[place][privilege.changes].append(box)
            uses = ((place, self._of_cells(*map(tuple, boxes))) for place, boxes in fields.items())
            self._found[key] = tuple(uses)
        return self._found[key]


class Order:
    """The nodes of a block in program order, with their dependences."""

    def __init__(self, states: States) -> None:
        self._fields: dict[Place, Touched] = defaultdict(lambda: Touched(states))
        self._before: list[int] = []  # per node: bit m is set if it comes after node m

    def add(self, used: Iterable[tuple[Place, Use]]) -> set[int]:
        """Register the next node, which uses these fields, and return its dependences without implied ones."""
        touched = [(self._fields[place], use) for place, use in used]
        interfering = set().union(*(cells.before(use) for cells, use in touched))
        waits, before = set(), 0
        for m in sorted(interfering, reverse=True):
            if not before >> m & 1:
                waits.add(m)
                before |= self._before[m] | 1 << m
        for cells, use in touched:
            cells.add(use, len(self._before), before)
        self._before.append(before)
        return waits
