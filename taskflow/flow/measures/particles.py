"""Particles advected by the flow: massless or heavy points in the velocity on faces.

The velocity at a particle is interpolated linearly between the eight surrounding values of each component, ghost values
included, with second order. A step is Adams-Bashforth on the path, x += dt ((1 + r/2) U - r/2 U_before), with U the
velocity at the particle before the step of the flow and r = dt over the last dt. The first step of a particle is an
Euler step. Periodic directions wrap around. Walls mirror particles that a long step carries across them, and particles
that cross an open side or an opening are removed. The cell from which a particle crosses a side decides at which part.

A heavy particle has its own velocity V, dV/dt = (U - V + W)/tau, with Stokes drag and the settling velocity W. A step
solves this exactly for U linear in time, through its current and previous value, for any tau. For tau = 0 and W = 0 it
is the step above. It rebounds at walls.

Around bodies of whole cells a particle moves along x, then y, then z, crossing at most one face along each. A longer
step ends at the next face. A face of a body mirrors it, as a wall does, so a particle never enters a cell of a body.

Particles are a separate region whose cells are slots for one particle. Each block has the same number of slots and
holds the particles in its cells. Positions are global and in double precision, and no result depends on the number of a
slot or its block, so trajectories are bitwise independent of both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.condition import Boundaries
from taskflow.flow.boundaries.openings import parts
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
ROW = 256  # slots per row
BEYOND = 3  # known faces outside of the domain at each end
ACROSS: dict[Location, int] = {"c": -1, "fx": 0, "fy": 1, "fz": 2}
FLAGS = replace(Foreign, precision="u1")[anywhere(1)]
WAY = Components(position=ReadWrite * 3, before=ReadWrite * 3)
ROAMING = Components(u=ForeignAny[anywhere(1)], v=ForeignAny[anywhere(1)], w=ForeignAny[anywhere(1)])


@dataclass(frozen=True)
class Extent:
    """Domain as read by particle kernels.

    `faces` are the positions of faces along x, y and z, used along directions that are not `even`. Particles leave
    through `exits`, `count` rectangles of faces, also of bodies: twice the axis across, plus 1 towards the high side,
    the number of the face along it, and the first and last cell along both other axes.
    """

    cells: Counts
    low: Vector
    high: Vector
    length: Vector
    spacing: Vector
    even: Flags
    periodic: Flags
    faces: LookupTables
    exits: LookupTable
    count: int
    exits_in_bodies: bool

    @classmethod
    def of(cls, grid: StaggeredGrid, boundaries: Boundaries) -> Extent:
        low, high = (triple(float(grid.faces(axis)[end]) for axis in range(3)) for end in (0, -1))
        opened = [side for side, condition in parts(boundaries, grid.constants) if condition.permeable]
        exits = [row for side in opened for row in _exits(side)]
        faces = (grid.coordinates("corner", axis, -BEYOND, n + 1 + BEYOND) for axis, n in enumerate(grid.cells))
        return cls(
            cells=grid.cells,
            low=low,
            high=high,
            length=triple(b - a for a, b in zip(low, high, strict=True)),
            spacing=grid.spacing,
            even=grid.uniform,
            periodic=grid.periodic,
            faces=triple(LookupTable(-BEYOND, tuple(places.tolist())) for places in faces),
            exits=LookupTable(0, tuple(float(number) for row in exits for number in row) or (0.0,)),
            count=len(exits),
            exits_in_bodies=any(side.in_body for side in opened),
        )

    def numbers(self, places: np.ndarray) -> np.ndarray:
        """Return the cells [particle, axis] that contain positions [particle, axis]."""
        cells = []
        for axis, x in enumerate(places.T):
            if self.even[axis]:
                s = (x - self.low[axis]) / self.spacing[axis]
            else:
                s = np.searchsorted(self.faces[axis].values[BEYOND:-BEYOND], x, "right") - 1.0
            cells.append(np.clip(s, 0, self.cells[axis] - 1).astype(int))
        return np.stack(cells, axis=1)

    def within(self, places: np.ndarray) -> np.ndarray:
        """Return the positions with the high end of each periodic direction moved to the low end."""
        x = np.array(places)
        for axis in (axis for axis in range(3) if self.periodic[axis]):
            x[x[:, axis] >= self.high[axis], axis] = self.low[axis]
        return x


def _exits(side: BoxSide) -> Iterator[tuple[int, ...]]:
    """Yield the rows of a side among `Extent.exits`."""
    axis, high = frame(side.face)
    for box in side.faces:
        ends = ((box.lo[along], box.hi[along] - 1) for along in side.along)
        yield (2 * axis + int(high), side.plane, *(number for pair in ends for number in pair))


@dataclass(frozen=True)
class Decomposition:
    """Cuts of the cells into blocks: `shape`, the number of blocks, `before`, their strides, and `cuts`.

    `cuts` has the first cells of the blocks along x, y and z, and the end of the last block.
    """

    shape: Counts
    before: Counts
    cuts: LookupTables

    @classmethod
    def of(cls, partition: Partition) -> Decomposition:
        nx, ny, _ = partition.shape
        cuts = triple(LookupTable(0, tuple(map(float, along))) for along in partition.cuts)
        return cls(partition.shape, (1, nx, nx * ny), cuts)


@dataclass(frozen=True)
class Inertia:
    """Inertia of heavy particles: relaxation `time`, and `settling` velocity in fluid at rest."""

    time: float
    settling: Vector


@task(kernel=KERNELS / "particles.cu")
def carry(
    way: WAY, number: ReadWrite, own: ReadWrite * 3 | None, velocity: ROAMING, solid: FLAGS | None,
    *, now: Scalar, then: Scalar, gain: Scalar | None, extent: Extent, inertia: Inertia | None,
) -> None:  # fmt: skip
    """position += now velocity - then before, inside the domain, and before = velocity, both at the particle.

    With inertia a particle moves with its `own` velocity. Bodies, flagged in `solid`, are obstacles.
    """


@task(kernel=KERNELS / "particles.cu")
def carry_between(
    way: WAY, number: ReadWrite, own: ReadWrite * 3 | None, velocity: ROAMING, solid: FLAGS | None,
    *, now: Scalar, then: Scalar, gain: Scalar | None, leaving: Reduce[sum], extent: Extent, blocks: Decomposition,
    inertia: Inertia | None,
) -> None:  # fmt: skip
    """`carry`, and number = -number for particles that left the cells of their block; leaving = number of these"""


@task(kernel=KERNELS / "particles.cu")
def sample(
    position: Read * 3, number: Read, value: Write, q: ForeignAny[anywhere(1)], *, extent: Extent, across: int
) -> None:
    """value = q at the particle, interpolated linearly from faces `across` an axis or from centres (-1), NaN in empty
    slots.

    Between a boundary and the first centre, centred values are constant.
    """


@dataclass(frozen=True, eq=False)
class ParticleFields:
    """Fields of up to `count` particles, called `name`, on the blocks of a partition of the flow.

    `sampled`: fields sampled at them, by role, with their location. `inertia`: of heavy particles.
    """

    name: str
    count: int
    blocks: Partition
    sampled: Mapping[str, Location]
    inertia: Inertia | None = None

    @property
    def position(self) -> str:
        return f"{self.name}.position"

    @property
    def before(self) -> str:
        """Field of the velocities before the last step, NaN before the first step."""
        return f"{self.name}.before"

    @property
    def own(self) -> str | None:
        """Field of the particle velocities, NaN while equal to the fluid velocity. None for massless particles."""
        return f"{self.name}.own" if self.inertia else None

    @property
    def vectors(self) -> tuple[str, ...]:
        """Fields of the state of a particle, three numbers each."""
        return (self.position, self.before, *((self.own,) if self.own else ()))

    @property
    def gain(self) -> str:
        """Scalar 1 - exp(-dt/tau)."""
        return f"{self.name}.gain"

    @property
    def number(self) -> str:
        """Field of the particle numbers, see `particles.cu`."""
        return f"{self.name}.number"

    @property
    def values(self) -> tuple[str, ...]:
        """Fields of the last sampled values, in order."""
        return tuple(f"{self.name}.{role}" for role in self.sampled)

    @property
    def leaving(self) -> str:
        """Scalar with the number of particles that left their block."""
        return f"{self.name}.leaving"

    @cached_property
    def cut(self) -> Decomposition:
        """Blocks as read by kernels."""
        return Decomposition.of(self.blocks)

    @cached_property
    def partition(self) -> Partition:
        """Region of the particles: each block has a plane of slots, with room for all of them."""
        blocks, row = len(self.blocks), min(self.count, ROW)
        vectors = (Field(name, values=3) for name in self.vectors)
        space = FieldSpace((*vectors, *map(Field, (self.number, *self.values))))
        rows = -(-self.count // row)
        at = (0, row), (0, rows), tuple(range(blocks + 1))
        return Partition(Region(Box.of((row, rows, blocks)), space, ghost=0), (1, 1, blocks), at)


@dataclass(frozen=True, eq=False)
class Carrying:
    """Program that advects all particles with the velocity before a step and its ghost values, then runs the `step`.

    `bodies` are obstacles, if present. It reads the scalars `NOW` and `THEN`, and the scalars of `step`.
    """

    particles: tuple[ParticleFields, ...]
    extent: Extent
    step: Program
    bodies: bool = False
    __name__: ClassVar[str] = "step"

    def scalars(self, dt: float, ratio: float) -> dict[str, float]:
        """Return its additional scalars for a step of dt, `ratio` times as long as the last one (0: the first step)."""
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
    """Program that samples fields of a state, with its ghost values, at particles."""

    particles: ParticleFields
    extent: Extent
    __name__: ClassVar[str] = "sampling"

    def __call__(self, f: Roles) -> Iterator[Launch]:
        table, over = self.particles, self.particles.partition.region.cells
        for value, (role, location) in zip(table.values, table.sampled.items(), strict=True):
            fields = f[table.position], f[table.number], f[value], f[role]
            yield sample(*fields, over=over, extent=self.extent, across=ACROSS[location])
