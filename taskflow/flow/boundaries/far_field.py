"""The free stream far away, on body-fitted grids."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from taskflow.flow.boundaries.boundary import Value, impose
from taskflow.flow.boundaries.collocated import CellFields, Condition, far_away
from taskflow.flow.boundaries.condition import FluxKind, GivenValues, Side
from taskflow.flow.boundaries.opening import OpenSide
from taskflow.runtime.tasks import Launch


@dataclass(frozen=True)
class FarField(OpenSide):
    """Free stream outside the side. Fluid enters and leaves."""

    name: ClassVar[str] = "far-field"
    keys: ClassVar[frozenset[str]] = frozenset(("velocity", "pressure", "temperature"))
    on_boxes = False
    flux: ClassVar[FluxKind | None] = "far"
    enters = True
    brings = True
    fixes_pressure = True

    @classmethod
    def of(cls, given: GivenValues) -> Self:
        return cls()

    def collocated(self, side: Side, fields: CellFields, values: Condition) -> Iterator[Launch]:
        for where in side.each(values):
            yield far_away(fields.flow, fields.T, **where)

    def collocated_scalar(self, side: Side, scalar: str, metrics: str | None, values: Condition) -> Iterator[Launch]:
        """Set ghost values to the free-stream value, instead of making it the mean with the value inside."""
        yield impose(scalar, over=side.ghosts, value=Value(values.temperature))
