"""Charts whose matrix is factorised and solved with, and the sums of a Krylov method on them: what is timed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from examples.papers.luo_2014.plain_products import plain_products
from examples.papers.skewed import GHOST, skewed
from taskflow.bench.timing import timed
from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.collocated import FLUXES
from taskflow.flow.models.artificial_compressibility.blocks import BLOCKS, MatrixBlocks
from taskflow.flow.models.artificial_compressibility.equations import Numbers, ScalarNumbers
from taskflow.flow.models.artificial_compressibility.flow_on_charts import STATE
from taskflow.flow.models.artificial_compressibility.implicit import factor, krylov
from taskflow.flow.models.artificial_compressibility.implicit.derivative import pseudo_time
from taskflow.flow.models.artificial_compressibility.implicit.matrix import COUPLING, matrix
from taskflow.flow.models.artificial_compressibility.implicit.vectors import AFTER, BEFORE, fields
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Atlas, Box, Field, Partition, Triple, charted, powers_of_two
from taskflow.runtime.tasks import TILE, Launch, Ordering, Program, Roles, Sweep, sweeps
from taskflow.runtime.tasks.sweep import Direction

PATTERN = 16  # cells along each axis whose metrics all others repeat
REAL = np.dtype("f8")
LIFT = (0.0, 0.1, 0.0)
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

    def partition(self, more: Sequence[Field], names: Sequence[str] = (*STATE, *AFTER, *BEFORE)) -> Partition:
        """One block, with values of a flow and of vectors, the term of pseudo-time, and other fields."""
        names = [*names, "pseudo"]
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


SCALARS = "T", "dye"  # unknowns behind p, u, v and w


@dataclass(frozen=True)
class Factors:
    """The job of a block: the matrix of these charts, which is timed where it `assembles`, its factors in an ordering
    and a precision, and the solves; of blocks of so many `unknowns`, 4, 5 with T or 6 with another scalar.
    """

    charts: Charts
    ordering: Ordering
    precision: Literal["single", "double"]
    tile: Triple = TILE
    assembles: bool = True
    unknowns: int = 4

    @property
    def blocks(self) -> MatrixBlocks:
        """Their blocks."""
        return BLOCKS[self.unknowns - 4]

    @property
    def scalars(self) -> tuple[str, ...]:
        """The unknowns behind p, u, v and w."""
        return SCALARS[: self.unknowns - 4]

    @cached_property
    def numbers(self) -> Numbers:
        """Constants of the equations."""
        if self.unknowns == 6:
            return ScalarNumbers(0.01, 2.5, 0.02, 0.02, lift=LIFT, blocks=self.blocks, scalar_diffusivity=0.03)
        return Numbers(0.01, 2.5, 0.02, 0.02, lift=LIFT, blocks=self.blocks)

    def vector(self, names: tuple[str, ...], age: str) -> factor.Vector:
        """The fields of a vector of this age."""
        heat, scalar = (f"{name}_{age}" if name in self.scalars else None for name in SCALARS)
        return names, heat, scalar

    @cached_property
    def partition(self) -> Partition:
        """The cells, and the matrix."""
        kept, tile = "f4" if self.precision == "single" else "f8", self.tile if self.ordering == "tiles" else None
        tile = tile if tile and powers_of_two(tile) else None
        swept = ("inverse", *COUPLING)
        own = [Field(name, kept, values=self.blocks.values[name], private=True, tile=tile) for name in swept]
        ages = ("", "_new", "_z", "_still")
        names = [*STATE, *AFTER, *BEFORE, *(f"{name}{age}" for name in self.scalars for age in ages)]
        return self.charts.partition([*own, Field("pivot", kept, values=self.blocks.values["pivot"])], names)

    def sweeps(self, direction: Direction) -> Sequence[Sweep]:
        """The sweeps in the ordering."""
        return sweeps(self.ordering, direction, self.tile)

    def matrix(self, f: Roles) -> Iterator[Launch]:
        """The matrix."""
        heat, scalar = ((name, f"{name}_still") if name in self.scalars else None for name in SCALARS)
        where: dict[str, Any] = {"over": self.charts.boxes, "numbers": self.numbers}
        place = "metrics", None, None, None
        yield pseudo_time(STATE[1:], "pseudo", *place, slowness="slowness", **where)
        made = (*STATE, "sides", "pseudo"), (*COUPLING, "pivot"), None
        yield matrix(*made, heat, scalar, *place, None, rate=None, **where)

    def eliminate(self, f: Roles) -> Iterator[Launch]:
        """The inverses of pivots."""
        heat, scalar = (name if name in self.scalars else None for name in SCALARS)
        of = STATE[1:], heat, scalar, COUPLING, "pivot", "metrics", None, None, None, None
        over = self.charts.boxes
        for sweep in self.sweeps("up"):
            yield factor.invert(*of, over=over, sweep=sweep, numbers=self.numbers)

    def invert(self, f: Roles) -> Iterator[Launch]:
        """The factors, whatever they are."""
        yield from self.eliminate(f)
        yield factor.keep_inverse("pivot", "inverse", over=self.charts.boxes, cell="cell", blocks=self.blocks)

    def precondition(self, f: Roles) -> Iterator[Launch]:
        """Both solves."""
        new, z = self.vector(AFTER, "new"), self.vector(BEFORE, "z")
        how = self.charts.boxes, self.ordering, self.tile, self.blocks
        yield from factor.solves(new, COUPLING, "inverse", z, *how)

    def fresh(self, f: Roles) -> Iterator[Launch]:
        """Matrix and factors."""
        yield from self.matrix(f)
        yield from self.invert(f)

    def fill(self, shard: Shard) -> None:
        """Random values, of scalars, too."""
        self.charts.fill(shard)
        random = np.random.default_rng(2)
        for box in (box.grow(GHOST) for box in self.charts.boxes):
            names = [f"{name}{age}" for name in self.scalars for age in ("", "_new", "_still")]
            shard.write({name: random.random(box.shape[::-1]) / 10 for name in names}, box)

    def __call__(self, shard: Shard) -> list[Timing]:
        """Medians of the matrix, of factors, made of factors again and again, whose numbers the time does not depend
        on, and of a solve with those of the matrix.
        """
        self.fill(shard)
        shard.run(self.fresh, slowness=0.1)
        timings = [_timed(shard, "assembly", self.matrix, self.assembled)] if self.assembles else []
        timings.append(_timed(shard, "factorisation", self.invert, self.factorised))
        shard.run(self.fresh)
        return [*timings, _timed(shard, "solve", self.precondition, self.solved)]

    @property
    def _block(self) -> int:
        return self.blocks.values["pivot"] * (4 if self.precision == "single" else 8)

    @property
    def assembled(self) -> int:
        """Bytes of a cell: velocity, metrics and the term of pseudo-time that is made of them; that, state, metrics and
        kind, and seven blocks; of scalars also what ghost cells have.
        """
        return (3 + 10 + 1 + 1 + self.unknowns + len(self.scalars) + 10) * REAL.itemsize + 1 + 7 * self._block

    @property
    def factorised(self) -> int:
        """Bytes of a cell: three blocks below, the pivot and its inverse; of blocks above the velocities, scalars and
        metrics that they are made of.
        """
        alone = self.ordering == "jacobi"
        return 2 * self._block if alone else 5 * self._block + (3 + len(self.scalars) + 10) * REAL.itemsize

    @property
    def solved(self) -> int:
        """Bytes of a cell: six blocks and the inverse of the pivot once, and the vector values of all unknowns read
        and written by each of two solves.
        """
        alone, values = self.ordering == "jacobi", 2 * self.unknowns * REAL.itemsize
        return self._block + values if alone else 7 * self._block + 2 * values


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
