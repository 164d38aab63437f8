"""Poison: tasks that fill ghost cells with NaN as soon as they hold nothing valid, so that whoever reads them shows it.

Nothing else changes: a right program never reads what is poisoned, and its results are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from taskflow.regions import Box, Copy, Partition, difference, triple
from taskflow.tasks.exchange import Valid
from taskflow.tasks.graph import Compute
from taskflow.tasks.privilege import Write
from taskflow.tasks.task import Launch, task


@task
def poison(ghosts: Write) -> None:
    """ghosts = NaN"""
    target: Any = ghosts
    target[...] = np.nan


@dataclass(frozen=True, eq=False)
class Poison:
    """What to poison of one block, when. Fields of integers are left as they are."""

    partition: Partition
    block: int

    def before(self, valid: Valid) -> Iterator[Compute]:
        """At the start of a pass: all ghost cells that are not valid."""
        for name in self._fields(self.partition.region.fields):
            yield from self._tasks(name, difference(self._ghosts, valid.get((self.block, name), ())))

    def instead(self, launch: Launch) -> Iterator[Compute]:
        """Before a launch: the ghost cells that are copies of what it writes. It reads none of them."""
        for name in self._fields(launch.written):
            for copy in self._copies:
                written = copy.source_box & launch.over
                shift = triple(b - a for a, b in zip(copy.source_box.lo, copy.target_box.lo, strict=True))
                yield from self._tasks(name, [written.shift(shift)])

    @cached_property
    def _ghosts(self) -> list[Box]:
        partition, block = self.partition, self.block
        frame = partition.clip(partition.blocks[block].grow(partition.region.ghost))
        return frame.subtract(partition.owned[block])

    @cached_property
    def _copies(self) -> list[Copy]:
        return self.partition.sources(self.block, self._ghosts)

    def _fields(self, names: Iterable[str]) -> Sequence[str]:
        fields = self.partition.region.fields
        return [name for name in names if np.dtype(fields[name].dtype).kind == "f"]

    def _tasks(self, name: str, boxes: Iterable[Box]) -> Iterator[Compute]:
        return (Compute(self.block, poison(name, over=box), box, "whole") for box in boxes if box)
