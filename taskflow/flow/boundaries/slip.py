"""Sides without friction, and planes of symmetry."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from taskflow.flow.boundaries.collocated import CellFields, Condition, beyond_symmetry
from taskflow.flow.boundaries.condition import BoundaryCondition, FluxKind, Side
from taskflow.runtime.tasks import Launch


@dataclass(frozen=True)
class Slip(BoundaryCondition):
    """No flow through the side, no friction, no heat flux. On boxes identical to a plane of symmetry."""

    name: ClassVar[str] = "slip"
    flux: ClassVar[FluxKind | None] = "closed"
    symmetric = True


@dataclass(frozen=True)
class Symmetry(Slip):
    """A plane of symmetry. On body-fitted grids the normal gradient of the pressure is 0."""

    name: ClassVar[str] = "symmetry"
    mirrors = True

    def collocated(self, side: Side, fields: CellFields, values: Condition) -> Iterator[Launch]:
        for where in side.each(values):
            yield beyond_symmetry(fields.flow, fields.T, fields.metrics, **where)
