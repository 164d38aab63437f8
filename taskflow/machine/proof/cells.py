"""Cells of all blocks for a proof: those that no box of a program tells apart are one.

Between two neighbouring corners of boxes all cells have one fate, so that one of them stands for all: a proof for them
is a proof for grids of any size, at the cost of a small one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

import numpy as np

from taskflow.regions import Box, Partition, triple

WHOLE = -1  # the one memory of the program, beside the blocks' own


class Outside(Exception):
    """A box that is not in the memory of its block."""


class Cells:
    """Numbers the cells of each block's memory, and of the program's one memory, for the fields of each region.

    `boxes` are all that will be asked for, of whatever region.
    """

    def __init__(self, partition: Partition, boxes: Iterable[Box]) -> None:
        announced = set(boxes)
        of = {each: _Numbers(each, announced) for each in (partition, *partition.beside)}
        self._fields = {name: of[each] for name, each in partition.homes.items()}

    def size(self, block: int, name: str) -> int:
        """Cells of a field in the memory of a block."""
        return self._fields[name].size(block)

    def index(self, block: int, name: str, box: Box) -> np.ndarray:
        """The numbers of the cells of a box, in the order [z, y, x]. Raises Outside where there is no such memory."""
        return self._fields[name].index(block, box)

    def box(self, block: int, name: str, number: int) -> Box:
        """The cells for which a number stands."""
        return self._fields[name].box(block, number)

    def home(self, block: int, name: str) -> np.ndarray:
        """For each cell of a field in a block's memory the cell of the program's memory that it is a copy of."""
        return self._fields[name].home[block]


class _Numbers:
    """Those of one region. Across periodic faces a cell and its images have the same corners."""

    def __init__(self, partition: Partition, boxes: Iterable[Box]) -> None:
        region = partition.region
        self._frames = [*partition.memory, region.bounds]
        corners: list[set[int]] = [set(), set(), set()]
        for box in {*boxes, *self._frames, *partition.owned, region.cells}:
            for axis in range(3):
                corners[axis].update((box.lo[axis], box.hi[axis]))
        self._cuts = []
        for frame in self._frames:
            cuts = []
            for axis in range(3):
                marks = corners[axis]
                if region.periodic[axis]:
                    size, lo, hi = region.cells.shape[axis], frame.lo[axis], frame.hi[axis]
                    marks = {lo + (mark - lo) % size + n * size for mark in marks for n in range((hi - lo) // size + 1)}
                    marks.add(hi)  # the image of a corner, too
                cuts.append(sorted(mark for mark in marks if frame.lo[axis] <= mark <= frame.hi[axis]))
            self._cuts.append(cuts)
        self._cache: dict[tuple[int, Box], np.ndarray] = {}
        self.home = [self._home(partition, block) for block in range(len(partition))]

    def size(self, block: int) -> int:
        """Cells in the memory of a block."""
        return int(np.prod([len(cuts) - 1 for cuts in self._cuts[block]]))

    def index(self, block: int, box: Box) -> np.ndarray:
        """The numbers of the cells of a box, in the order [z, y, x]. Raises Outside where there is no such memory."""
        if not box:
            return np.empty(0, np.int64)
        if (block, box) not in self._cache:
            if box not in self._frames[block]:
                raise Outside(f"{box} is not in the memory of block {block}, {self._frames[block]}")
            rows, shape = [], [len(cuts) - 1 for cuts in self._cuts[block]]
            for cuts, lo, hi in zip(self._cuts[block], box.lo, box.hi, strict=True):
                first, last = bisect_left(cuts, lo), bisect_left(cuts, hi)
                if (cuts[first], cuts[last]) != (lo, hi):
                    raise ValueError(f"{box} was not announced")
                rows.append(np.arange(first, last))
            x, y, z = rows
            self._cache[block, box] = ((z[:, None, None] * shape[1] + y[:, None]) * shape[0] + x).reshape(-1)
        return self._cache[block, box]

    def box(self, block: int, number: int) -> Box:
        """The cells for which a number stands."""
        x, y, _ = (len(cuts) - 1 for cuts in self._cuts[block])
        place = (number % x, number // x % y, number // x // y)
        low = triple(cuts[n] for cuts, n in zip(self._cuts[block], place, strict=True))
        return Box(low, triple(cuts[n + 1] for cuts, n in zip(self._cuts[block], place, strict=True)))

    def _home(self, partition: Partition, block: int) -> np.ndarray:
        """For each cell of a block's memory the cell of the program's memory that it is a copy of."""
        region, places = partition.region, []
        for axis in range(3):
            lo, size = region.cells.lo[axis], region.cells.shape[axis]
            starts = self._cuts[block][axis][:-1]
            if region.periodic[axis]:
                starts = [lo + (start - lo) % size for start in starts]
            places.append(np.array([bisect_left(self._cuts[WHOLE][axis], start) for start in starts]))
        nx, ny, _ = (len(cuts) - 1 for cuts in self._cuts[WHOLE])
        x, y, z = places
        return ((z[:, None, None] * ny + y[:, None]) * nx + x).reshape(-1)
