"""A vent: the pressure decides whether fluid enters or leaves, through a grille that costs pressure.

Outside fluid is at rest, at a pressure P over density. With the outward speed s and the loss coefficient K, the
pressure on the face is

    P + K s^2 / 2           where fluid leaves,
    P - (1 + K) s^2 / 2     where it enters: Bernoulli's law from rest outside, and the loss.

So the normal velocity changes as at an outflow with the pressure P, less the drag k s |s| / h over the half cell h / 2
next to the face, k being K or 1 + K. The drag is implicit in s, with the last pressure in the speed to which it
applies, as the projection adds the new one: a steady flow does not depend on the step, and no loss limits it.

What enters has no velocity along the side, and the temperature, scalars and phase of the outside. Leaving fluid keeps
its own. With two phases the pressures are times the density of what passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from taskflow.flow.boundaries.boundary import AS_INSIDE, INSIDE, Mirror, mirror, timed
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.condition import GivenValues, Velocity
from taskflow.flow.boundaries.inflow import ON_FACE
from taskflow.flow.boundaries.opening import Opening, OpenSide, StageNames, State, extrapolate, pressed, push_outlet
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Face, Launch, Read, ReadWrite, Roles, Scalar, facing, task

VENT = KERNELS / "boundaries" / "vent.cu"
NEW, NOW = ("u_new", "v_new", "w_new"), ("u", "v", "w")


@dataclass(frozen=True)
class Loss:
    """The loss coefficient of a vent."""

    loss: float


@task(kernel=VENT)
def resist(
    q_new: ReadWrite, q: Read, p: Read[facing(n=(0, 0), high=(1, 1))],
    *, on: Face, dt: Scalar, opening: Opening, loss: Loss,
) -> None:  # fmt: skip
    """q_new = q_new - (q_new + back) d / (1 + d), d = dt k |q| / spacing, back = sign dt p / (spacing / 2), over the
    faces of a side, q being the normal velocity. k = loss where fluid leaves, 1 + loss where it enters.
    """


def entering(side: BoxSide, value: float) -> Mirror:
    """Return the ghost value of a quantity that enters. Cells of bodies hold the value itself, as at inflows there."""
    return Mirror(0.0, value) if side.in_body else Mirror(-1.0, 2 * value)


@task(kernel=VENT)
def enter(q: ReadWrite[INSIDE], normal: Read[ON_FACE], *, on: Face, number: Scalar | None, mirror: Mirror) -> None:
    """q[ghost] = factor q[inside] + value number where fluid enters, else q[inside], over the layer of ghost cells."""


@task(kernel=VENT)
def enter_along_r(r: ReadWrite[INSIDE], normal: Read[facing(n=(1, 1), high=(0, 0), r=(-1, 0))], *, on: Face) -> None:
    """`enter` with factor -1 and value 0, of the first velocity along the side, with the mean of the normal velocities
    next to it.
    """


@task(kernel=VENT)
def enter_along_s(s: ReadWrite[INSIDE], normal: Read[facing(n=(1, 1), high=(0, 0), s=(-1, 0))], *, on: Face) -> None:
    """`enter` with factor -1 and value 0, of the second velocity along the side, with the mean of the normal velocities
    next to it.
    """


@dataclass(frozen=True)
class Vent(OpenSide):
    """The outside at a `pressure` over density (0, or the scalar `timed` of "p" for each stage, with its largest
    magnitude here), a `loss` coefficient, the temperature of the outside, `warming` if it changes in time, and with two
    phases the `share` of phase 1 there.
    """

    name: ClassVar[str] = "vent"
    keys: ClassVar[frozenset[str]] = frozenset(("pressure", "loss", "temperature", "phase"))
    varies = frozenset(("time",))
    fixes_pressure = True
    filled = True
    brings = True

    pressure: float = 0.0
    loss: float = 0.0
    outside_temperature: float = 0.0
    timed: bool = False
    warming: bool = False
    share: float | None = None

    @classmethod
    def of(cls, given: GivenValues) -> Self:
        pressure, loss = given.number("pressure") or 0.0, given.number("loss") or 0.0
        changing, warming = "pressure" in given.timed or pressure != 0, "temperature" in given.timed
        phase = given.number("phase")
        share = None if phase is None else 2 - phase
        return cls(pressure, loss, given.number("temperature") or 0.0, changing, warming, share)

    @property
    def described(self) -> str:
        pressure = f"up to {self.pressure:g}" if self.timed else "0"
        words = f"the pressure {pressure} outside sets the flow in or out, with the loss coefficient {self.loss:g}"
        return words if self.share is None else f"{words}; phase {2 - self.share:g} enters"

    def begin(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield mirror(f[NOW[side.axis]], over=side.faces, on=side.face, mirror=AS_INSIDE)

    def advance(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        new, old = f[NEW[side.axis]], f[NOW[side.axis]]
        yield extrapolate(new, old, over=side.faces, on=side.face)
        if self.timed:
            pressure = timed(side.key, "p", stage.timed)
            yield push_outlet(new, over=side.faces, dt=stage.dt, pressure=pressure, opening=pressed(side))

    def resist(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        new, old, about = f[NEW[side.axis]], f[NOW[side.axis]], pressed(side)
        loss = Loss(self.loss)
        yield resist(new, old, f.p, over=side.faces, on=side.face, dt=stage.dt, opening=about, loss=loss)

    def begin_ghosts(self, state: State, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        normal, (first, _) = state[side.axis], side.along
        for name, field in side.across(state):
            if name == "T":
                yield from self.quantity_ghosts(field, "T", normal, side, stage.timed)
            else:
                along, over = (enter_along_r if name == "uvw"[first] else enter_along_s), side.outside(name)
                yield along(field, normal, over=over, on=side.face)

    def ghosts(self, f: Roles, new: State, old: State, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield from self.begin_ghosts(new, side, stage)

    def bounded_ghosts(self, T: str, velocity: Velocity, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield from self.quantity_ghosts(T, "T", velocity[side.axis], side, stage.timed)

    def quantity_ghosts(self, field: str, name: str, normal: str, side: BoxSide, ending: str) -> Iterator[Launch]:
        """Fill ghost temperatures, with the normal velocity in a field."""
        number = timed(side.key, name, ending) if self.warming else None
        value = entering(side, 1.0 if self.warming else self.outside_temperature)
        yield enter(field, normal, over=side.ghosts, on=side.face, number=number, mirror=value)

    def share_ghosts(self, share: str, velocity: Velocity, side: BoxSide) -> Iterator[Launch]:
        value = Mirror(-1.0, 2 * self._share)
        yield enter(share, velocity[side.axis], over=side.layer, on=side.face, number=None, mirror=value)

    def level_set_ghosts(self, phi: str, velocity: Velocity, side: BoxSide, beyond: float) -> Iterator[Launch]:
        value = Mirror(0.0, (2 * self._share - 1) * beyond)
        yield enter(phi, velocity[side.axis], over=side.layer, on=side.face, number=None, mirror=value)

    @property
    def _share(self) -> float:
        assert self.share is not None, "two phases give the phase"
        return self.share


Vent.in_bodies = Vent
