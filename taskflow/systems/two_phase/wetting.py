"""Contact angles of walls in a case: rules and warnings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from taskflow.cases.language.problems import Key, Problem, wrong
from taskflow.cases.tables.boundaries import Boundaries
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.machine import Machine
from taskflow.cases.tables.openings import Openings
from taskflow.flow.models.two_phase.walls import HEIGHTS, WET


def angles(boundaries: Boundaries) -> dict[str, float]:
    """Return the contact angles that are given, by side."""
    given = {face: side.contact_angle for face, side in boundaries.sides.items()}
    return {face: angle for face, angle in given.items() if angle is not None}


def walls_are_wetted(
    two_phase: Any, boundaries: Boundaries, opened: Openings, grid: GridTable, machine: Machine
) -> Iterator[Problem]:
    """Yield problems with contact angles: their values, methods without them, sides with openings, few cells."""
    for face, angle in angles(boundaries).items():
        key: Key = ("boundaries", face, "contact_angle")
        cells = grid.cells[AXES.index(face[0])]
        if not 0 < angle < 180:
            yield wrong(key, angle, "give an angle through phase 1 between 0 and 180 degrees; 90 is the default")
        elif two_phase.method != "vof":
            yield wrong(key, angle, 'a level set meets walls at 90 degrees; give two_phase.method = "vof", or omit it')
        elif any(opening.side == face and opening.kind.permeable for opening in opened):
            yield wrong(key, angle, "its wall has openings, at which an interface has no angle; omit it, or them")
        elif cells < HEIGHTS:
            yield wrong(key, angle, f"there are {cells} cells across it; give {HEIGHTS} or more")
    if angles(boundaries) and machine.blocks != "auto":
        for axis, blocks, cells in zip(AXES, machine.blocks, grid.cells, strict=True):
            if blocks > 1 and cells // blocks < WET:
                thin = f"with a contact angle they need {WET} cells along {axis}"
                yield wrong(("machine", "blocks"), machine.blocks, f"{thin}; give at most {max(1, cells // WET)} there")


def without_tension(boundaries: Boundaries, surface_tension: float) -> Iterator[str]:
    """Warn of contact angles without surface tension."""
    for face, angle in angles(boundaries).items() if not surface_tension else ():
        yield (
            f"boundaries.{face}.contact_angle = {angle:g}: without surface tension an interface meets walls at any"
            " angle; give two_phase.surface_tension, or omit it"
        )
