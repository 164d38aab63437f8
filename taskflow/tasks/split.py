"""The split of launches into edge, the layers whose results travel, and middle, which can overlap with the transfer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cache

from taskflow.regions import Box, Partition
from taskflow.tasks.graph import Message, Part
from taskflow.tasks.order import States, Touched, Use
from taskflow.tasks.reading import share
from taskflow.tasks.task import Launch

Pieces = list[tuple[Box, Part]]
ROW = 32  # cells: memory moves in lines, and of an edge of one cell along x each would bring little that is used


class Splitter:
    """Cuts launches, of which those in `chosen` (by their position) may be cut.

    A launch that reduces stays whole: the order in which its values are folded must not depend on the split. So does
    one whose task says so.
    """

    def __init__(self, launches: Sequence[Launch], chosen: Collection[int]) -> None:
        self.launches = launches
        tasks = {n: launch.task for n, launch in enumerate(launches) if n in chosen}
        self.chosen = {n for n, task in tasks.items() if not (task.reductions or task.whole)}
        self._states = States()
        self._pieces = cache(_pieces)
        self._write = cache(lambda name, cells: Use(name, (), (cells,)))
        self._read = cache(lambda name, cells: Use(name, (cells,), ()))

    def pieces(self, block: int, partition: Partition, messages: Mapping[int, Sequence[Message]]) -> list[Pieces]:
        """Per launch, in order, what a block does of it."""
        cells = [share(launch, partition, block) for launch in self.launches]
        travelling = self._travelling(block, cells, messages) if self.chosen else {}
        return [self._pieces(mine, tuple(travelling.get(n, ()))) for n, mine in enumerate(cells)]

    def _travelling(
        self, block: int, mine: Sequence[Box], messages: Mapping[int, Sequence[Message]]
    ) -> dict[int, list[Box]]:
        """Per launch: the cells it writes that travel to another block before anything overwrites them."""
        found: dict[int, list[Box]] = defaultdict(list)
        fields: dict[str, Touched] = defaultdict(lambda: Touched(self._states))
        for n, (launch, cells) in enumerate(zip(self.launches, mine, strict=True)):
            if cells:
                for name in launch.written:
                    fields[name].add(self._write(name, cells), n, 0)
            for message in messages.get(n, ()):
                if message.source == block != message.target:
                    for name, copy in message.copies:
                        for writer, written in fields[name].written(self._read(name, copy.source_box)):
                            if writer in self.chosen:
                                found[writer].append(written & copy.source_box)
        return found


def _pieces(cells: Box, travelling: Sequence[Box]) -> Pieces:
    middle = _middle(cells, travelling)
    if not cells or middle == cells:
        return [(cells, "whole")] if cells else []
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
    return _rounded(cells, middle) if middle else middle


def _rounded(cells: Box, middle: Box) -> Box:
    """The middle with edges of at least `ROW` cells along x, where enough is left."""
    low, high = middle.lo[0] - cells.lo[0], cells.hi[0] - middle.hi[0]
    more = [ROW - cut if 0 < cut < ROW else 0 for cut in (low, high)]
    rounded = middle.expand((-more[0], 0, 0), (-more[1], 0, 0))
    return rounded if rounded.shape[0] >= ROW else middle
