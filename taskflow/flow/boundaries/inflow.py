"""Velocity and temperature prescribed on the faces of inflows, and of walls if they depend on position. Each side
stores its values in a separate region.

Such a region has the values of the velocity components and the temperature on the faces of the side, or half a cell
along them; for a wall only tangential components. It has one layer of cells per block across the side, of which only
the layer of the adjacent block is used. It reaches to the high ends of the side, where a tangential velocity has values
as at the low ends.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

from taskflow.flow.boundaries.boundary import INSIDE
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.collocated import CellFields, Condition, beyond_velocity
from taskflow.flow.boundaries.condition import Boundaries, BoundaryCondition, FluxKind, GivenValues, Side, Velocity
from taskflow.flow.boundaries.opening import OpenSide, StageNames, State
from taskflow.flow.boundaries.openings import parts
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region, triple
from taskflow.runtime.tasks import Face, Foreign, Launch, ReadWrite, Roles, Write, facing, frame, task

ON_FACE = facing(n=(1, 1), high=(0, 0))  # from a ghost cell to the face


@dataclass(frozen=True)
class Beyond:
    """The distance to an interface far outside."""

    beyond: float


@task(kernel=KERNELS / "boundaries" / "inflow.cu")
def impose_values(q: Write, values: Foreign) -> None:
    """q = values, over the faces of a side of the domain."""


@task(kernel=KERNELS / "boundaries" / "inflow.cu")
def reflect(q: ReadWrite[INSIDE], values: Foreign[ON_FACE], *, on: Face) -> None:
    """q[ghost] = 2 values[face] - q[inside], over ghost cells: the mean of both is the value on the face."""


@task(kernel=KERNELS / "boundaries" / "inflow.cu")
def enter_level_set(phi: Write, share: Foreign[ON_FACE], *, on: Face, far: Beyond) -> None:
    """phi = (2 f - 1) far.beyond in the first layer of ghost cells, f being the share of phase 1 on the face."""


def values(key: str, name: str, ending: str = "") -> str:
    """Return the name of the field with the values of u, v, w or T on a side (x_min to z_max), or a part of it."""
    return f"{key}_{name}{ending}"


def inflow_partitions(
    main: Partition, sides: Sequence[tuple[BoxSide, BoundaryCondition]], names: Sequence[str], endings: Sequence[str]
) -> tuple[Partition, ...]:
    """Return the partitions of prescribed values, on the blocks of `main`: for each inflow with all `names`, for each
    wall with the names whose values depend on position. Each name has one field per entry of `endings`. Openings have
    regions as large as their sides.
    """
    partitions = []
    for side, condition in sides:
        prescribed = condition.prescribed(side.face, names)
        if not prescribed:
            continue
        axis, blocks = side.axis, main.shape[side.axis]
        first = side.plane - sum(cut <= side.plane for cut in main.cuts[axis][1:-1])
        at = tuple(
            tuple(range(first, first + blocks + 1)) if a == axis
            else (*main.cuts[a][:-1], main.cuts[a][-1] + side.grid.high[a])
            for a in range(3)
        )  # fmt: skip
        box = Box(triple(cut[0] for cut in at), triple(cut[-1] for cut in at))
        dtype = main.region.fields["p"].dtype
        fields = FieldSpace(Field(values(side.key, name, ending), dtype) for name in prescribed for ending in endings)
        partitions.append(Partition(Region(box, fields, ghost=0), main.shape, at=at))
    return tuple(partitions)


@dataclass(frozen=True)
class Inflow(OpenSide):
    """Prescribed velocity and temperature, from values on the faces in a separate region."""

    name: ClassVar[str] = "inflow"
    keys: ClassVar[frozenset[str]] = frozenset(("velocity", "log_law", "table", "profile", "temperature", "phase"))
    varies = frozenset(("time", "place"))
    flux: ClassVar[FluxKind | None] = "given"
    enters = True
    brings = True
    filled = True

    @classmethod
    def of(cls, given: GivenValues) -> Self:
        return cls()

    def prescribed(self, face: str, names: Collection[str]) -> tuple[str, ...]:
        return tuple(names)

    def begin(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield imposed((f.u, f.v, f.w), side, stage)

    def advance(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield imposed((f.u_new, f.v_new, f.w_new), side, stage)

    def begin_ghosts(self, state: State, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield from inflow_ghosts(dict(zip("uvwT", state, strict=False)), side, stage.ending)  # without T, or with it

    def ghosts(self, f: Roles, new: State, old: State, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield from self.begin_ghosts(new, side, stage)

    def bounded_ghosts(self, T: str, velocity: Velocity, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield from inflow_ghosts({"T": T}, side, stage.ending)

    def share_ghosts(self, share: str, velocity: Velocity, side: BoxSide) -> Iterator[Launch]:
        yield from inflow_ghosts({"f": share}, side, "")

    def level_set_ghosts(self, phi: str, velocity: Velocity, side: BoxSide, beyond: float) -> Iterator[Launch]:
        yield enter_level_set(phi, values(side.key, "f"), over=side.layer, on=side.face, far=Beyond(beyond))

    def collocated(self, side: Side, fields: CellFields, values: Condition) -> Iterator[Launch]:
        for where in side.each(values):
            yield beyond_velocity(fields.flow, fields.T, fields.metrics, side.speeds, **where)


@dataclass(frozen=True)
class BodyInflow(Inflow):
    """Prescribed normal velocity in the face of a body. Its other values are stored in the body's cells, half a cell
    inside.
    """

    keys: ClassVar[frozenset[str]] = frozenset(("velocity", "temperature"))

    def prescribed(self, face: str, names: Collection[str]) -> tuple[str, ...]:
        return ("uvw"[frame(face)[0]],)

    def begin_ghosts(self, state: State, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield from ()

    def bounded_ghosts(self, T: str, velocity: Velocity, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield from ()


Inflow.in_bodies = BodyInflow


def imposed(velocity: Velocity, side: BoxSide, stage: StageNames) -> Launch:
    """Return the launch that sets the normal velocity to the prescribed values."""
    name = values(side.key, "uvw"[side.axis], stage.ending)
    return impose_values(velocity[side.axis], name, over=side.faces)


def inflow_ghosts(fields: Mapping[str, str], side: BoxSide, ending: str) -> Iterator[Launch]:
    """Fill ghost values 2 values - inside of the tangential velocities and the temperature at an inflow, one launch
    each.

    `fields` maps the names u, v, w and T to fields.
    """
    for name, field in fields.items():
        if name != "uvw"[side.axis]:
            yield from _reflected(name, field, side, ending)


def placed_ghosts(fields: Mapping[str, str], boundaries: Boundaries, grid: Grid, ending: str) -> Iterator[Launch]:
    """Fill ghost values 2 values - inside at closed sides whose values depend on position, one launch each.

    `fields` maps the names u, v, w and T to fields. The other ghost values are needed before, for edges.
    """
    for side, condition in parts(boundaries, grid):
        prescribed = () if condition.permeable else condition.prescribed(side.face, tuple(fields))
        for name, field in fields.items():
            if name in prescribed:
                yield from _reflected(name, field, side, ending)


def _reflected(name: str, field: str, side: BoxSide, ending: str) -> Iterator[Launch]:
    """Fill ghost values next to faces with values: velocity gradients read them at both ends of a side."""
    if over := side.outside(name):
        yield reflect(field, values(side.key, name, ending), over=over, on=side.face)
