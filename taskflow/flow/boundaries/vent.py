"""A vent: the pressure decides whether fluid enters or leaves, through a grille that costs pressure.

Outside fluid is at rest, at a pressure P over density. With the outward speed s and the loss coefficient K, the
pressure on the face is

    P + K s^2 / 2           where fluid leaves,
    P - (1 + K) s^2 / 2     where it enters: Bernoulli's law from rest outside, and the loss.

So the normal velocity changes as at an outflow with the pressure P, less the drag k s |s| / h over the half cell h / 2
next to the face, k being K or 1 + K. The drag is implicit in s, with the last pressure in the speed to which it
applies, as the projection adds the new one: a steady flow does not depend on the step, and no loss limits it.

What enters has no velocity along the side, and the temperature and scalars of the outside. Leaving fluid
keeps its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from taskflow.flow.boundaries.boundary import INSIDE, mirror, timed
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.condition import GivenValues, Velocity
from taskflow.flow.boundaries.opening import AS_INSIDE, OpenSide, StageNames, State
from taskflow.flow.boundaries.outflow import Opening, opening
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Face, Launch, Read, ReadWrite, Roles, Scalar, facing, task

VENT = KERNELS / "boundaries" / "vent.cu"
ON_FACE = facing(n=(1, 1), high=(0, 0))  # from a ghost cell to the face
NEW, NOW = ("u_new", "v_new", "w_new"), ("u", "v", "w")


@dataclass(frozen=True)
class Outside:
    """The value of what enters, or the factor of a number that varies."""

    value: float


@dataclass(frozen=True)
class Loss:
    """The loss coefficient of a vent."""

    loss: float


@task(kernel=VENT)
def pass_vent(
    q_new: ReadWrite[INSIDE], q: Read[facing(n=(0, 1))], p: Read[facing(n=(0, 0), high=(1, 1))],
    *, on: Face, dt: Scalar, pressure: Scalar | None, opening: Opening, loss: Loss,
) -> None:  # fmt: skip
    """q_new = (q + q_new[inside] - q[inside] - sign dt (pressure - p) / (spacing / 2)) / (1 + dt k |q| / spacing), less
    the contribution of p, over the faces of a side, q being the normal velocity.
    """


@task(kernel=VENT)
def enter(q: ReadWrite[INSIDE], normal: Read[ON_FACE], *, on: Face, number: Scalar | None, outside: Outside) -> None:
    """q[ghost] = 2 value number - q[inside] where fluid enters, else q[inside], over the layer of ghost cells."""


@task(kernel=VENT)
def enter_along_r(r: ReadWrite[INSIDE], normal: Read[facing(n=(1, 1), high=(0, 0), r=(-1, 0))], *, on: Face) -> None:
    """`enter` with value 0 of the first velocity along the side, with the mean of the normal velocities next to it."""


@task(kernel=VENT)
def enter_along_s(s: ReadWrite[INSIDE], normal: Read[facing(n=(1, 1), high=(0, 0), s=(-1, 0))], *, on: Face) -> None:
    """`enter` with value 0 of the second velocity along the side, with the mean of the normal velocities next to it."""


@dataclass(frozen=True)
class Vent(OpenSide):
    """The outside at a `pressure` over density (0, or the scalar `timed` of "p" for each stage, with its largest
    magnitude here), a `loss` coefficient, and the `temperature` outside, `warming` if it changes in time.
    """

    name: ClassVar[str] = "vent"
    keys: ClassVar[frozenset[str]] = frozenset(("pressure", "loss", "temperature"))
    varies = frozenset(("time",))
    fixes_pressure = True
    filled = True

    pressure: float = 0.0
    loss: float = 0.0
    outside: float = 0.0
    timed: bool = False
    warming: bool = False

    @classmethod
    def of(cls, given: GivenValues) -> Self:
        pressure, loss = given.number("pressure") or 0.0, given.number("loss") or 0.0
        changing = "pressure" in given.timed or pressure != 0
        return cls(pressure, loss, given.number("temperature") or 0.0, changing, "temperature" in given.timed)

    @property
    def described(self) -> str:
        pressure = f"up to {self.pressure:g}" if self.timed else "0"
        return f"the pressure {pressure} outside sets the flow in or out, with the loss coefficient {self.loss:g}"

    def begin(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        yield mirror(f[NOW[side.axis]], over=side.faces, on=side.face, mirror=AS_INSIDE)

    def advance(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        new, old = f[NEW[side.axis]], f[NOW[side.axis]]
        pressure = timed(side.key, "p", stage.timed) if self.timed else None
        yield pass_vent(
            new, old, f.p, over=side.faces, on=side.face, opening=opening(side), loss=Loss(self.loss), dt=stage.dt,
            pressure=pressure,
        )  # fmt: skip

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
        value = Outside(1.0 if self.warming else self.outside)
        yield enter(field, normal, over=side.ghosts, on=side.face, number=number, outside=value)
