"""The blocks of a partition that are looked at for all: to work out each of hundreds would take minutes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import product

from taskflow.regions import Partition
from taskflow.tasks import Geometries

MANY = 16  # blocks: up to so many are all looked at


@dataclass(frozen=True, eq=False)
class Sample:
    """Of many blocks those at the low end and in the middle of every direction, of slabs the last one, too."""

    partition: Partition

    @property
    def complete(self) -> bool:
        """Whether all blocks are looked at."""
        return len(self.partition) <= MANY

    @cached_property
    def blocks(self) -> tuple[int, ...]:
        """The blocks that are looked at, in order."""
        return tuple(sorted(set(self.like)))

    @cached_property
    def like(self) -> tuple[int, ...]:
        """For each block the one that is looked at in its place: one with ends of the domain on as many sides."""
        if self.complete:
            return tuple(range(len(self.partition)))
        nx, ny, nz = self.partition.shape
        lone = len(self.partition) in (nx, ny, nz)
        x, y, z = ([_like(n, blocks, lone) for n in range(blocks)] for blocks in (nx, ny, nz))
        return tuple(a + nx * (b + ny * c) for c, b, a in product(z, y, x))

    @cached_property
    def known(self) -> Geometries:
        """What exchanges of these blocks have worked out, for the next one."""
        return Geometries(self.partition) if self.complete else Geometries.sampled(self.partition, self.blocks)


def _like(n: int, blocks: int, lone: bool) -> int:
    """Of `blocks` in a row the one that is looked at in place of number n."""
    if n in (0, blocks - 1):
        return n if lone else 0
    return blocks // 2
