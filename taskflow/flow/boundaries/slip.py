"""Sides without friction, and planes of symmetry."""

from dataclasses import dataclass
from typing import ClassVar

from taskflow.flow.boundaries.condition import BoundaryCondition, FluxKind


@dataclass(frozen=True)
class Slip(BoundaryCondition):
    """Nothing passes: no flow through, no friction, no heat. On boxes the same as a plane of symmetry."""

    name: ClassVar[str] = "slip"
    flux: ClassVar[FluxKind | None] = "closed"
    symmetric = True


@dataclass(frozen=True)
class Symmetry(Slip):
    """A plane of symmetry. On body-fitted grids the pressure has no gradient across it."""

    name: ClassVar[str] = "symmetry"
