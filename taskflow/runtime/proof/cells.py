"""Cells accessed by nodes, for a proof, the positions of copies that are packed in inboxes, and claims of valid ghosts.

Accessed cells follow, box by box, from the declaration of a task alone, without code of the analysis.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from taskflow.runtime.machine.direct.board import Inboxes
from taskflow.runtime.machine.trace.tracer import Trace
from taskflow.runtime.proof.numbering import CellNumbers
from taskflow.runtime.proof.timeline import Index, Place
from taskflow.runtime.regions import Box, Copy, Partition, Region, triple
from taskflow.runtime.tasks import AllReduce, Compute, Launch, Message, Node, Receive, Refresh, Send, Valid
from taskflow.runtime.tasks.stencil import ALL, Stencil

Touched = dict[Place, Index]
State = Sequence[Valid]  # of each block
Claimed = tuple[tuple[Box, ...], ...]  # valid ghost cells of a block's field, by piece
NOTHING = 0  # the number of no claim


class Cells(dict[str, CellNumbers]):
    """The numbered cells of each field, and the cells accessed by nodes, cached."""

    def __init__(self, numbers: Mapping[str, CellNumbers]) -> None:
        super().__init__(numbers)
        self._touched: dict[Compute, tuple[Touched, Touched]] = {}

    def touched(self, node: Compute) -> tuple[Touched, Touched]:
        """Return the cells that a point task reads, and the cells that it writes."""
        if node not in self._touched:
            read = self._indexed(node, reads(node.launch, node.box, node.partition))
            self._touched[node] = read, self._indexed(node, writes(node.launch, node.box))
        return self._touched[node]

    def _indexed(self, node: Compute, boxes: Iterable[tuple[str, Box]]) -> Touched:
        touched: Touched = {}
        for name, box in boxes:
            place, cells = (node.block, name), self[name].index(node.block, node.place(name)[1], box)
            touched[place] = np.union1d(touched[place], cells) if place in touched else cells
        return touched


def reads(launch: Launch, box: Box, partition: Partition) -> Iterator[tuple[str, Box]]:
    """Yield the fields and cells that a launch reads for the cells of `box`."""
    declared = list(zip(launch.fields, launch.task.fields.values(), strict=True))
    own = next(partition.homes[name].region for name, privilege in declared if not privilege.foreign)
    for name, privilege in declared:
        home = partition.homes[name].region
        if privilege.swept and box:
            yield from ((name, cells) for cells in _swept(launch, box, own))
            continue
        if privilege.stencil.roams:
            yield from ((name, cells) for cells in _around_blocks(name, privilege.stencil, box, launch.own, partition))
            continue
        for first, last in privilege.stencil.offsets if privilege.reads and box else ():
            lo, hi = box.lo, box.hi
            if privilege.foreign:
                lo = triple(n * s // t for n, s, t in zip(lo, own.scale, home.scale, strict=True))
                hi = triple((n * s + t - 1) // t for n, s, t in zip(hi, own.scale, home.scale, strict=True))
                ends = zip(hi, box.hi, own.cells.hi, home.cells.hi, strict=True)
                hi = triple(most if at <= end and n > most else n for n, at, end, most in ends)
            lo = triple(a + n for a, n in zip(lo, first, strict=True))
            hi = triple(b + n for b, n in zip(hi, last, strict=True))
            yield name, _existing(Box(lo, hi), home) if privilege.foreign else Box(lo, hi)


def _around_blocks(name: str, stencil: Stencil, box: Box, own: str, partition: Partition) -> Iterator[Box]:
    """Yield the cells of a field that may be read anywhere in a block: the blocks with points of `box` in the region of
    the field `own`, widened by the stencil.
    """
    home, other = partition.homes[name], partition.homes[own]
    for piece, cells in enumerate(home.parts):
        mine = (other.parts[n] for n in other.pieces_of(home.block_of[piece]))
        for first, last in stencil.offsets if any(box.meets(points) for points in mine) else ():
            lo = triple(a + n for a, n in zip(cells.lo, first, strict=True))
            yield _existing(Box(lo, triple(b + n for b, n in zip(cells.hi, last, strict=True))), home.region)


def _swept(launch: Launch, box: Box, region: Region) -> Iterator[Box]:
    """Yield the cells of swept fields: beyond the box only if tiles of another colour precede it, and never beyond a
    chart.
    """
    yield box
    if launch.swept is None or launch.swept[2].colour != {"up": 1, "down": 0}[launch.swept[1]]:
        return
    for axis in range(3):
        lo, hi = (triple(n + m * (a == axis) for a, n in enumerate(end)) for end, m in ((box.lo, -1), (box.hi, 1)))
        yield from (both for chart in region.charts if (both := Box(lo, hi) & chart))


def _existing(box: Box, region: Region) -> Box:
    """Return the existing cells of a foreign reader's box; all cells along an axis that it reads completely."""
    for axis, (lo, hi) in enumerate(zip(box.lo, box.hi, strict=True)):
        if hi - lo > ALL:
            box = box.cut(axis, region.cells.lo[axis], region.cells.hi[axis])
        elif not region.periodic[axis]:
            box = box.cut(axis, max(lo, region.bounds.lo[axis]), min(hi, region.bounds.hi[axis]))
    return box


def writes(launch: Launch, box: Box) -> Iterator[tuple[str, Box]]:
    for name, privilege in zip(launch.fields, launch.task.fields.values(), strict=True):
        if privilege.writes and box:
            yield name, box


def boxes(node: Node) -> Iterator[Box]:
    """Yield every box that a node accesses."""
    if isinstance(node, Compute):
        yield from (box for _, box in (*reads(node.launch, node.box, node.partition), *writes(node.launch, node.box)))
        yield from node.launch.boxes
    elif not isinstance(node, AllReduce):
        for _, copy in node.copies if isinstance(node, Refresh) else node.message.copies:
            yield copy.source_box
            yield copy.target_box


def number_cells(partition: Partition, boxes: Iterable[Box]) -> Cells:
    """Number the cells of each field. `boxes` are all boxes that will be requested, in any region."""
    announced = set(boxes)
    numbers = {home: CellNumbers(home, announced) for home in (partition, *partition.beside)}
    return Cells({name: numbers[home] for name, home in partition.homes.items()})


@lru_cache(8)
def inboxes(partition: Partition) -> Inboxes:
    """Return the inboxes of a run."""
    return Inboxes(partition)


class Packed:
    """Numbers the places of the copies that some traces pack.

    Each interval between adjacent ends of copies has as many places as the largest copy has cells. A copy uses all
    places from its begin to its end, repeatedly, so copies that share a byte share places.
    """

    def __init__(self, partition: Partition, cells: Cells, traces: Iterable[Trace]) -> None:
        self._rooms, self._most = {}, 0
        marks: dict[tuple[int, int], set[int]] = defaultdict(set)
        for trace in set(traces):
            messages = {node.message for node in trace.graph.nodes if isinstance(node, Send | Receive)}
            self._rooms[trace] = inboxes(partition).rooms(messages)
            for message, parts in self._rooms[trace].items():
                for (name, copy), ends in parts.items():
                    marks[message.source, message.target].update(ends)
                    filled = cells[name].index(message.target, copy.target, copy.target_box)
                    self._most = max(self._most, filled.size)
        self._marks = {pair: sorted(ends) for pair, ends in marks.items()}

    def places(self, trace: Trace, message: Message, name: str, copy: Copy) -> Index | None:
        """Return the places at which a block that replays the trace expects a copy, or None if it is not packed."""
        ends = self._rooms[trace].get(message, {}).get((name, copy))
        if ends is None:
            return None
        first, last = (bisect_left(self._marks[message.source, message.target], end) for end in ends)
        return np.arange(first * self._most, last * self._most)


class Claims:
    """Numbers for sets of valid ghost cells: states are many, but most of their claims recur. `places` are the fields
    of the blocks.
    """

    def __init__(self, partition: Partition) -> None:
        self.places = [(block, name) for block in range(len(partition)) for name in partition.fields]
        self._pieces = [partition.homes[name].pieces_of(block) for block, name in self.places]
        self._numbers: dict[Claimed, int] = {}
        self._claimed: list[Claimed] = [()]
        self._cells: dict[tuple[int, int], np.ndarray] = {}
        self._of: Cells | None = None  # by which these are numbered
        self._states: dict[int, tuple[State, tuple[int, ...]]] = {}  # by identity, which ends with the object

    def numbers(self, state: State) -> tuple[int, ...]:
        """Return the number of the claimed cells of each place."""
        if id(state) not in self._states:
            places = zip(self.places, self._pieces, strict=True)
            claimed = (tuple(state[block].get((n, name), ()) for n in pieces) for (block, name), pieces in places)
            self._states[id(state)] = state, tuple(map(self._number, claimed))
        return self._states[id(state)][1]

    def cells(self, numbered: Cells, place: int, claim: int) -> np.ndarray:
        """Return the claimed cells of a place, given its number."""
        if numbered is not self._of:
            self._cells, self._of = {}, numbered
        if (place, claim) not in self._cells:
            (block, name), pieces = self.places[place], self._pieces[place]
            claimed = zip(pieces, self._claimed[claim], strict=True) if claim != NOTHING else ()
            parts = [numbered[name].index(block, piece, box) for piece, boxes in claimed for box in boxes]
            self._cells[place, claim] = np.concatenate([np.empty(0, np.int64), *parts])
        return self._cells[place, claim]

    def boxes(self) -> Iterable[Box]:
        return (box for claimed in self._claimed for boxes in claimed for box in boxes)

    def _number(self, claimed: Claimed) -> int:
        if not any(claimed):
            return NOTHING
        number = self._numbers.setdefault(claimed, len(self._claimed))
        if number == len(self._claimed):
            self._claimed.append(claimed)
        return number
