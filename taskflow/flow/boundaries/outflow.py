"""Outflow: convective, by pressure, or with advected pressure.

Convective: dq/dt + U dq/dn = 0 for velocity and temperature, n being the outward normal (I. Orlanski 1976, J. Comput.
Phys. 21, 251) and U the mean outflow speed for all (as in L. L. Pauley, P. Moin, W. C. Reynolds 1990, J. Fluid Mech.
220, 397). Upwind differences over the last spacing, Euler's method in each stage. The normal velocity is then shifted
by a constant such that outflow equals inflow: the pressure equation has a wall there, and no solution otherwise.

By pressure: on the face p = 0, or a number P that may change in time, and the normal gradient of velocity is 0. The
normal velocity changes as on the next face inside, except for the gradient of p, taken between the last cell and the
face. The contribution of P is added before the projection, so that pressure solvers see p = 0 on the face.

With advected pressure, for flows that are not parallel at the outflow: as convective, but on the face p obeys dp/dt + U
(dp/dn + 2 p / W) = 0, W being the width of the side. Vortices take their pressure with them. Outside it decays over W /
2, as in a channel that continues there, where it decays over W / pi. The known p on the face gives the normal velocity
by the momentum equation du/dt = H - dp/dn. H, all its other terms, is advected with U like p.

Both act on the face in the form du/dt = (p_cell - P) / (width / 2), P = p - (width / 2) H, with p_cell and `width` of
the last cell. Only P is stored, in the unused layer of ghost cells of the normal velocity's tendency. It is advected by
upwind differences over the last cell and by Euler's method, and is 0 if the mean outflow speed is not positive. The
pressure equation sees p = 0 on the face.

The side "outflow" is one of the three, chosen by its pressure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from taskflow.flow.boundaries.boundary import AS_INSIDE, INSIDE, Value, impose, mirror, timed
from taskflow.flow.boundaries.box_side import Boxes, BoxSide
from taskflow.flow.boundaries.collocated import CellFields, Condition, beyond_pressure
from taskflow.flow.boundaries.condition import BoundaryCondition, FluxKind, GivenValues, Side
from taskflow.flow.boundaries.inflow import imposed
from taskflow.flow.boundaries.opening import (
    OpenSide,
    StageNames,
    State,
    balance,
    convect,
    extrapolate,
    opening,
    pressed,
    push_outlet,
)
from taskflow.flow.grid import Grid
from taskflow.flow.kernels import KERNELS
from taskflow.flow.operators.rates import exact_sum
from taskflow.runtime.tasks import Face, Launch, Read, ReadWrite, Roles, Scalar, Write, facing, frame, task

T = TypeVar("T")
VELOCITY, NEW = ("u", "v", "w"), ("u_new", "v_new", "w_new")
ADVECTED = KERNELS / "boundaries" / "advected_pressure.cu"
NEXT_FACE = facing(n=(1, 1), high=(0, 0))  # from the last cell, the next face inside
OUTSIDE = facing(n=(-1, -1), high=(0, 0))  # from a face, the layer of cells beyond
QUANTA = 2.0**24  # times `sum_bound`: a sixteenth of the largest velocity that sums are exact for


@dataclass(frozen=True)
class Outlet:
    """A side: `sign` of an outward velocity, `width` of adjacent cells, `reach`: decay length of p outside."""

    sign: float
    width: float
    reach: float


@task(kernel=ADVECTED)
def inner_face_pressure(
    p: Read[facing(n=(0, 1))], q_new: Read[NEXT_FACE], q: Read[NEXT_FACE], rhs: Write,
    *, on: Face, dt: Scalar, grid: Grid, outlet: Outlet,
) -> None:  # fmt: skip
    """rhs = p - sign (width / 2) (q_new - q) / dt on the next face inside, stored in the last cells, over which it is
    launched. p on that face is interpolated linearly between both cells, and q is the normal velocity.
    """


@task(kernel=ADVECTED)
def advect_pressure(
    P: ReadWrite, rhs: Read[INSIDE], *, on: Face, dt: Scalar, outflow_speed: Scalar, outlet: Outlet
) -> None:
    """P = (1 - dt outflow_speed / reach) (P + C (rhs[inside] - P)), C = dt outflow_speed / width, over the layer of
    ghost cells. Both numbers are at most 1, and P = 0 if outflow_speed <= 0.
    """


@task(kernel=ADVECTED)
def accelerate_outlet(q: Read, P: Read[OUTSIDE], q_new: Write, *, on: Face, dt: Scalar, outlet: Outlet) -> None:
    """q_new = q - sign dt P / (width / 2) on faces: all accelerations except by the pressure in the cell inside."""


def outlet(side: BoxSide) -> Outlet:
    """Return the constants of a side that kernels read. The pressure decays over half the least width of the side,
    along axes of more than one cell, between walls if it has any.
    """
    (axis, high), grid = frame(side.face), side.grid
    across = [a for a in range(3) if a != axis and grid.cells[a] > 1]
    bounded = [a for a in across if grid.low[a]] or across or [axis]
    return Outlet(1.0 if high else -1.0, side.spacing, min(grid.length(a) for a in bounded) / 2)


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
        return "convective outflow at the mean speed that balances the inflow"

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
            pressure, about = timed(side.key, "p", stage.timed), pressed(side)
            yield push_outlet(new, over=side.faces, dt=stage.dt, pressure=pressure, opening=about)


PressureOutflow.in_bodies = PressureOutflow


@dataclass(frozen=True)
class AdvectedOutflow(CarriedOutflow):
    """Velocity, temperature and pressure are advected out. The normal velocity follows from the pressure."""

    fixes_pressure = True

    @property
    def described(self) -> str:
        return "convective outflow, with its pressure, at the mean speed that balances the inflow"

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
