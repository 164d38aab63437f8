"""Open sides: the launches that they add to a stage, and the tasks on their faces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from taskflow.flow.boundaries.boundary import AS_INSIDE, INSIDE, mirror
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.condition import BoundaryCondition, Velocity
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.tasks import Face, Launch, Read, ReadWrite, Roles, Scalar, Write, facing, frame, task

TEXT = KERNELS / "boundaries" / "outflow.cu"
Coefficients = tuple[str, ...] | None  # fields on faces across x, y and z
State = tuple[str, ...]  # the fields that are u, v, w and, with heat, T


@dataclass(frozen=True)
class Opening:
    """An open side: `sign` of an outward velocity, `inverse` spacing across, and the number of its `faces`."""

    sign: float
    inverse: float
    faces: float


@task(kernel=TEXT)
def convect(
    q_new: Write, q: Read[facing(n=(0, 1))], *, on: Face, dt: Scalar, outflow_speed: Scalar, opening: Opening
) -> None:
    """q_new = q - C (q - q[inside]), C = dt outflow_speed / spacing, limited to 0 <= C <= 1.

    Over the faces of a side for the normal velocity, over the layer of ghost cells for other fields.
    """


@task(kernel=TEXT)
def extrapolate(q_new: ReadWrite[INSIDE], q: Read[facing(n=(0, 1))], *, on: Face) -> None:
    """q_new = q + q_new[inside] - q[inside], over the faces of a side, q being the normal velocity."""


@task(kernel=TEXT)
def correct_outlet(
    q: ReadWrite, p: Read[facing(n=(0, 0), high=(1, 1))], b: Read | None, *, on: Face, dt: Scalar, opening: Opening
) -> None:
    """q = q + sign dt b p[cell inside] / (spacing / 2), over the faces of a side, q being the normal velocity: the
    correction by a pressure that is 0 on the face. b = 1 if absent.
    """


@task(kernel=TEXT)
def push_outlet(q: ReadWrite, *, dt: Scalar, pressure: Scalar, opening: Opening) -> None:
    """q = q - sign dt pressure / (spacing / 2), over the faces of a side: the effect of a pressure on the face."""


@task(kernel=TEXT)
def balance(q: ReadWrite, *, total: Scalar["exact sum"], outflow_speed: Scalar, opening: Opening) -> None:
    """q = q + constant, over the faces of a side, such that its mean, from its sum, is outflow_speed outward."""


def opening(side: BoxSide) -> Opening:
    """Return the constants of a side that kernels read."""
    return Opening(1.0 if frame(side.face)[1] else -1.0, 1.0 / side.spacing, side.count)


def pressed(side: BoxSide) -> Opening:
    """Return the constants of a side with a pressure on its faces, half a cell from the cell inside."""
    return replace(opening(side), inverse=1.0 / side.width)


@dataclass(frozen=True)
class StageNames:
    """Names of the scalars of a stage: its length `dt` and the `speed` of convective outflow. `ending` is the suffix of
    values prescribed on faces, `timed` of further scalars.
    """

    dt: str
    speed: str
    ending: str

    @property
    def timed(self) -> str:
        return self.dt.removeprefix("dt")


class OpenSide(BoundaryCondition):
    """A side that fluid may pass, the base class of `permeable` kinds."""

    permeable: ClassVar[bool] = True

    def begin(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        """Set the normal velocity before the first projection."""
        yield from ()

    def advance(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        """Set the normal velocity at the end of a stage, before its projection. The velocity inside is already set."""
        yield from ()

    def resist(self, f: Roles, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        """Reduce the normal velocity by losses, after `advance`. A model of two phases has its own losses."""
        yield from ()

    def correct(self, velocity: Velocity, p: str, side: BoxSide, dt: str, b: Coefficients) -> Iterator[Launch]:
        """Correct the normal velocity by the projection, whose equation has the coefficients `b`, by default 1."""
        if self.fixes_pressure:
            q, on_faces = velocity[side.axis], b and b[side.axis]
            yield correct_outlet(q, p, on_faces, over=side.faces, on=side.face, dt=dt, opening=pressed(side))

    def begin_ghosts(self, state: State, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        """Fill the ghost values of a `filled` side at the start."""
        yield from ()

    def ghosts(self, f: Roles, new: State, old: State, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        """Fill the ghost values of a `filled` side at the end of a stage."""
        yield from ()

    def bounded_ghosts(self, T: str, velocity: Velocity, side: BoxSide, stage: StageNames) -> Iterator[Launch]:
        """Fill the ghost values of a bounded temperature at the end of a stage."""
        if self.filled:
            yield mirror(T, over=side.ghosts, on=side.face, mirror=AS_INSIDE)
