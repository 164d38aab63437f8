"""The state of a block between two steps, held in memory, to which a step that was too long returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from taskflow.runtime.machine import Keeper, Shard
from taskflow.runtime.regions import Box, Partition
from taskflow.runtime.tasks import Cells
from taskflow.systems.records.particles import Clouds

SMALL = 1 << 28  # bytes of a block's state that may be kept for the whole run
Held = tuple[str, Box, Callable[[], np.ndarray]]  # a role, cells, and a function that gives their values, once


def parts_of(shard: Shard, cells: Cells, *, replicas: bool) -> Iterator[tuple[str, Box]]:
    """Yield the parts of these cells on this block, by role. Of replicated regions on block 0, or all `replicas`."""
    for role, boxes in cells.items():
        if replicas or shard.block == 0 or not shard.partition.homes[role].replicated:
            for box in boxes:
                for own in shard.partition.homes[role].own_of(shard.block):
                    if part := box & own:
                        yield role, part


def held(shard: Shard, cells: Cells, *, replicas: bool) -> Iterator[Held]:
    """Yield the values in the parts of these cells, as functions to call once."""
    for role, part in parts_of(shard, cells, replicas=replicas):
        yield role, part, shard.hold(role, part)


def keeper(shard: Shard, cells: Cells) -> Keeper | None:
    """Return a keeper of these cells, or None if they are tiled or too many for the whole run. Collective."""
    if not small(shard.partition, cells) or any(shard.instances.tile(shard.roles[role]) for role in cells):
        return None
    return Keeper(shard, tuple(cells), list(parts_of(shard, cells, replicas=True)))


def small(partition: Partition, cells: Cells) -> bool:
    """Return True if the blocks may keep these cells for the whole run."""
    size = sum(partition.fields[role].nbytes * box.volume for role, boxes in cells.items() for box in boxes)
    return size <= SMALL * len(partition)


class Savepoint:
    """The present state of a block: the `cells` that determine the further run, scalars, and particles."""

    def __init__(self, shard: Shard, cells: Cells, particles: Clouds) -> None:
        self._shard, self._scalars = shard, dict(shard.scalars)
        self._held: dict[str, list[Held]] = {role: [] for role in cells}
        for one in held(shard, cells, replicas=True):
            self._held[one[0]].append(one)
        self._particles = [cloud.kept() for cloud in particles.values()]
        shard.meet()  # who allocates may have to wait for all GPUs of a process

    def restore(self) -> None:
        """Restore this state, once. Collective."""
        for role, values in self._held.items():
            self._shard.write_parts([role], ((box, {role: fetch()}) for _, box, fetch in values))
        self._shard.scalars.set(self._scalars)
        for put_back in self._particles:
            put_back()
