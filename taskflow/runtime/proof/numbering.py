"""Numbers for the cells of all blocks, and of the program's single memory, up to equivalence under a set of boxes.

All cells between adjacent corners of boxes are equivalent, so one of them represents all: a proof for these
representatives holds for grids of any size, at the cost of a small one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from taskflow.runtime.proof.charts import Marks, charted_marks, frames, images
from taskflow.runtime.proof.timeline import Broken, Index
from taskflow.runtime.regions import ROTATIONS, STRAIGHT, Atlas, Box, Copy, Partition, Triple, Turn, seen, triple

WHOLE = -1  # the program's single memory, in addition to the blocks' memories
ROTATION = {turn.axes: n for n, turn in enumerate(ROTATIONS)}
UNTURNED = ROTATION[STRAIGHT]


@dataclass(frozen=True)
class Frame:
    """Cells in memory, divided by `cuts` along x, y and z, and numbered consecutively from `first`."""

    box: Box
    cuts: tuple[list[int], ...]
    first: int = 0

    @property
    def shape(self) -> Triple:
        """Numbers along x, y and z."""
        return triple(len(cuts) - 1 for cuts in self.cuts)

    @property
    def size(self) -> int:
        """Count of numbers."""
        x, y, z = self.shape
        return x * y * z

    def grid(self, box: Box) -> Index:
        """Return the numbers [z, y, x] of the cells of a box. Raises ValueError if the box was not announced."""
        rows = []
        for cuts, lo, hi in zip(self.cuts, box.lo, box.hi, strict=True):
            first, last = bisect_left(cuts, lo), bisect_left(cuts, hi)
            if (cuts[first], cuts[last]) != (lo, hi):
                raise ValueError(f"{box} was not announced")
            rows.append(np.arange(first, last))
        return self.numbers(rows)

    def numbers(self, rows: Sequence[Index]) -> Index:
        """Return the numbers [z, y, x] of the cells between these cuts along x, y and z."""
        (x, y, z), (nx, ny, _) = rows, self.shape
        return self.first + (z[:, None, None] * ny + y[:, None]) * nx + x

    def cell(self, number: int) -> Box:
        """Return the cells that a number represents."""
        place, (nx, ny, _) = number - self.first, self.shape
        at = list(zip(self.cuts, (place % nx, place // nx % ny, place // nx // ny), strict=True))
        return Box(triple(cuts[n] for cuts, n in at), triple(cuts[n + 1] for cuts, n in at))


def _framed(boxes: Iterable[Box], cuts: Iterable[Sequence[list[int]]]) -> list[Frame]:
    """Return frames with consecutive numbers."""
    plain = [Frame(box, tuple(mine)) for box, mine in zip(boxes, cuts, strict=True)]
    firsts = accumulate((frame.size for frame in plain), initial=0)
    return [Frame(frame.box, frame.cuts, first) for frame, first in zip(plain, firsts, strict=False)]


class CellNumbers:
    """Numbers the cells of a region in each block's memory, piece after piece, and in the program's single memory,
    chart after chart.

    Across periodic faces and seams a cell and its images have the same corners. `home[block]` is, for each cell of a
    block's memory, its original in the program's memory (possibly itself). `turned[block]` is the number of its turn in
    ROTATIONS.
    """

    def __init__(self, partition: Partition, boxes: Iterable[Box]) -> None:
        self._partition, self._cache = partition, dict[tuple[int, Box], Index]()
        self._copied: dict[Copy, tuple[Index, Index]] = {}
        region, own = partition.region, (box for boxes in partition.own for box in boxes)
        announced = {*boxes, *partition.memory, *own, *frames(region), *region.charts}
        numbered = _Charts(region.atlas, partition, announced) if region.atlas else _Periods(partition, announced)
        self._whole = numbered.whole
        self._pieces: dict[int, Frame] = {}
        self.home, self.turned = list[Index](), list[Index]()
        for block in range(len(partition)):
            pieces = partition.pieces_of(block)
            mine = _framed((partition.memory[n] for n in pieces), (numbered.cuts(n) for n in pieces))
            self._pieces |= dict(zip(pieces, mine, strict=True))
            homes, turns = zip(*(numbered.home(n, frame) for n, frame in zip(pieces, mine, strict=True)), strict=True)
            self.home.append(np.concatenate(homes))
            self.turned.append(np.concatenate(turns))

    def size(self, block: int) -> int:
        """Return the number of cells in the memory of a block."""
        return sum(frame.size for frame in self._of(block))

    def index(self, block: int, piece: int, box: Box) -> Index:
        """Return the numbers of the cells of a box on a piece of a block, in the order [z, y, x]. Raises Broken if this
        memory does not exist.
        """
        if not box:
            return np.empty(0, np.int64)
        if (piece, box) not in self._cache:
            self._cache[piece, box] = self._grid(piece, box).reshape(-1)
        if piece not in self._partition.pieces_of(block):
            raise Broken(f"block {block} has no piece {piece}")
        return self._cache[piece, box]

    def whole(self, box: Box) -> Index:
        """Return the numbers of the cells of a box in the program's single memory."""
        holders = [frame for frame in self._whole if box.meets(frame.box)]
        return np.concatenate([frame.grid(box & frame.box).reshape(-1) for frame in holders])

    def copied(self, source: int, target: int, copy: Copy) -> tuple[Index, Index]:
        """Return the numbers of the cells that a copy reads on one block, and of the cells that it fills on another, in
        the same order. Raises Broken if this memory does not exist, or if the cells are not images of each other.
        """
        filled = self.index(target, copy.target, copy.target_box)
        if copy not in self._copied:
            self.index(source, copy.source, copy.source_box)
            taken = seen(self._grid(copy.source, copy.source_box), copy.axes).reshape(-1)
            self._check(source, target, copy, taken, filled)
            self._copied[copy] = taken, filled
        return self._copied[copy]

    def _check(self, source: int, target: int, copy: Copy, taken: Index, filled: Index) -> None:
        turns = {*zip(self.turned[source][taken].tolist(), self.turned[target][filled].tolist(), strict=False)}
        alike = all((ROTATIONS[b] @ Turn(copy.axes)).axes == ROTATIONS[a].axes for a, b in turns)
        if not alike or not np.array_equal(self.home[source][taken], self.home[target][filled]):
            raise Broken(
                f"block {target}: {copy.target_box} of piece {copy.target} are no images, turned by {copy.axes}, of"
                f" {copy.source_box} of piece {copy.source}, which are copied there"
            )

    def box(self, block: int, number: int) -> Box:
        """Return the cells that a number represents."""
        return next(frame for frame in reversed(self._of(block)) if number >= frame.first).cell(number)

    def _of(self, block: int) -> list[Frame]:
        return self._whole if block == WHOLE else [self._pieces[n] for n in self._partition.pieces_of(block)]

    def _grid(self, piece: int, box: Box) -> Index:
        frame = self._pieces[piece]
        if box not in frame.box:
            block = self._partition.block_of[piece]
            raise Broken(f"{box} is not in the memory of block {block}, {frame.box}")
        return frame.grid(box)


class _Periods:
    """The frames of a box with periodic images."""

    def __init__(self, partition: Partition, boxes: Iterable[Box]) -> None:
        self._partition, self._region = partition, partition.region
        self._marks: Marks = [{end for box in boxes for end in (box.lo[a], box.hi[a])} for a in range(3)]
        bounds = self._region.bounds
        self.whole = [Frame(bounds, self._within(bounds))]

    def cuts(self, piece: int) -> tuple[list[int], ...]:
        return self._within(self._partition.memory[piece])

    def _within(self, frame: Box) -> tuple[list[int], ...]:
        cells, cuts = self._region.cells, list[list[int]]()
        for axis in range(3):
            marks, (lo, hi) = self._marks[axis], (frame.lo[axis], frame.hi[axis])
            if self._region.periodic[axis]:
                size = cells.shape[axis]
                marks = {lo + (mark - lo) % size + n * size for mark in marks for n in range((hi - lo) // size + 1)}
                marks.add(hi)  # also the image of a corner
            cuts.append(sorted(mark for mark in marks if lo <= mark <= hi))
        return tuple(cuts)

    def home(self, piece: int, frame: Frame) -> tuple[Index, Index]:
        """Return the homes of the cells of a piece, and their turns: none."""
        region, (whole,), rows = self._region, self.whole, list[Index]()
        for axis in range(3):
            lo, size, starts = region.cells.lo[axis], region.cells.shape[axis], frame.cuts[axis][:-1]
            if region.periodic[axis]:
                starts = [lo + (start - lo) % size for start in starts]
            rows.append(np.array([bisect_left(whole.cuts[axis], start) for start in starts]))
        home = whole.numbers(rows).reshape(-1)
        return home, np.full(home.size, UNTURNED)


class _Charts:
    """The frames of charts with images across seams."""

    def __init__(self, atlas: Atlas, partition: Partition, boxes: Iterable[Box]) -> None:
        every, self._memory = frames(partition.region), partition.memory
        self._chart = [next(n for n, chart in enumerate(atlas.charts) if part in chart) for part in partition.parts]
        marks = charted_marks(atlas, [*boxes, *(seam.beyond for seam in atlas.seams)])
        self.whole = _framed(every, ([sorted(along) for along in mine] for mine in marks))
        size = sum(frame.size for frame in self.whole)
        self._home, self._turned = np.arange(size), np.full(size, UNTURNED)
        for frame, mine in zip(self.whole, images(atlas), strict=True):
            for box, turn in mine:
                other = next(f for f in self.whole if turn(box) in f.box)
                here = frame.grid(box)
                self._home[here] = seen(other.grid(turn(box)), turn.inverse.axes)
                self._turned[here] = ROTATION[turn.axes]

    def cuts(self, piece: int) -> tuple[list[int], ...]:
        memory, chart = self._memory[piece], self.whole[self._chart[piece]]
        if memory not in chart.box:
            raise Broken(f"the memory of piece {piece}, {memory}, reaches beyond its chart's, {chart.box}")
        ends = zip(chart.cuts, memory.lo, memory.hi, strict=True)
        return tuple([mark for mark in marks if lo <= mark <= hi] for marks, lo, hi in ends)

    def home(self, piece: int, frame: Frame) -> tuple[Index, Index]:
        """Return the homes of the cells of a piece, and their turns."""
        same = self.whole[self._chart[piece]].grid(frame.box).reshape(-1)
        return self._home[same], self._turned[same]
