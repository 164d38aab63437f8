"""Conditions of a passive scalar on a side: a value, a diffusive flux, or the value of fluid that enters a vent."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from taskflow.flow.boundaries.boundary import Mirror, mirror, mirror_timed
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.condition import Velocity
from taskflow.flow.boundaries.vent import enter, entering
from taskflow.flow.boundaries.wall_supply import CellsAtFace, WallSupply
from taskflow.runtime.tasks import Launch


@dataclass(frozen=True)
class ScalarCondition(ABC):
    """Condition with one number. If `timed`, the number is its maximum, and a scalar of the stage has its present one.

    `prescribed` is true if the value on the side is given.
    """

    number: float = 0.0
    timed: bool = False
    prescribed: ClassVar[bool] = False

    @property
    def factor(self) -> float:
        """The factor of the present number if `timed`, else the number."""
        return 1.0 if self.timed else self.number

    @property
    def largest(self) -> float:
        """The largest magnitude of a value that the condition gives."""
        return abs(self.number)

    @property
    def flux(self) -> float:
        """Flux into the domain per area and time, or its maximum."""
        return 0.0

    @abstractmethod
    def ghosts(self, name: str, velocity: Velocity, side: BoxSide, diffusivity: float, timed: str) -> Launch:
        """Return the launch for the ghost values of a field. `timed` is the scalar with the present number."""


class Mirrored(ScalarCondition):
    """Ghost value = factor inside + value."""

    @abstractmethod
    def mirror(self, side: BoxSide, diffusivity: float) -> Mirror:
        """Return factor and value."""

    def supply(self, side: CellsAtFace, diffusivity: float, timed: str) -> WallSupply:
        """Return what a wall in the face of a body adds. `timed` is as of `ghosts`, without the suffix of a stage."""
        return WallSupply.of(self.mirror(side, diffusivity), timed if self.timed else None, side, diffusivity)

    def ghosts(self, name: str, velocity: Velocity, side: BoxSide, diffusivity: float, timed: str) -> Launch:
        where: dict[str, Any] = {"over": side.ghosts, "on": side.face, "mirror": self.mirror(side, diffusivity)}
        return mirror_timed(name, **where, number=timed) if self.timed else mirror(name, **where)


@dataclass(frozen=True)
class Fixed(Mirrored):
    """Value on the side: ghost = 2 value - inside."""

    prescribed: ClassVar[bool] = True

    def mirror(self, side: BoxSide, diffusivity: float) -> Mirror:
        return Mirror(-1.0, 2 * self.factor)


@dataclass(frozen=True)
class Flux(Mirrored):
    """Diffusive flux into the domain per area and time: ghost = inside + flux spacing / diffusivity."""

    @property
    def largest(self) -> float:
        return 0.0

    @property
    def flux(self) -> float:
        return self.number

    def mirror(self, side: BoxSide, diffusivity: float) -> Mirror:
        return Mirror(1.0, self.factor * side.spacing / diffusivity if self.factor else 0.0)


@dataclass(frozen=True)
class Entering(ScalarCondition):
    """Value of the fluid that enters through a vent. Leaving fluid keeps its own."""

    def ghosts(self, name: str, velocity: Velocity, side: BoxSide, diffusivity: float, timed: str) -> Launch:
        where: dict[str, Any] = {"over": side.ghosts, "on": side.face, "number": timed if self.timed else None}
        return enter(name, velocity[side.axis], **where, mirror=entering(side, self.factor))


Faces = Mapping[str, ScalarCondition]  # by the key of a side: x_min to z_max, and of openings
