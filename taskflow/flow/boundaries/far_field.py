"""A free stream far away, of body-fitted grids."""

from dataclasses import dataclass
from typing import ClassVar

from taskflow.flow.boundaries.condition import FluxKind
from taskflow.flow.boundaries.opening import Opening


@dataclass(frozen=True)
class FarField(Opening):
    """Beyond the side there is a free stream; fluid enters and leaves."""

    name: ClassVar[str] = "far-field"
    keys: ClassVar[frozenset[str]] = frozenset(("velocity", "pressure", "temperature"))
    on_boxes = False
    flux: ClassVar[FluxKind | None] = "far"
    enters = True
    fixes_pressure = True
