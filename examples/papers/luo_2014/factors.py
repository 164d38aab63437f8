"""Charts whose matrix is factorised and solved with, and the sums of a Krylov method on them: what is timed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from examples.papers.luo_2014.plain_products import plain_products
from examples.papers.skewed import GHOST, skewed
from taskflow.bench.timing import timed
from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.collocated import FLUXES
from taskflow.flow.models.artificial_compressibility.flow_on_charts import STATE
from taskflow.flow.models.artificial_compressibility.implicit import krylov
from taskflow.flow.models.artificial_compressibility.implicit.matrix import PIVOT
from taskflow.flow.models.artificial_compressibility.implicit.model import ImplicitCompressibility
from taskflow.flow.models.artificial_compressibility.implicit.vectors import AFTER, BEFORE, fields
from taskflow.flow.operators.momentum import Fluid
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Atlas, Box, Field, Partition, Triple, charted
from taskflow.runtime.tasks import TILE, Launch, Ordering, Program, Roles

PATTERN = 16  # cells along each axis whose metrics all others repeat
REAL = np.dtype("f8")
Timing = tuple[str, float, int, int]  # an operation, its seconds, samples, and bytes for a cell


@dataclass(frozen=True)
class Charts:
    """So many charts apart from each other, each of so many cells, with walls around."""

    cells: Triple
    count: int = 1

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """Their cells, in a row along z."""
        apart = self.cells[2] + 2 * GHOST + 1
        return tuple(Box.of(self.cells).shift((0, 0, n * apart)) for n in range(self.count))

    @property
    def volume(self) -> int:
        """All cells."""
        return sum(box.volume for box in self.boxes)

    def partition(self, more: Sequence[Field]) -> Partition:
        """One block, with four values of a flow and of vectors, the term of pseudo-time, and other fields."""
        names = [*STATE, *AFTER, *BEFORE, "pseudo"]
        own = [*(Field(name, "f8") for name in names), Field("sides", "u1"), Field("metrics", "f8", values=10)]
        return Partition(charted(Atlas(self.boxes, (), GHOST), [*own, *more]), (1, 1, 1), pieces=(self.boxes,))

    def fill(self, shard: Shard) -> None:
        """Random velocities, pressures and vectors; metrics of distorted cells."""
        random, size = np.random.default_rng(1), max(self.cells)
        pattern = skewed(PATTERN, size)
        for box in self.boxes:
            around = box.grow(GHOST)
            shape = around.shape[::-1]
            sides = np.full(shape, FLUXES["closed"], np.uint8)
            sides[box.slices(around.lo)] = 0
            shard.write({name: random.random(shape) / 10 for name in (*STATE, *AFTER)} | {"sides": sides}, around)
            z, y, x = (np.arange(n) % PATTERN for n in shape)
            shard.write({"metrics": pattern[np.ix_(z, y, np.arange(10), x)]}, around)


@dataclass(frozen=True)
class Factors:
    """The job of a block: the matrix of these charts, which is timed where it `assembles`, its factors in an ordering
    and a precision, and the solves.
    """

    charts: Charts
    ordering: Ordering
    precision: Literal["single", "double"]
    tile: Triple = TILE
    assembles: bool = True

    @cached_property
    def model(self) -> ImplicitCompressibility:
        """The model, without sides: no program of it runs as a whole."""
        return ImplicitCompressibility(
            self.charts.boxes, Fluid(0.01), (), 1.0, ordering=self.ordering, precision=self.precision, tile=self.tile
        )

    @cached_property
    def partition(self) -> Partition:
        """The cells, and the matrix without what solvers have of their own."""
        return self.charts.partition(self.model.extra_fields("f8")[:4])

    def invert(self, f: Roles) -> Iterator[Launch]:
        """The factors, whatever they are."""
        return (item for item in self.model.factors(f) if isinstance(item, Launch))

    def fresh(self, f: Roles) -> Iterator[Launch]:
        """Matrix and factors."""
        yield from self.model.matrix(f)
        yield from self.invert(f)

    def __call__(self, shard: Shard) -> list[Timing]:
        """Medians of the matrix, of factors, made of factors again and again, whose numbers the time does not depend
        on, and of a solve with those of the matrix.
        """
        self.charts.fill(shard)
        shard.run(self.fresh, slowness=0.1)
        timings = [_timed(shard, "assembly", self.model.matrix, self.assembled)] if self.assembles else []
        timings.append(_timed(shard, "factorisation", self.invert, self.factorised))
        shard.run(self.fresh)
        return [*timings, _timed(shard, "solve", self.model.precondition, self.solved)]

    @property
    def _block(self) -> int:
        return PIVOT * (4 if self.precision == "single" else 8)

    @property
    def assembled(self) -> int:
        """Bytes of a cell: velocity, metrics and the term of pseudo-time that is made of them; that, state, metrics and
        kind, and seven blocks.
        """
        return (3 + 10 + 1 + 1 + 4 + 10) * REAL.itemsize + 1 + 7 * self._block

    @property
    def factorised(self) -> int:
        """Bytes of a cell: three blocks below, the pivot and its inverse; of blocks above the velocities and metrics
        that they are made of.
        """
        alone = self.ordering == "jacobi"
        return 2 * self._block if alone else 5 * self._block + (3 + 10) * REAL.itemsize

    @property
    def solved(self) -> int:
        """Bytes of a cell: six blocks and the inverse of the pivot once, and four vector values read and written by
        each of two solves.
        """
        alone = self.ordering == "jacobi"
        return self._block + 8 * REAL.itemsize if alone else 7 * self._block + 16 * REAL.itemsize


@dataclass(frozen=True)
class KrylovSums:
    """The job of a block: products of a vector with ten others, by exact sums and by plain ones."""

    charts: Charts

    @cached_property
    def partition(self) -> Partition:
        """The cells, and vectors of a Krylov space."""
        return self.charts.partition([Field("vectors", "f8", values=krylov.VALUES, private=True, rows=True)])

    def first(self, f: Roles) -> Iterator[Launch]:
        """Write all vectors: memory that nobody has written may be no memory yet."""
        vector, copy, over = fields(f, AFTER), fields(f, BEFORE), self.charts.boxes
        yield krylov.first_vector(vector, None, f.vectors, None, None, copy, None, over=over, scale="scale")

    def exact(self, f: Roles) -> Iterator[Launch]:
        """As GMRES has them."""
        yield krylov.products(
            f.vectors, None, None, fields(f, AFTER), None,
            over=self.charts.boxes, along="along", most="most", count="count", first=0,
            weights=krylov.Weights(2.5, 0.0),
        )  # fmt: skip

    def plain(self, f: Roles) -> Iterator[Launch]:
        """The same bytes and products."""
        yield plain_products(f.vectors, fields(f, AFTER), over=self.charts.boxes, along="along", weight=2.5)

    def __call__(self, shard: Shard) -> list[Timing]:
        """Medians of both."""
        self.charts.fill(shard)
        shard.run(self.first, scale=1.0)
        nbytes = (4 + 4 * krylov.AT_ONCE) * REAL.itemsize
        given = {"most": 1.0, "count": float(krylov.AT_ONCE)}
        return [
            _timed(shard, "exact sums", self.exact, nbytes, **given),
            _timed(shard, "plain sums", self.plain, nbytes),
        ]


def _timed(shard: Shard, name: str, program: Program, nbytes: int, **scalars: float) -> Timing:
    return name, *timed(lambda: shard.run(program, **scalars), shard.synchronize), nbytes
