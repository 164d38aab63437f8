"""The boundary conditions and the fluid of a case, as attributes of a store."""

from __future__ import annotations

import math
from typing import Any

from taskflow.cases import Case
from taskflow.cases.tables.boundaries import Boundary
from taskflow.cases.tables.openings import OpeningTable
from taskflow.cases.tables.timed import Value
from taskflow.flow import StaggeredGrid
from taskflow.flow.boundaries.box_side import rectangles
from taskflow.output.store.conditions import SIDES, BoundarySide, Conditions, OpeningSide, Rectangle


def conditions(case: Case) -> Conditions:
    """Return the boundary conditions and properties of the fluid, with defaults filled in."""
    heat = {"T": case.heat.diffusivity} if case.heat else {}
    grid = case.staggered
    opened = [side for *_, side in case.conditions if isinstance(side, OpeningTable)]
    return Conditions(
        sides={name: BoundarySide(**_values(case, case.boundary(name))) for name in SIDES},
        cells=case.grid.cells,
        openings={
            opening.name: OpeningSide(side=opening.side, faces=_faces(opening, grid), **_values(case, opening))
            for opening in opened
            if opening.obstacle is None
        },
        viscosity=case.fluid.viscosity,
        diffusivities=heat | {scalar.name: scalar.diffusivity for scalar in case.scalars},
        thermal_expansion=case.heat.expansion if case.heat else 0.0,
        gravity=case.body.gravity,
    )


def _values(case: Case, boundary: Boundary) -> dict[str, Any]:
    kind = boundary.type
    if kind == "periodic" or not boundary.kind.solid:
        return {"type": kind, "permeable": kind != "periodic" and boundary.kind.permeable}
    insulated = case.heat is not None and boundary.temperature is None and boundary.heat_transfer is None
    x, y, z = map(_constant, boundary.velocity or (0.0, 0.0, 0.0))
    return {
        "type": kind,
        "velocity": (x or 0.0, y or 0.0, z or 0.0),
        "temperature": _constant(boundary.temperature),
        "heat_flux": _constant(boundary.heat_flux) if insulated else None,
        "heat_transfer": boundary.heat_transfer,
        "outside_temperature": _constant(boundary.outside_temperature),
        "roughness": boundary.roughness,
    }


def _constant(of: Value | None) -> float | None:
    """Return a number; NaN if it changes in time."""
    return of if of is None or isinstance(of, float) else math.nan


def _faces(opening: OpeningTable, grid: StaggeredGrid) -> tuple[Rectangle, ...]:
    """Return the rectangles of its faces, by their ends."""
    x, y = (grid.faces(axis).tolist() for axis in range(3) if axis != opening.axis)
    found = rectangles(opening.covers(grid))
    return tuple((x[low[1]], x[high[1]], y[low[0]], y[high[0]]) for low, high in found)
