"""Openings in the faces of bodies on a grid: their cells, flags and values."""

from __future__ import annotations

from collections.abc import Mapping

from taskflow.cases import Case
from taskflow.cases.tables.body_openings import body_face
from taskflow.cases.tables.openings import OpeningTable
from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies.flags import insulated, opened
from taskflow.flow.boundaries.box_side import boxes_on
from taskflow.runtime.regions import triple
from taskflow.systems.bodies.masks import BodyOpening


def openings_of(case: Case, grid: StaggeredGrid) -> dict[str, BodyOpening]:
    """Return the openings in faces of bodies, by name."""
    found = {}
    for table in (table for table in case.openings if table.obstacle is not None):
        face, side = body_face(table, grid, case.obstacles), -1 if table.side.endswith("max") else 1
        plane = face.plane if side < 0 else face.plane - 1
        shift = triple(plane * (a == face.axis) for a in range(3))  # from the first plane of cells
        cells = tuple(box.shift(shift) for box in boxes_on(table.face, face.covered))
        flagged = opened if table.kind.permeable else insulated
        found[table.name] = BodyOpening(cells, (face.axis, side), flagged, _entering(case, table))
    return found


def _entering(case: Case, table: OpeningTable) -> dict[str, float]:
    """Return the values of what enters through an opening, by field."""
    if not table.kind.brings:
        return {}
    given = [("T", table.temperature)] if case.heat else []
    given += [(scalar.name, table.released.get(scalar.name, 0.0)) for scalar in case.scalars]
    return {name: value for name, value in given if isinstance(value, float)}  # others are refused


def sharing(case: Case, openings: Mapping[str, BodyOpening], outlet: OpeningTable) -> str | None:
    """Return the name of another opening that has its values in the same cells of a body as an outflow."""
    own = [*openings[outlet.name].behind]
    for other in (one for one in case.openings if one.obstacle == outlet.obstacle and one.kind.permeable):
        if other.name != outlet.name and any(a & b for a in own for b in openings[other.name].behind):
            return other.name
    return None


def unmeasured(case: Case) -> set[str | None]:
    """Return the names of bodies whose force is not measured: fluid passes their faces, or a part moves or has a
    temperature in a body with another.
    """
    warm = {obstacle.name for obstacle in case.obstacles if obstacle.temperature is not None}
    return {table.obstacle for table in case.openings if table.obstacle in warm or table.kind.permeable
            or any(part != 0.0 for part in table.velocity or ())}  # fmt: skip
