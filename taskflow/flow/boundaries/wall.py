"""No-slip walls, of the domain and in faces of bodies."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from taskflow.flow.boundaries.boundary import AROUND, Mirror, mirror, mirror_timed, mirrored_timed, timed
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.collocated import REST, CellFields, Condition, beyond_velocity
from taskflow.flow.boundaries.condition import (
    Boundaries,
    BoundaryCondition,
    FluxKind,
    GivenValues,
    Side,
    Velocity,
)
from taskflow.flow.boundaries.openings import parts
from taskflow.flow.boundaries.rough_wall import log_law_ghosts
from taskflow.flow.boundaries.wall_supply import CellsAtFace, WallSupply, supply
from taskflow.flow.grid import Grid, Vector
from taskflow.runtime.tasks import Launch, Roles, frame


@dataclass(frozen=True)
class Wall(BoundaryCondition):
    """A no-slip wall, which may move in its own plane. It has a temperature, or the heat flux into the fluid
    `heat_flux` + `heat_transfer` (outside_temperature - T).

    Both are kinematic (over density and heat capacity: the flux is a temperature times a velocity, the transfer
    coefficient a velocity), and apply if no temperature is given. The default insulates. `roughness` is the length z_0
    of the law of the wall (`taskflow.flow.boundaries.rough_wall`), 0 for a smooth wall. `contact_angle` is the angle at
    which an interface meets it, through phase 1, in degrees. None is 90.

    `timed` names the time-dependent values: "velocity", "temperature" or "heat", the part of the heat flux that does
    not depend on the wall temperature. They are scalars at the end of each stage. `fields` names the values that
    depend on position, "velocity" or "temperature" (`taskflow.flow.boundaries.inflow.placed_ghosts`). The attributes
    then have their largest values.
    """

    name: ClassVar[str] = "wall"
    keys: ClassVar[frozenset[str]] = frozenset((
        "velocity", "temperature", "heat_flux", "heat_transfer", "outside_temperature", "roughness", "moment_about",
        "contact_angle",
    ))  # fmt: skip
    varies = frozenset(("time", "place"))
    flux: ClassVar[FluxKind | None] = "closed"
    solid = True
    eddies = -1.0

    velocity: Vector = REST
    temperature: float | None = None
    heat_flux: float = 0.0
    heat_transfer: float = 0.0
    outside_temperature: float = 0.0
    roughness: float = 0.0
    contact_angle: float | None = None
    timed: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()

    @classmethod
    def of(cls, given: GivenValues, **more: Any) -> Self:
        placed = frozenset(key for key in ("velocity", "temperature") if key in given.placed)
        kinds = {"velocity": "velocity", "temperature": "temperature"}
        kinds |= dict.fromkeys(("heat_flux", "outside_temperature"), "heat")
        changing = frozenset(kind for key, kind in kinds.items() if key in given.timed)
        names = ("heat_flux", "heat_transfer", "outside_temperature", "roughness", "contact_angle")
        numbers = {name: number for name in names if (number := given.number(name)) is not None}
        temperature = given.number("temperature")
        return cls(given.vector("velocity"), temperature, **numbers, timed=changing - placed, fields=placed, **more)

    def factor(self, side: BoxSide) -> float:
        return -1.0

    def velocity_ghosts(self, velocity: Velocity, side: BoxSide, ending: str) -> Iterator[Launch]:
        if "velocity" not in self.timed:  # values in fields are added by `placed_ghosts`
            still = replace(self, velocity=REST) if "velocity" in self.fields else self
            yield from BoundaryCondition.velocity_ghosts(still, velocity, side, ending)
            return
        values = Mirror(self.factor(side), 1 - self.factor(side))
        for axes, over in side.tangential:
            fields, speeds = [velocity[a] for a in axes], [timed(side.key, "uvw"[a], ending) for a in axes]
            yield mirrored_timed(fields, speeds, values, over=over, on=side.face)

    def temperature_ghosts(self, T: str, side: BoxSide, diffusivity: float, ending: str) -> Iterator[Launch]:
        values, name = self.conduction(side, diffusivity)
        where: dict[str, Any] = {"over": side.ghosts, "on": side.face, "mirror": values}
        yield mirror_timed(T, **where, number=timed(side.key, name, ending)) if name else mirror(T, **where)

    def conduction(self, side: BoxSide, diffusivity: float) -> tuple[Mirror, str | None]:
        """Return the ghost temperature as a function of the value inside. If it changes in time, also the name of the
        scalar that is a factor of its value, "T" or "heat".
        """
        if "temperature" in self.timed:
            return AROUND, "T"
        if "heat" in self.timed:
            supplied = replace(self, temperature=None, heat_flux=1.0, outside_temperature=0.0)
            return supplied.temperature_mirror(side, diffusivity), "heat"
        return self.temperature_mirror(side, diffusivity), None

    def prescribed(self, face: str, names: Collection[str]) -> tuple[str, ...]:
        along = tuple(name for name in "uvw" if name != "uvw"[frame(face)[0]])
        velocity = along if "velocity" in self.fields else ()
        return (*velocity, *("T" if "temperature" in self.fields else ""))

    def eddy_ghosts(self, velocity: Velocity, nu_t: str, side: BoxSide, viscosity: float) -> Iterator[Launch]:
        if self.roughness > 0:
            yield from log_law_ghosts(velocity, nu_t, self.velocity, self.roughness, side, viscosity)
        else:
            yield from super().eddy_ghosts(velocity, nu_t, side, viscosity)

    def collocated(self, side: Side, fields: CellFields, values: Condition) -> Iterator[Launch]:
        for where in side.each(values):
            yield beyond_velocity(fields.flow, fields.T, fields.metrics, side.speeds, **where)


@dataclass(frozen=True)
class BodyWall(Wall):
    """A wall in the face of a body. It has no ghost values."""

    keys: ClassVar[frozenset[str]] = Wall.keys - {"roughness", "contact_angle", "moment_about"}
    varies = frozenset(("time",))
    filled = True

    def normal(self, velocity: Velocity, side: BoxSide) -> Iterator[Launch]:
        yield from ()

    def drag(self, side: CellsAtFace, viscosity: float) -> Iterator[tuple[str, WallSupply]]:
        """Yield the friction on the fluid by its motion, with the velocities on which it acts."""
        factor = self.factor(side)
        for axis in side.along:
            name, changing = "uvw"[axis], "velocity" in self.timed
            value = Mirror(1.0, (1 - factor) * (1.0 if changing else self.velocity[axis]))  # the rest is a body's
            if value.value:
                yield name, WallSupply.of(value, timed(side.key, name, "") if changing else None, side, viscosity)

    def warmth(self, side: CellsAtFace, diffusivity: float) -> WallSupply:
        """Return the supply of heat."""
        mirror, name = self.conduction(side, diffusivity)
        return WallSupply.of(mirror, timed(side.key, name, "") if name else None, side, diffusivity)


Wall.in_bodies = BodyWall


def body_walls(boundaries: Boundaries, grid: Grid) -> list[tuple[CellsAtFace, BodyWall]]:
    """Return the walls in faces of bodies."""
    return [(CellsAtFace(side.face, grid, side.part), condition) for side, condition in parts(boundaries, grid)
            if isinstance(condition, BodyWall)]  # fmt: skip


def drag(
    f: Roles, walls: Iterable[tuple[CellsAtFace, BodyWall]], names: Mapping[str, str], viscosity: float
) -> Iterator[Launch]:  # fmt: skip
    """Add the friction of moving walls to u_new, v_new, w_new, after the momentum equation of a stage."""
    ending = names["dt"].removeprefix("dt")
    for side, wall in walls:
        for name, given in wall.drag(side, viscosity):
            if over := side.along_faces(name):
                fields = f[f"h_{name}"], f[f"{name}_new"], None
                yield supply(*fields, over=over, number=given.at(ending), supply=given.supply, **names)
