"""Poison: tasks that fill ghost cells with NaN as soon as they hold nothing valid, so that whoever reads them shows it.

Nothing else changes: a right program never reads what is poisoned, and its results are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from taskflow.runtime.regions import Box, Copy, Partition, difference
from taskflow.runtime.tasks.define import task
from taskflow.runtime.tasks.ghosts import Valid
from taskflow.runtime.tasks.graph import Compute
from taskflow.runtime.tasks.privilege import Write
from taskflow.runtime.tasks.reading import common, shares
from taskflow.runtime.tasks.task import Launch


@task
def poison(ghosts: Write) -> None:
    """ghosts = NaN"""
    target: Any = ghosts
    target[...] = np.nan


@dataclass(frozen=True, eq=False)
class Poison:
    """The ghost cells of one block to poison, and when. Fields of integers and constant ones are left as they are,
    and private ones have none.
    """

    partition: Partition
    block: int
    _known: dict[tuple[Partition, int], list[Copy]] = field(default_factory=dict)

    def before(self, valid: Valid) -> Iterator[Compute]:
        """At the start of a pass: all ghost cells that are not valid."""
        for name, home, piece in self._fields(self.partition.fields):
            ghosts = self._ghosts(home, piece)
            yield from self._tasks(name, piece, difference(ghosts, valid.get((piece, name), ())))

    def instead(self, launch: Launch) -> Iterator[Compute]:
        """Beside a launch: the ghost cells that are copies of what it writes, and not written by the block itself."""
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
