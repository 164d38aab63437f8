"""Particles that the flow carries along: massless points of the velocity between its values on faces.

The velocity at a particle is linear between the eight values around it of each component, ghost values beyond
boundaries among them, and so of second order. A step is that of Adams-Bashforth on the path,
x += dt ((1 + r/2) U - r/2 U_before), where U is the velocity at the particle before the step of the flow and r = dt
over the last dt; the first one of a particle is that of Euler. Periodic directions go round; walls, where nothing
flows through, mirror what a long step carries beyond them; beyond an open side a particle is no more.

A heavy particle has a velocity V of its own, dV/dt = (U - V + W)/tau, with Stokes' drag and the velocity W at which it
falls. A step solves that exactly for a U that is linear in time, through its values now and before, however short tau
is; for tau = 0 and W = 0 that is the step above. At walls it rebounds.

Around bodies of whole cells a particle goes along x, then y, then z, past one face at most along each: where a step is
longer, the next one is its end. A face of a body mirrors it, as a wall does. So it never is in a cell of a body.

The particles are a region of their own, whose cells are slots with room for one: each block has as many, and has the
particles that are in its cells. Places are global and in double precision, and nothing is computed from a slot's
number or its block: so the bits of a trajectory depend on neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.condition import Boundaries
from taskflow.flow.boundaries.sides import open_sides
from taskflow.flow.grid import Counts, Flags, StaggeredGrid, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, Field, FieldSpace, Location, Partition, Region, triple
from taskflow.runtime.tasks import (
    Components,
    Derive,
    Foreign,
    ForeignAny,
    Launch,
    LookupTable,
    LookupTables,
    Program,
    Read,
    ReadWrite,
    Reduce,
    Repeat,
    Roles,
    Scalar,
    Write,
    anywhere,
    frame,
    task,
)

NOW, THEN = "particles now", "particles then"  # scalars: the weights of both velocities, times dt
ROW = 256  # slots side by side
BEYOND = 3  # faces beyond the ends of the domain that are known, too
ACROSS: dict[Location, int] = {"c": -1, "fx": 0, "fy": 1, "fz": 2}
FLAGS = replace(Foreign, precision="u1")[anywhere(1)]
WAY = Components(position=ReadWrite * 3, before=ReadWrite * 3)
ROAMING = Components(u=ForeignAny[anywhere(1)], v=ForeignAny[anywhere(1)], w=ForeignAny[anywhere(1)])


@dataclass(frozen=True)
class Extent:
    """The domain as particles know it: `faces` are the places of faces along x, y and z, looked up where cells are not
    `even`; the sides through which they leave are open.
    """

    cells: Counts
    low: Vector
    high: Vector
    length: Vector
    spacing: Vector
    even: Flags
    periodic: Flags
    open_low: Flags
    open_high: Flags
    faces: LookupTables

    @classmethod
    def of(cls, grid: StaggeredGrid, boundaries: Boundaries) -> Extent:
        """That of a grid with these boundaries."""
        low, high = (triple(float(grid.faces(axis)[end]) for axis in range(3)) for end in (0, -1))
        sides = {frame(face) for face in open_sides(boundaries)}
        faces = (grid.coordinates("corner", axis, -BEYOND, n + 1 + BEYOND) for axis, n in enumerate(grid.cells))
        return cls(
            cells=grid.cells,
            low=low,
            high=high,
            length=triple(b - a for a, b in zip(low, high, strict=True)),
            spacing=grid.spacing,
            even=grid.uniform,
            periodic=grid.periodic,
            open_low=triple((axis, False) in sides for axis in range(3)),
            open_high=triple((axis, True) in sides for axis in range(3)),
            faces=triple(LookupTable(-BEYOND, tuple(places.tolist())) for places in faces),
        )

    def numbers(self, places: np.ndarray) -> np.ndarray:
        """The cells [particle, axis] in which places [particle, axis] are."""
        cells = []
        for axis, x in enumerate(places.T):
            if self.even[axis]:
                s = (x - self.low[axis]) / self.spacing[axis]
            else:
                s = np.searchsorted(self.faces[axis].values[BEYOND:-BEYOND], x, "right") - 1.0
            cells.append(np.clip(s, 0, self.cells[axis] - 1).astype(int))
        return np.stack(cells, axis=1)

    def within(self, places: np.ndarray) -> np.ndarray:
        """Places of the domain, those on the high end of a periodic direction on the low one, which is the same."""
        x = np.array(places)
        for axis in (axis for axis in range(3) if self.periodic[axis]):
            x[x[:, axis] >= self.high[axis], axis] = self.low[axis]
        return x


@dataclass(frozen=True)
class Decomposition:
    """How the cells are cut into blocks: `shape` is how many there are, `before` how many come before the next one
    along x, y and z, and `cuts` are the cells at which they begin, and the last one ends.
    """

    shape: Counts
    before: Counts
    cuts: LookupTables

    @classmethod
    def of(cls, partition: Partition) -> Decomposition:
        """Those of a partition."""
        nx, ny, _ = partition.shape
        cuts = triple(LookupTable(0, tuple(map(float, along))) for along in partition.cuts)
        return cls(partition.shape, (1, nx, nx * ny), cuts)


@dataclass(frozen=True)
class Inertia:
    """The inertia of heavy particles: the `time` in which their velocity follows that around them, and the
    velocity at which they fall in fluid at rest.
    """

    time: float
    settling: Vector


@task(kernel=KERNELS / "particles.cu")
def carry(
    way: WAY, number: ReadWrite, own: ReadWrite * 3 | None, velocity: ROAMING, solid: FLAGS | None,
    *, now: Scalar, then: Scalar, gain: Scalar | None, extent: Extent, inertia: Inertia | None,
) -> None:  # fmt: skip
    """position += now velocity - then before, in the domain; before = velocity, both at the particle. With inertia a
    particle has a velocity of its `own`; bodies, by their flags in `solid`, are in the way.
    """


@task(kernel=KERNELS / "particles.cu")
def carry_between(
    way: WAY, number: ReadWrite, own: ReadWrite * 3 | None, velocity: ROAMING, solid: FLAGS | None,
    *, now: Scalar, then: Scalar, gain: Scalar | None, leaving: Reduce[sum], extent: Extent, blocks: Decomposition,
    inertia: Inertia | None,
) -> None:  # fmt: skip
    """`carry`, and number = -number where the particle has left the cells of its block; `leaving` is how many have."""


@task(kernel=KERNELS / "particles.cu")
def sample(
    position: Read * 3, number: Read, value: Write, q: ForeignAny[anywhere(1)], *, extent: Extent, across: int
) -> None:
    """value = q at the particle, linear between the values around it, which lie on faces `across` an axis, or in
    centres (-1): beside boundaries then that of the last centre. NaN in a slot without a particle.
    """


@dataclass(frozen=True, eq=False)
class ParticleFields:
    """The fields of up to `count` particles, called `name`, on the blocks of a partition of the flow; what is sampled
    at them, by role, with its location; their `inertia`, where they are heavy.
    """

    name: str
    count: int
    blocks: Partition
    sampled: Mapping[str, Location]
    inertia: Inertia | None = None

    @property
    def position(self) -> str:
        """The field of their places."""
        return f"{self.name}.position"

    @property
    def before(self) -> str:
        """The field of their velocities before the last step; NaN where they have made none."""
        return f"{self.name}.before"

    @property
    def own(self) -> str | None:
        """The field of their own velocities, NaN where that is still the one around them; None where it always is."""
        return f"{self.name}.own" if self.inertia else None

    @property
    def vectors(self) -> tuple[str, ...]:
        """The fields that are the state of a particle: three numbers each."""
        return (self.position, self.before, *((self.own,) if self.own else ()))

    @property
    def gain(self) -> str:
        """The scalar 1 - exp(-dt/tau)."""
        return f"{self.name}.gain"

    @property
    def number(self) -> str:
        """The field of their numbers, see `particles.cu`."""
        return f"{self.name}.number"

    @property
    def values(self) -> tuple[str, ...]:
        """The fields of what was sampled last, in order."""
        return tuple(f"{self.name}.{role}" for role in self.sampled)

    @property
    def leaving(self) -> str:
        """The scalar that says how many have left their block."""
        return f"{self.name}.leaving"

    @cached_property
    def cut(self) -> Decomposition:
        """The blocks as kernels know them."""
        return Decomposition.of(self.blocks)

    @cached_property
    def partition(self) -> Partition:
        """Their region: each block has a plane of slots, with room for all of them."""
        blocks, row = len(self.blocks), min(self.count, ROW)
        vectors = (Field(name, values=3) for name in self.vectors)
        space = FieldSpace((*vectors, *map(Field, (self.number, *self.values))))
        rows = -(-self.count // row)
        at = (0, row), (0, rows), tuple(range(blocks + 1))
        return Partition(Region(Box.of((row, rows, blocks)), space, ghost=0), (1, 1, blocks), at)


@dataclass(frozen=True, eq=False)
class Carrying:
    """The program of a step that carries all particles with the velocity before it, with its ghost values, perhaps with
    `bodies` in the way, and then does the `step` of the flow. It reads the scalars `NOW` and `THEN`, and its own.
    """

    particles: tuple[ParticleFields, ...]
    extent: Extent
    step: Program
    bodies: bool = False
    __name__: ClassVar[str] = "step"

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """The numbers that it reads besides, for a step of dt, `ratio` times as long as the last one (0: at first)."""
        heavy = ((table.gain, table.inertia) for table in self.particles if table.inertia)
        gains = {name: -math.expm1(-dt / inertia.time) for name, inertia in heavy}
        return {NOW: dt * (1 + ratio / 2), THEN: dt * (ratio / 2), **gains}

    def __call__(self, f: Roles) -> Iterator[Launch | Repeat | Derive]:
        velocity, solid = (f.u, f.v, f.w), f.solid if self.bodies else None
        for table in self.particles:
            way, own = (f[table.position], f[table.before]), f[table.own] if table.own else None
            fields = way, f[table.number], own, velocity, solid
            over, gain = table.partition.region.cells, table.gain if table.inertia else None
            numbers = {"now": NOW, "then": THEN, "gain": gain, "extent": self.extent, "inertia": table.inertia}
            if len(table.blocks) == 1:
                yield carry(*fields, over=over, **numbers)
            else:
                yield carry_between(*fields, over=over, leaving=table.leaving, blocks=table.cut, **numbers)
        yield from self.step(f)


@dataclass(frozen=True, eq=False)
class Sampling:
    """The program that samples fields of a state, with its ghost values, at particles."""

    particles: ParticleFields
    extent: Extent
    __name__: ClassVar[str] = "sampling"

    def __call__(self, f: Roles) -> Iterator[Launch]:
        table, over = self.particles, self.particles.partition.region.cells
        for value, (role, location) in zip(table.values, table.sampled.items(), strict=True):
            fields = f[table.position], f[table.number], f[value], f[role]
            yield sample(*fields, over=over, extent=self.extent, across=ACROSS[location])
