"""The kinds of sides by their names in a case."""

from taskflow.common.registry import Registry
from taskflow.flow.boundaries.condition import BoundaryCondition

HERE = "taskflow.flow.boundaries"
BOUNDARIES: Registry[type[BoundaryCondition]] = Registry("taskflow.boundaries", {
    "wall": f"{HERE}.wall:Wall",
    "slip": f"{HERE}.slip:Slip",
    "symmetry": f"{HERE}.slip:Symmetry",
    "inflow": f"{HERE}.inflow:Inflow",
    "outflow": f"{HERE}.outflow_conditions:Outflow",
    "far-field": f"{HERE}.far_field:FarField",
})  # fmt: skip


def register_boundary(kind: type[BoundaryCondition]) -> None:
    """Register a kind of side in this process by its `name`, without an entry point."""
    BOUNDARIES.register(kind.name, kind)
