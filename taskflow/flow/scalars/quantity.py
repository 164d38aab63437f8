"""Advected quantities, temperature or passive scalars: fields, sources and their part of a stage."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from taskflow.common.errors import BadInput
from taskflow.flow.boundaries.boundary import timed
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.condition import Velocity
from taskflow.flow.boundaries.wall_supply import END, WallSupply, warm, warm_bounded
from taskflow.flow.grid import Counts, StaggeredGrid, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.flow.scalars.conditions import Faces
from taskflow.flow.scalars.transport import GHOST, Transport, bounded_euler, bounded_heun, transport
from taskflow.runtime.regions import Box, Location, triple
from taskflow.runtime.tasks import Launch, ReadShort, ReadWrite, Roles, Scalar, task


@dataclass(frozen=True)
class Source:
    """Uniform release of `rate` (q times volume, per time) in the box from `low` to `high`.

    If the rate varies, `timed` is the scalar with its mean over each stage, set by the caller of the steps, and `rate`
    is its maximum.
    """

    low: Vector
    high: Vector
    rate: float
    timed: str | None = None

    @classmethod
    def at(cls, point: Vector, rate: float, grid: StaggeredGrid) -> Source:
        """Return a source in a box of the size of a cell around the point, shifted into the domain."""
        low, high = [], []
        for axis, (place, origin, length) in enumerate(zip(point, grid.origin, grid.lengths, strict=True)):
            h = grid.width_at(axis, place)
            start = min(max(place - h / 2, origin), origin + length - h)
            low.append(start)
            high.append(start + h)
        return cls(triple(low), triple(high), rate)


@dataclass(frozen=True)
class Release:
    """`strength` of a source (q per time) in cells entirely inside its box.

    Cells `first` to `last` touch the box. `head` and `tail` are the shares of these two in it, per direction.
    """

    strength: float
    first: Counts
    last: Counts
    head: Vector
    tail: Vector


@task(kernel=KERNELS / "scalars" / "sources.cu")
def release(q: ReadWrite, q_faces: ReadShort | None, *, dt: Scalar, release: Release) -> None:
    """q += dt strength (share of the cell inside the box of the source), except in solid cells"""


@task(kernel=KERNELS / "scalars" / "sources.cu")
def release_timed(q: ReadWrite, q_faces: ReadShort | None, *, dt: Scalar, rate: Scalar, release: Release) -> None:
    """q += dt rate strength (share of the cell inside the box of the source), except in solid cells"""


def release_rate(quantity: str, number: int) -> str:
    """Return the scalar with the varying rate of source `number` of a quantity."""
    return f"source_{quantity}_{number}"


def released(
    q: str, source: Source, grid: StaggeredGrid, dt: str, *, part: float = 1.0, flags: str | None = None
) -> Launch:
    """Return the launch that adds `part` of a source's release during `dt` to q.

    The shares of the cells sum to the box: the integral of q grows by part dt rate, minus the share inside bodies
    (`flags`).
    """
    rate = 1.0 if source.timed else source.rate
    strength = part * rate / math.prod(b - a for a, b in zip(source.low, source.high, strict=True))
    first, last, head, tail = zip(*(_extent(source, grid, axis) for axis in range(3)), strict=True)
    box = Box(triple(first), triple(n + 1 for n in last))
    placed = Release(strength, first, last, head, tail)
    if source.timed:
        return release_timed(q, flags, over=box, dt=dt, rate=f"{source.timed}{dt.removeprefix('dt')}", release=placed)
    return release(q, flags, over=box, dt=dt, release=placed)


def _extent(source: Source, grid: StaggeredGrid, axis: int) -> tuple[int, int, float, float]:
    """Return the first and last cell that the box of a source touches along an axis, and their shares in it."""
    low, high = (grid.number_at(axis, corner[axis]) for corner in (source.low, source.high))
    first = min(max(math.floor(low), 0), grid.cells[axis] - 1)
    last = min(max(math.ceil(high) - 1, first), grid.cells[axis] - 1)
    return first, last, min(high, first + 1.0) - low, high - last


@dataclass(frozen=True)
class Mixing:
    """Fields of eddy viscosity and body flags (`taskflow.flow.bodies.flags.heat_bits`), and the turbulent Prandtl
    number.

    None without eddies or bodies.
    """

    nu_t: str | None = None
    faces: str | None = None
    prandtl: float | None = None


@dataclass(frozen=True)
class Quantity:
    """Quantity in the field of its `name`, by central differences or, if `bounded`, within its bounds
    (`bounded_euler`).

    `faces` has the boundaries of a passive scalar. Boundaries of the temperature belong to the flow. `supplies` are of
    walls in faces of bodies.
    """

    name: str
    transport: Transport
    bounded: bool = False
    sources: tuple[Source, ...] = ()
    faces: Faces = field(default_factory=dict)
    supplies: tuple[WallSupply, ...] = ()

    def __post_init__(self) -> None:
        if self.diffusivity == 0 and (key := next((key for key, face in self.faces.items() if face.flux), None)):
            raise BadInput(
                f"{self.name}: a flux of {self.faces[key].flux} cannot diffuse through {key} without diffusivity; give"
                " one, or a flux of 0"
            )

    @property
    def diffusivity(self) -> float:
        return self.transport.diffusivity

    @property
    def fields(self) -> dict[str, Location]:
        """Fields by role: current and next value and, with central differences, the last tendency."""
        fields: dict[str, Location] = {self.name: "c", f"{self.name}_new": "c"}
        return fields if self.bounded else {**fields, f"h_{self.name}": "c"}

    @property
    def ghost(self) -> int:
        """Layers of ghost cells needed."""
        return GHOST if self.bounded else 1

    def central(self, f: Roles, names: Mapping[str, str], grid: StaggeredGrid, mixing: Mixing) -> Iterator[Launch]:
        """Yield the launches for the new value by central differences. `names` are the stage's scalars dt and ratio."""
        new = f[f"{self.name}_new"]
        yield transport(
            f[self.name], (f.u, f.v, f.w), mixing.nu_t, mixing.faces, f[f"h_{self.name}"], new,
            over=grid.box, grid=grid.constants, transport=self.transport, prandtl=mixing.prandtl, **names,
        )  # fmt: skip
        yield from self._released(new, names["dt"], grid, mixing)
        yield from warm(f[f"h_{self.name}"], new, f[self.name], self.supplies, names)

    def euler(self, f: Roles, dt: str, grid: StaggeredGrid, mixing: Mixing) -> Iterator[Launch]:
        """Yield the launches for a first bounded value from both velocities of the stage. Needs ghost values."""
        new = f[f"{self.name}_new"]
        yield bounded_euler(
            f[self.name], (f.u, f.v, f.w), (f.u_new, f.v_new, f.w_new), mixing.nu_t, mixing.faces, new,
            over=grid.box, dt=dt, grid=grid.constants, transport=self.transport, prandtl=mixing.prandtl,
        )  # fmt: skip
        yield from self._released(new, dt, grid, mixing)
        yield from warm_bounded(new, f[self.name], self.supplies, dt, 1.0, "")

    def heun(self, f: Roles, dt: str, grid: StaggeredGrid, mixing: Mixing) -> Iterator[Launch]:
        """Yield the launches that replace the current value. Needs ghost values of the first new value."""
        now, first = f[self.name], f[f"{self.name}_new"]
        yield bounded_heun(
            now, first, (f.u, f.v, f.w), (f.u_new, f.v_new, f.w_new), mixing.nu_t, mixing.faces,
            over=grid.box, dt=dt, grid=grid.constants, transport=self.transport, prandtl=mixing.prandtl,
        )  # fmt: skip
        yield from self._released(now, dt, grid, mixing, part=0.5)
        yield from warm_bounded(now, first, self.supplies, dt, 0.5, END)

    def advance(
        self, f: Roles, dt: str, grid: StaggeredGrid, sides: Sequence[BoxSide], mixing: Mixing
    ) -> Iterator[Launch]:  # fmt: skip
        """Advance a `bounded` passive scalar over a step of one stage, with its ghost values."""
        velocity = f.u_new, f.v_new, f.w_new
        yield from self.euler(f, dt, grid, mixing)
        yield from self.ghosts(f[f"{self.name}_new"], sides, velocity)
        yield from self.heun(f, dt, grid, mixing)
        yield from self.ghosts(f[self.name], sides, velocity)

    def ghosts(
        self, name: str, sides: Iterable[BoxSide], velocity: Velocity, ending: str = ""
    ) -> Iterator[Launch]:  # fmt: skip
        """Yield one launch per side for ghost values of a passive scalar.

        `ending` is the suffix of the stage's scalars.
        """
        for side in sides:
            number = timed(side.key, self.name, ending)
            yield self.faces[side.key].ghosts(name, velocity, side, self.diffusivity, number)

    def _released(
        self, name: str, dt: str, grid: StaggeredGrid, mixing: Mixing, *, part: float = 1.0
    ) -> Iterator[Launch]:
        for source in self.sources:
            yield released(name, source, grid, dt, part=part, flags=mixing.faces)
