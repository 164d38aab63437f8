"""Program for comparing machines: seven-point Jacobi sweeps, alternating between two fields.

Ghost cells outside the domain stay zero. Two sweeps may share a pass over memory, as in a flow on a GPU, with bitwise
identical results.
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

SWEEPS = 60  # of a program: a multiple of four, so that the fields have their original roles afterwards
FIELDS = 3


@task(kernel=Path(__file__).with_name("jacobi.cu"))
def jacobi(p: Read[1], d: Read, p_new: Write) -> None:
    """p_new = (the six neighbours of p - d) / 6"""


@task(kernel=Path(__file__).with_name("jacobi.cu"))
def isolated(p: Read, d: Read, p_new: Write) -> None:
    """`jacobi` without filling ghost cells, to measure the cost of the exchange"""


@task(kernel=Path(__file__).with_name("jacobi_twice.cu"))
def jacobi_twice(p: Read[TWICE], d: Read[1], p_new: Write, *, domain: Box) -> None:
    """p_new = two `jacobi` sweeps of p, with 0 outside the domain"""


@task(kernel=Path(__file__).with_name("jacobi_twice.cu"))
def isolated_twice(p: Read, d: Read, p_new: Write, *, domain: Box) -> None:
    """`jacobi_twice` without ghost cells, like `isolated`"""


@dataclass(frozen=True)
class Sweeps:
    """Program of `count` sweeps over the cells of a box, with or without exchange of ghost cells.

    If `blocked`, two sweeps share a pass over memory.
    """

    cells: Box
    count: int = SWEEPS
    exchange: bool = True
    blocked: bool = False

    def __call__(self, f: Roles) -> Iterator[Launch]:
        """Yield the sweeps, each of which reads the result of the last one."""
        pairs, alone = divmod(self.count, 2) if self.blocked else (0, self.count)
        for _ in range(pairs):
            two = jacobi_twice if self.exchange else isolated_twice
            yield two(f.p, f.d, f.p_new, over=self.cells, domain=self.cells)
            f.swap("p", "p_new")
        for _ in range(alone):
            yield (jacobi if self.exchange else isolated)(f.p, f.d, f.p_new, over=self.cells)
            f.swap("p", "p_new")


def partition(cells: Triple, blocks: Triple, precision: str, *, blocked: bool = False) -> Partition:
    """Return a domain with `cells` in each of the blocks, for sweeps that are `blocked` or not."""
    x, y, z = (n * count for n, count in zip(cells, blocks, strict=True))
    dtype = "f8" if precision == "double" else "f4"
    fields = FieldSpace(Field(name, dtype) for name in ("p", "d", "p_new"))
    return Partition(Region(Box.of((x, y, z)), fields, ghost=2 if blocked else 1), blocks)


def fill(shard: Shard) -> None:
    """Fill p and d with random values between -1/2 and 1/2, different on each block."""
    random = np.random.default_rng(shard.block)
    shape = shard.cells.shape[::-1]
    for name in ("p", "d"):
        shard.write({name: random.random(shape, np.float32) - np.float32(0.5)})
