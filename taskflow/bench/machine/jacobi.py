"""The program by which machines are compared: Jacobi's sweep over seven points, from one field to another and back.

Ghost cells beyond the domain stay as they are: zero. Sweeps may be done two in a pass over memory, as those of a flow
are on a GPU, with the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taskflow.flow.grid.stencils import TWICE
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, Triple
from taskflow.runtime.tasks import Launch, Read, Roles, Write, task

SWEEPS = 60  # of a program: a multiple of four, so that the fields have their own parts again afterwards
FIELDS = 3


@task(kernel=Path(__file__).with_name("jacobi.cu"))
def jacobi(p: Read[1], d: Read, p_new: Write) -> None:
    """p_new = (the six neighbours of p - d) / 6"""


@task(kernel=Path(__file__).with_name("jacobi.cu"))
def isolated(p: Read, d: Read, p_new: Write) -> None:
    """The same work, declared so that no ghost cell is ever filled: against it one sees what the exchange costs."""


@task(kernel=Path(__file__).with_name("jacobi_twice.cu"))
def jacobi_twice(p: Read[TWICE], d: Read[1], p_new: Write, *, domain: Box) -> None:
    """p_new = what `jacobi` makes of what it makes of p, which is 0 beyond the domain."""


@task(kernel=Path(__file__).with_name("jacobi_twice.cu"))
def isolated_twice(p: Read, d: Read, p_new: Write, *, domain: Box) -> None:
    """The same work without ghost cells, as of `isolated`."""


@dataclass(frozen=True)
class Sweeps:
    """The program: so many sweeps over the cells of a box, with or without the exchange of ghost cells; where they are
    `blocked`, two in a pass over memory.
    """

    cells: Box
    count: int = SWEEPS
    exchange: bool = True
    blocked: bool = False

    def __call__(self, f: Roles) -> Iterator[Launch]:
        """Each sweep reads what the last one wrote."""
        pairs, alone = divmod(self.count, 2) if self.blocked else (0, self.count)
        for _ in range(pairs):
            two = jacobi_twice if self.exchange else isolated_twice
            yield two(f.p, f.d, f.p_new, over=self.cells, domain=self.cells)
            f.swap("p", "p_new")
        for _ in range(alone):
            yield (jacobi if self.exchange else isolated)(f.p, f.d, f.p_new, over=self.cells)
            f.swap("p", "p_new")


def partition(cells: Triple, blocks: Triple, precision: str, *, blocked: bool = False) -> Partition:
    """A domain of so many `cells` for each of the blocks, for sweeps that are `blocked` or not."""
    x, y, z = (n * count for n, count in zip(cells, blocks, strict=True))
    dtype = "f8" if precision == "double" else "f4"
    fields = FieldSpace(Field(name, dtype) for name in ("p", "d", "p_new"))
    return Partition(Region(Box.of((x, y, z)), fields, ghost=2 if blocked else 1), blocks)


def fill(shard: Shard) -> None:
    """Random values between -1/2 and 1/2 in p and d, others for each block."""
    random = np.random.default_rng(shard.block)
    shape = shard.cells.shape[::-1]
    for name in ("p", "d"):
        shard.write({name: random.random(shape, np.float32) - np.float32(0.5)})
