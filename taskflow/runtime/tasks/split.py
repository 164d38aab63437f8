"""The split of launches into edge and middle, which can overlap with a transfer of the edge's results or inputs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache

from taskflow.runtime.regions import Box, Partition, Triple
from taskflow.runtime.tasks.graph import Message, Part, Place
from taskflow.runtime.tasks.order import State, Touched, Use
from taskflow.runtime.tasks.reading import common, shares_of
from taskflow.runtime.tasks.task import Launch

Pieces = list[tuple[Box, Part]]
Shares = list[tuple[int, Box]]  # pieces of a region, each with cells of a launch
# Granularity of edges, given a launch, its cells on a block, and their middle, from which nothing is sent.
Tiles = Callable[[Launch, Box, Box], Triple]
# A box of a launch, its part and piece, all cells of the launch on the piece, and their middle, if they are cut.
Cut = tuple[Box, Part, int, Box, Box | None]
ROWS = (32, 1, 1)  # memory moves in lines, of which an edge of one cell along x would use little


def rows(launch: Launch, cells: Box, middle: Box) -> Triple:
    """Return tiles that are rows of cells."""
    return ROWS


class Splitter:
    """Cuts launches, if `chosen` has their position, in whole tiles, along directions in which the middle is at least
    half a tile.

    A launch that reduces stays whole, as the order of its fold must not depend on the split, as does a launch of a
    whole task. Transfers after such a launch, or before the first one, can overlap with later work: there the launch
    that reads the arriving cells is cut.
    """

    def __init__(self, launches: Sequence[Launch], chosen: Collection[int], tiles: Tiles) -> None:
        self.launches, self._tiles = launches, tiles
        self._whole = {n for n, launch in enumerate(launches) if launch.task.reductions or launch.task.whole}
        self.chosen = set(chosen) - self._whole
        self._states, self._use = cache(State), cache(Use)
        self._middle, self._pieces = cache(_middle), cache(_pieces)

    def parts(self, block: int, partition: Partition, messages: Mapping[int, Sequence[Message]]) -> list[list[Cut]]:
        """Return a block's parts of each launch, in order."""
        mine = [shares_of(launch, partition, block) for launch in self.launches]
        outer: dict[tuple[int, int], list[Box]] = defaultdict(list)
        if self.chosen:
            outer = self._travelling(block, mine, messages)
            for key, boxes in self._awaiting(block, mine, messages):
                outer[key] += boxes
        return [
            [cut for piece, cells in shared for cut in self._cut(launch, piece, cells, outer.get((n, piece), ()))]
            for n, (launch, shared) in enumerate(zip(self.launches, mine, strict=True))
        ]

    def _cut(self, launch: Launch, piece: int, cells: Box, travelling: Sequence[Box]) -> list[Cut]:
        middle = self._middle(cells, tuple(travelling))
        if middle == cells:
            return [(cells, "whole", piece, cells, None)]
        parts = self._pieces(cells, middle, self._tiles(launch, cells, middle))
        inner = next((box for box, part in parts if part == "middle"), None)
        return [(box, part, piece, cells, inner) for box, part in parts]

    def _travelling(
        self, block: int, mine: Sequence[Shares], messages: Mapping[int, Sequence[Message]]
    ) -> dict[tuple[int, int], list[Box]]:
        """Return, per launch and piece, the written cells that are sent to other blocks before they are overwritten."""
        travelling: dict[tuple[int, int], list[Box]] = defaultdict(list)
        fields: dict[Place, Touched] = defaultdict(lambda: Touched(self._states))
        for n, (launch, shared) in enumerate(zip(self.launches, mine, strict=True)):
            for piece, cells in shared:
                for name in launch.written:
                    fields[name, piece].add(self._use((), (cells,)), n, 0)
            for message in messages.get(n, ()):
                if message.source == block != message.target:
                    for name, copy in message.copies:
                        for writer, written in fields[name, copy.source].written(self._use((copy.source_box,), ())):
                            if writer in self.chosen:
                                travelling[writer, copy.source].append(written & copy.source_box)
        return travelling

    def _awaiting(
        self, block: int, mine: Sequence[Shares], messages: Mapping[int, Sequence[Message]]
    ) -> Iterator[tuple[tuple[int, int], list[Box]]]:
        """Yield the first launches that read the arrivals after a whole launch, each with a piece and its reading
        cells.
        """
        for moment in messages.keys() & {-1, *self._whole}:
            arriving: dict[Place, list[Box]] = defaultdict(list)
            for message in messages[moment]:
                if message.target == block != message.source:
                    for name, copy in message.copies:
                        arriving[name, copy.target].append(copy.target_box)
            for (name, piece), boxes in arriving.items():
                later = range(moment + 1, len(mine))
                readers = ((n, self._readers(n, name, boxes, [box for m, box in mine[n] if m == piece])) for n in later)
                n, cells = next(((n, cells) for n, cells in readers if cells), (-1, []))
                if n in self.chosen:
                    yield (n, piece), cells

    def _readers(self, n: int, name: str, boxes: Sequence[Box], mine: Sequence[Box]) -> list[Box]:
        """Return the boxes of `mine` that read a field in some boxes in the n-th launch."""
        stencil = self.launches[n].stencils.get(name)
        return list(common((cells for box in boxes for cells in stencil.readers(box)), mine)) if stencil else []


def _pieces(cells: Box, middle: Box, tile: Triple) -> Pieces:
    middle = _rounded(cells, middle, tile)
    edges: Pieces = [(box, "edge") for box in cells.subtract(middle)]
    return [*edges, (middle, "middle")] if middle else edges


def _middle(cells: Box, travelling: Sequence[Box]) -> Box:
    """Return `cells` without whole layers at their sides, as few as possible, such that no travelling box remains."""
    middle = cells
    for box in sorted(travelling, key=lambda box: -box.volume):
        if box.meets(middle):
            behind = [middle.cut(a, box.hi[a], middle.hi[a]) for a in (2, 1, 0)]
            before = [middle.cut(a, middle.lo[a], box.lo[a]) for a in (2, 1, 0)]
            middle = max(behind + before, key=lambda box: box.volume)
    return middle


def _rounded(cells: Box, middle: Box, tile: Triple) -> Box:
    """Return the middle without tiles that are partly edge, along directions where half a tile remains. Tiles are
    counted from the side of the edge; along x from the low corner of the cells, as memory lines are.
    """
    for axis, (first, last, size) in enumerate(zip(cells.lo, cells.hi, tile, strict=True)):
        lo, hi = middle.lo[axis], middle.hi[axis]
        low = first - (first - lo) // size * size
        high = last + (hi - last) // size * size
        if axis == 0 and hi < last:
            high = first + (hi - first) // size * size
            if 2 * (last - high) < size <= 2 * (high - size - low):
                high -= size  # add the last tile to a thin edge
        if middle and 2 * (high - low) >= size:
            middle = middle.cut(axis, low, high)
    return middle
