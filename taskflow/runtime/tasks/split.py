"""The split of launches into edge and middle, which can overlap with a transfer: of the results of the edge, or of what
the edge reads.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache

from taskflow.runtime.regions import Box, Partition, Triple, triple
from taskflow.runtime.tasks.graph import Message, Part
from taskflow.runtime.tasks.order import States, Touched, Use
from taskflow.runtime.tasks.reading import share
from taskflow.runtime.tasks.task import Launch

Pieces = list[tuple[Box, Part]]
# By launch, the cells that a block does of it, and those in the middle of them from which nothing travels.
Tiles = Callable[[Launch, Box, Box], Triple]
ROWS = (32, 1, 1)  # memory moves in lines, and of an edge of one cell along x each would bring little that is used


def rows(launch: Launch, cells: Box, middle: Box) -> Triple:
    """Tiles that are rows of cells."""
    return ROWS


class Splitter:
    """Cuts launches, of which those in `chosen` (by their position) may be cut: in whole tiles, along directions in
    which the middle is half a tile or more.

    A launch that reduces stays whole: the order in which its values are folded must not depend on the split. So does
    one whose task says so. What travels behind such a launch, or before the first one, can overlap with what comes
    next: there the launch that reads what arrives is cut.
    """

    def __init__(self, launches: Sequence[Launch], chosen: Collection[int], tiles: Tiles = rows) -> None:
        self.launches, self._tiles = launches, tiles
        self._whole = {n for n, launch in enumerate(launches) if launch.task.reductions or launch.task.whole}
        self.chosen = set(chosen) - self._whole
        self._states, self._use = States(), cache(Use)
        self._middle, self._pieces = cache(_middle), cache(_pieces)

    def pieces(self, block: int, partition: Partition, messages: Mapping[int, Sequence[Message]]) -> list[Pieces]:
        """Per launch, in order, what a block does of it."""
        cells = [share(launch, partition, block) for launch in self.launches]
        outer: dict[int, list[Box]] = defaultdict(list)
        if self.chosen:
            outer = self._travelling(block, cells, messages)
            for n, boxes in self._awaiting(block, cells, messages):
                outer[n] += boxes
        return [
            self._cut(launch, mine, tuple(outer.get(n, ())))
            for n, (launch, mine) in enumerate(zip(self.launches, cells, strict=True))
        ]

    def _cut(self, launch: Launch, cells: Box, travelling: tuple[Box, ...]) -> Pieces:
        if not cells:
            return []
        middle = self._middle(cells, travelling)
        if middle == cells:
            return [(cells, "whole")]
        return self._pieces(cells, middle, self._tiles(launch, cells, middle))

    def _travelling(
        self, block: int, mine: Sequence[Box], messages: Mapping[int, Sequence[Message]]
    ) -> dict[int, list[Box]]:
        """Per launch: the cells it writes that travel to another block before anything overwrites them."""
        travelling: dict[int, list[Box]] = defaultdict(list)
        fields: dict[str, Touched] = defaultdict(lambda: Touched(self._states))
        for n, (launch, cells) in enumerate(zip(self.launches, mine, strict=True)):
            if cells:
                for name in launch.written:
                    fields[name].add(self._use((), (cells,)), n, 0)
            for message in messages.get(n, ()):
                if message.source == block != message.target:
                    for name, copy in message.copies:
                        for writer, written in fields[name].written(self._use((copy.source_box,), ())):
                            if writer in self.chosen:
                                travelling[writer].append(written & copy.source_box)
        return travelling

    def _awaiting(
        self, block: int, mine: Sequence[Box], messages: Mapping[int, Sequence[Message]]
    ) -> Iterator[tuple[int, list[Box]]]:
        """The launches that are the first to read what arrives behind one that stays whole, with the cells that do."""
        for moment in messages.keys() & {-1, *self._whole}:
            arriving: dict[str, list[Box]] = defaultdict(list)
            for message in messages[moment]:
                if message.target == block != message.source:
                    for name, copy in message.copies:
                        arriving[name].append(copy.target_box)
            for name, boxes in arriving.items():
                readers = ((n, self._readers(n, name, boxes, mine[n])) for n in range(moment + 1, len(mine)))
                n, cells = next(((n, cells) for n, cells in readers if cells), (-1, []))
                if n in self.chosen:
                    yield n, cells

    def _readers(self, n: int, name: str, boxes: Sequence[Box], mine: Box) -> list[Box]:
        """Return which of `mine` read a field in some boxes in the n-th launch."""
        stencil = self.launches[n].stencils.get(name)
        readers = [cells & mine for box in boxes for cells in stencil.readers(box)] if stencil else []
        return [cells for cells in readers if cells]


def _pieces(cells: Box, middle: Box, tile: Triple) -> Pieces:
    middle = _rounded(cells, middle, tile)
    edges: Pieces = [(box, "edge") for box in cells.subtract(middle)]
    return [*edges, (middle, "middle")] if middle else edges


def _middle(cells: Box, travelling: Sequence[Box]) -> Box:
    """`cells` without whole layers at their sides, about as few cells as it takes to leave all travelling
    boxes out."""
    middle = cells
    for box in sorted(travelling, key=lambda box: -box.volume):
        if box.meets(middle):
            lo, hi, shape = middle.lo, middle.hi, middle.shape
            behind = [middle.layer(a, 0, box.hi[a] - lo[a], shape[a]) for a in (2, 1, 0)]
            before = [middle.layer(a, 1, hi[a] - box.lo[a], shape[a]) for a in (2, 1, 0)]
            middle = max(behind + before, key=lambda box: box.volume)
    return middle


def _rounded(cells: Box, middle: Box, tile: Triple) -> Box:
    """The middle without tiles that are partly edge, along directions where half a tile is left. They are counted from
    the side where the edge is; along x from the low corner of the cells, as lines of memory are.
    """
    lo, hi = list(middle.lo), list(middle.hi)
    for axis, (first, last, size) in enumerate(zip(cells.lo, cells.hi, tile, strict=True)):
        low = first - (first - lo[axis]) // size * size
        high = last + (hi[axis] - last) // size * size
        if axis == 0 and hi[axis] < last:
            high = first + (hi[axis] - first) // size * size
            if 2 * (last - high) < size <= 2 * (high - size - low):
                high -= size  # the last tile is cut off: it alone would be a thin edge
        if 2 * (high - low) >= size:
            lo[axis], hi[axis] = low, high
    return Box(triple(lo), triple(hi)) if middle else middle
