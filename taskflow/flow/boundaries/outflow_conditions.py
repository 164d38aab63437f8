"""Outflows: the side "outflow" is one of three conditions, chosen by its pressure. The method is in `outflow`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from taskflow.flow.boundaries.boundary import AS_INSIDE, Value, impose, mirror, timed
from taskflow.flow.boundaries.box_side import Boxes, BoxSide
from taskflow.flow.boundaries.collocated import CellFields, Condition, beyond_pressure
from taskflow.flow.boundaries.condition import BoundaryCondition, FluxKind, GivenValues, Side, Velocity
from taskflow.flow.boundaries.inflow import imposed
from taskflow.flow.boundaries.opening import OpenSide, StageNames, State
from taskflow.flow.boundaries.outflow import (
    QUANTA,
    accelerate_outlet,
    advect_pressure,
    balance,
    convect,
    extrapolate,
    inner_face_pressure,
    opening,
    outlet,
    push_outlet,
)
from taskflow.flow.operators.rates import exact_sum
from taskflow.runtime.tasks import Launch, Roles, frame

T = TypeVar("T")
VELOCITY, NEW = ("u", "v", "w"), ("u_new", "v_new", "w_new")


@dataclass(frozen=True)
class Outflow(OpenSide):
    """Fluid leaves: without a pressure it is advected out, with one the pressure determines the flow rate."""

    name: ClassVar[str] = "outflow"
    keys: ClassVar[frozenset[str]] = frozenset(("pressure",))
    varies = frozenset(("time",))
    flux: ClassVar[FluxKind | None] = "open"

    @classmethod
    def chosen(cls, table: Mapping[str, Any]) -> type[BoundaryCondition]:
        pressure = table.get("pressure")
        if table.get("velocity") is not None:
            return DrawnOutflow
        if pressure is None:
            return ConvectiveOutflow
        return AdvectedOutflow if isinstance(pressure, str) else PressureOutflow

    @classmethod
    def of(cls, given: GivenValues) -> Self:
        return cls()

    def begin(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        q = f[VELOCITY[side.axis]]
        yield mirror(q, over=side.faces, on=side.face, mirror=AS_INSIDE)

    def collocated(self, side: Side, fields: CellFields, values: Condition) -> Iterator[Launch]:
        for where in side.each(values):
            yield beyond_pressure(fields.flow, fields.T, fields.metrics, **where)


class CarriedOutflow(Outflow):
    """An outflow at a mean speed that balances the inflow."""

    flux = None
    balances = True
    filled = True

    @staticmethod
    def across(side: BoxSide, values: Sequence[T]) -> Iterator[tuple[str, T]]:
        """Yield the values of u, v, w and T that have ghost cells beyond it, by name."""
        return side.across(values)

    def begin_ghosts(self, state: State, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        for name, field in self.across(side, state):
            yield mirror(field, over=side.beyond(name), on=side.face, mirror=AS_INSIDE)

    def ghosts(self, f: Roles, new: State, old: State, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        for name, (now, before) in self.across(side, [*zip(new, old, strict=True)]):
            yield self._convected(f, now, before, side.beyond(name), side, stage)

    @staticmethod
    def _convected(f: Roles, new: str, old: str, over: Boxes, side: BoxSide, stage: StageNames) -> Launch:
        numbers = {"dt": stage.dt, "outflow_speed": f.scalar(stage.speed)}
        return convect(new, old, over=over, on=side.face, opening=opening(side), **numbers)


@dataclass(frozen=True)
class ConvectiveOutflow(CarriedOutflow):
    """Velocity and temperature are advected out at the mean speed."""

    @property
    def described(self) -> str:
        return "outflow balances inflow, convected out at its mean speed"

    def begin(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield from super().begin(f, side, stage)
        yield from self._balanced(f, f[VELOCITY[side.axis]], side, stage)

    def advance(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        new, old = f[NEW[side.axis]], f[VELOCITY[side.axis]]
        yield self._convected(f, new, old, side.faces, side, stage)
        yield from self._balanced(f, new, side, stage)

    @staticmethod
    def _balanced(f: Roles, q: str, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        total = f.scalar("outflow")
        where: dict[str, Any] = {"grid": side.grid, "axis": side.axis, "layer": True}
        yield exact_sum(q, over=side.faces, total=total, bound=f.scalar("sum_bound"), scale=QUANTA, **where)
        about = opening(side)
        yield balance(q, over=side.faces, total=total, outflow_speed=f.scalar(stage.speed), opening=about)


@dataclass(frozen=True)
class BodyOutflow(ConvectiveOutflow):
    """Convective outflow into the face of a body. The temperature beyond is stored in the body's cells, in which
    velocities along the face are 0.
    """

    keys: ClassVar[frozenset[str]] = frozenset()

    @staticmethod
    def across(side: BoxSide, values: Sequence[T]) -> Iterator[tuple[str, T]]:
        return ((name, value) for name, value in side.across(values) if name == "T")

    def eddy_ghosts(self, velocity: Velocity, nu_t: str, side: BoxSide, viscosity: float) -> Iterator[Launch]:
        yield from ()


ConvectiveOutflow.in_bodies = BodyOutflow


@dataclass(frozen=True)
class DrawnOutflow(Outflow):
    """Outflow into the face of a body with a prescribed normal velocity, such as of a fan. The temperature has no
    gradient there.
    """

    keys: ClassVar[frozenset[str]] = frozenset(("velocity",))
    varies = frozenset(("time", "place"))
    flux = None
    draws = True
    filled = True

    def prescribed(self, face: str, names: Collection[str]) -> tuple[str, ...]:
        return (VELOCITY[frame(face)[0]],)

    def begin(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield imposed((f.u, f.v, f.w), side, stage)

    def advance(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield imposed((f.u_new, f.v_new, f.w_new), side, stage)

    def begin_ghosts(self, state: State, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        for temperature in state[len(VELOCITY) :]:
            yield mirror(temperature, over=side.ghosts, on=side.face, mirror=AS_INSIDE)

    def ghosts(self, f: Roles, new: State, old: State, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield from self.begin_ghosts(new, side, stage)

    def eddy_ghosts(self, velocity: Velocity, nu_t: str, side: BoxSide, viscosity: float) -> Iterator[Launch]:
        yield from ()


DrawnOutflow.in_bodies = DrawnOutflow


@dataclass(frozen=True)
class PressureOutflow(Outflow):
    """p is 0, or if `timed` a scalar with `pressure` as largest magnitude. Other normal gradients are 0."""

    fixes_pressure = True

    pressure: float = 0.0
    timed: bool = False

    @classmethod
    def of(cls, given: GivenValues) -> Self:
        pressure = given.number("pressure") or 0.0
        return cls(pressure, "pressure" in given.timed or pressure != 0)

    @property
    def described(self) -> str:
        pressure = f"up to {self.pressure:g}" if self.timed else "0"
        return f"p = {pressure}, which sets the flow through the side"

    def advance(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        new, old = f[NEW[side.axis]], f[VELOCITY[side.axis]]
        yield extrapolate(new, old, over=side.faces, on=side.face)
        if self.timed:
            pressure, about = timed(side.key, "p", stage.timed), opening(side)
            yield push_outlet(new, over=side.faces, dt=stage.dt, pressure=pressure, opening=about)


@dataclass(frozen=True)
class AdvectedOutflow(CarriedOutflow):
    """Velocity, temperature and pressure are advected out. The normal velocity follows from the pressure."""

    fixes_pressure = True

    @property
    def described(self) -> str:
        return "outflow balances inflow, convected out at its mean speed with its pressure"

    def begin(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield impose(_kept(f, side), over=side.layer, value=Value(0.0))
        yield from super().begin(f, side, stage)

    def advance(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        """Set the normal velocity from the advected pressure and the new velocity inside. Overwrites `rhs`."""
        new, old, kept = f[NEW[side.axis]], f[VELOCITY[side.axis]], _kept(f, side)
        about: dict[str, Any] = {"on": side.face, "dt": stage.dt, "outlet": outlet(side)}
        yield inner_face_pressure(f.p, new, old, f.rhs, over=side.last, grid=side.grid, **about)
        yield advect_pressure(kept, f.rhs, over=side.layer, outflow_speed=f.scalar(stage.speed), **about)
        yield accelerate_outlet(old, kept, new, over=side.faces, **about)


def _kept(f: Roles, side: BoxSide) -> str:
    return f[("h_u", "h_v", "h_w")[side.axis]]
