"""Poison: tasks that fill ghost cells with NaN as soon as they hold nothing valid, so that whoever reads them shows it.

Nothing else changes: a right program never reads what is poisoned, and its results are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from taskflow.runtime.regions import Box, Copy, Partition, difference, triple
from taskflow.runtime.tasks.define import task
from taskflow.runtime.tasks.ghosts import Valid
from taskflow.runtime.tasks.graph import Compute
from taskflow.runtime.tasks.privilege import Write
from taskflow.runtime.tasks.reading import share
from taskflow.runtime.tasks.task import Launch


@task
def poison(ghosts: Write) -> None:
    """ghosts = NaN"""
    target: Any = ghosts
    target[...] = np.nan


@dataclass(frozen=True, eq=False)
class Poison:
    """The ghost cells of one block to poison, and when. Fields of integers are left as they are."""

    partition: Partition
    block: int
    _known: dict[Partition, list[Copy]] = field(default_factory=dict)

    def before(self, valid: Valid) -> Iterator[Compute]:
        """At the start of a pass: all ghost cells that are not valid."""
        for name in self._fields(self.partition.fields):
            ghosts = self._ghosts(self.partition.homes[name])
            yield from self._tasks(name, difference(ghosts, valid.get((self.block, name), ())))

    def instead(self, launch: Launch) -> Iterator[Compute]:
        """Beside a launch: the ghost cells that are copies of what it writes, and not written by the block itself."""
        mine = share(launch, self.partition, self.block)
        for name in self._fields(launch.written):
            for copy in self._copies(self.partition.homes[name]):
                written = copy.source_box & launch.over
                shift = triple(b - a for a, b in zip(copy.source_box.lo, copy.target_box.lo, strict=True))
                yield from self._tasks(name, written.shift(shift).subtract(mine))

    def _ghosts(self, home: Partition) -> list[Box]:
        return home.clip(home.memory[self.block]).subtract(home.owned[self.block])

    def _copies(self, home: Partition) -> list[Copy]:
        if home not in self._known:
            self._known[home] = home.sources(self.block, self._ghosts(home))
        return self._known[home]

    def _fields(self, names: Iterable[str]) -> Sequence[str]:
        fields = self.partition.fields
        return [name for name in names if np.dtype(fields[name].dtype).kind == "f"]

    def _tasks(self, name: str, boxes: Iterable[Box]) -> Iterator[Compute]:
        return (Compute(self.block, poison(name, over=box), box, "whole", self.partition) for box in boxes if box)
