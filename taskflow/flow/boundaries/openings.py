"""Sides with openings: parts with separate conditions. Faces of bodies may have openings, too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from taskflow.flow.boundaries.box_side import Boxes, BoxSide, SidePart
from taskflow.flow.boundaries.condition import Boundaries, BoundaryCondition
from taskflow.flow.grid import Grid
from taskflow.runtime.tasks import FACES


@dataclass(frozen=True)
class SideOpening:
    """Part of a side: the boxes of its faces, and its condition. For `part` see `SidePart`."""

    name: str
    face: str
    part: SidePart
    condition: BoundaryCondition


@dataclass(frozen=True)
class OpenedSides(Mapping[str, BoundaryCondition]):
    """The conditions of sides by face, and of openings in them, on which the conditions of their sides do not hold."""

    sides: Boundaries
    openings: tuple[SideOpening, ...]

    def __getitem__(self, face: str) -> BoundaryCondition:
        return self.sides[face]

    def __iter__(self) -> Iterator[str]:
        return iter(self.sides)

    def __len__(self) -> int:
        return len(self.sides)


def openings(boundaries: Boundaries) -> tuple[SideOpening, ...]:
    return boundaries.openings if isinstance(boundaries, OpenedSides) else ()


def all_conditions(boundaries: Boundaries, *, in_bodies: bool = True) -> list[tuple[str, BoundaryCondition]]:
    """Return the face and the condition of each side and of each opening."""
    opened = (opening for opening in openings(boundaries) if in_bodies or opening.part.plane is None)
    return [*boundaries.items(), *((opening.face, opening.condition) for opening in opened)]


def held_in_bodies(boundaries: Boundaries, grid: Grid) -> list[BoxSide]:
    """Return the openings in faces of bodies on which the pressure is prescribed."""
    return [side for side, condition in parts(boundaries, grid) if side.in_body and condition.fixes_pressure]


def parts(boundaries: Boundaries, grid: Grid) -> list[tuple[BoxSide, BoundaryCondition]]:
    """Return the sides from x_min to z_max with their conditions, each followed by its openings, and openings of bodies
    at the end.
    """
    found, in_bodies = [], [opening for opening in openings(boundaries) if opening.part.plane is not None]
    for face in (face for face in FACES if face in boundaries):
        own = [opening for opening in openings(boundaries) if opening.face == face and opening not in in_bodies]
        taken = tuple(box for opening in own for box in opening.part.inside or ())
        left = BoxSide(face, grid, SidePart(face, f"boundaries.{face}", face, None, taken) if taken else None)
        if bool(own) == bool(taken) and left.faces:  # else openings cover the whole side
            found.append((left, boundaries[face]))
        for opening in own:
            others = tuple(box for box in taken if box not in (opening.part.inside or ()))
            found.append((BoxSide(face, grid, replace(opening.part, others=others)), opening.condition))
    return [*found, *((BoxSide(opening.face, grid, opening.part), opening.condition) for opening in in_bodies)]


def of_both_kinds(boundaries: Boundaries, grid: Grid) -> list[tuple[BoxSide, BoundaryCondition]]:
    """Return the parts of sides on which p is prescribed on some parts alone."""
    found = [(side, condition) for side, condition in parts(boundaries, grid) if not side.in_body]
    kinds: dict[str, set[bool]] = {}
    for side, condition in found:
        kinds.setdefault(side.face, set()).add(condition.fixes_pressure)
    return [(side, condition) for side, condition in found if len(kinds[side.face]) == 2]


def closed_faces(boundaries: Boundaries, grid: Grid) -> Iterator[tuple[int, Boxes]]:
    """Yield the axis and the faces on which the pressure has no gradient, on sides with p prescribed on other faces."""
    for side, condition in of_both_kinds(boundaries, grid):
        if not condition.fixes_pressure:
            yield side.axis, side.faces
