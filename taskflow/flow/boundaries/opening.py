"""Open sides: the launches that they add to a stage."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from taskflow.flow.boundaries.boundary import AS_INSIDE, mirror
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.condition import BoundaryCondition, Velocity
from taskflow.flow.boundaries.outflow import Coefficients, correct_outlet, opening
from taskflow.runtime.tasks import Launch, Roles

State = tuple[str, ...]  # the fields that are u, v, w and, with heat, T


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
            about = opening(side)
            yield correct_outlet(q, p, on_faces, over=side.faces, on=side.face, dt=dt, opening=about)

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
