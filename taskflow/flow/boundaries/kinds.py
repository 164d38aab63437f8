"""The kinds of sides by their names in a case."""

from taskflow.common.registry import Registry, require_dataclass
from taskflow.flow.boundaries.collocated import FLUXES
from taskflow.flow.boundaries.condition import BoundaryCondition

HERE = "taskflow.flow.boundaries"


def _usable(kind: type[BoundaryCondition]) -> None:
    """Raise TypeError unless a value is a complete class of boundary conditions."""
    require_dataclass(kind, BoundaryCondition, "boundary condition", "name")
    if kind.flux is not None and kind.flux not in FLUXES:
        raise TypeError(f"flux = {kind.flux!r} has to be None, {', '.join(map(repr, FLUXES))}")
    if kind.enters and not kind.brings:
        raise TypeError("enters = True has to come with brings = True: what enters has values")


BOUNDARIES: Registry[type[BoundaryCondition]] = Registry("taskflow.boundaries", {
    "wall": f"{HERE}.wall:Wall",
    "slip": f"{HERE}.slip:Slip",
    "symmetry": f"{HERE}.slip:Symmetry",
    "inflow": f"{HERE}.inflow:Inflow",
    "outflow": f"{HERE}.outflow:Outflow",
    "vent": f"{HERE}.vent:Vent",
    "far-field": f"{HERE}.far_field:FarField",
}, _usable)  # fmt: skip


def register_boundary(kind: type[BoundaryCondition]) -> None:
    """Register a kind of side in this process by its `name`, without an entry point.

    Raises BadInput if the name belongs to taskflow, or the class is not complete.
    """
    BOUNDARIES.register(getattr(kind, "name", ""), kind)
