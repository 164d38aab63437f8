"""The shapes that the phases fill at the start: [[two_phase.shapes]]."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Literal, cast

from taskflow.errors import BadInput
from taskflow.geometry import ClosedSurface, Composition, Distance, Pointwise, SurfaceDistance
from taskflow.simulation.bodies.bodies import shape
from taskflow.simulation.case.grid import AXES, GridTable
from taskflow.simulation.case.initial import Function, Profile
from taskflow.simulation.case.magnitudes import places_have_squares
from taskflow.simulation.case.obstacles import SHAPES, ShapeTable
from taskflow.simulation.case.problems import Problem, numbered
from taskflow.simulation.case.table import entry

REACH = 3  # spacings, as far as distances to triangles are found: the first iterations go on from there
FARTHEST = 1e50  # where a corner of a triangle may be: squares of its areas are finite


class PhaseShape(ShapeTable):
    """A shape that a phase fills at the start."""

    type: Literal["box", "sphere", "cylinder", "implicit", "surface", "heights"] = entry(
        "the shape, with its keys, as of [obstacles](#obstacles)", remedy=f"give one of {', '.join(SHAPES)}"
    )
    phase: Literal[1, 2] = entry("the phase in it", remedy="give the phase in it, 1 or 2")


def composed(shapes: Sequence[PhaseShape], background: int, grid: GridTable) -> Profile | Composition:
    """phi of phases that fill shapes, one after the other: the distance to the interface, positive in phase 1. With
    functions of Python it is one itself, which is computed once. Raises BadInput where a file cannot be read, or its
    triangles are nowhere in the domain.
    """
    parts = []
    for number, table in enumerate(shapes, start=1):
        try:
            outline = _outline(table, grid)
        except BadInput as error:
            raise BadInput(f"two_phase.shapes[{number}]: {error}") from None
        parts.append((outline, table.phase == 1))
    far = math.hypot(*grid.lengths)
    phi = Composition(tuple(parts), far if background == 1 else -far)
    return Function(phi) if any(isinstance(table.inside, Function) for table in shapes) else phi


def _outline(table: PhaseShape, grid: GridTable) -> Distance:
    outline = shape(table.type, table, grid)
    if not isinstance(outline, ClosedSurface):
        return cast(Pointwise, outline)  # as all other shapes are
    for axis, low, high, (start, end) in zip(AXES, *outline.bounds, grid.ends, strict=True):
        if high <= start or low >= end or max(-low, high) > FARTHEST:
            raise BadInput(
                f"{table.file}: its triangles go from {low:g} to {high:g} along {axis}, and the domain from {start:g}"
                f" to {end:g}; give a scale or a shift by which they are in it"
            )
    return SurfaceDistance(outline, REACH * max(a / n for a, n in zip(grid.lengths, grid.cells, strict=True)))


def shapes_are_inside(two_phase: Any, grid: GridTable) -> Iterator[Problem]:
    """Problems with shapes of `two_phase` that are nowhere in the domain; of files nothing is known here."""
    for place, table in numbered(shapes=two_phase.shapes or ()):
        key = ("two_phase", *place)
        if unfit := list(places_have_squares(key, table)):
            yield from unfit
        elif table.type not in ("surface", "heights"):
            low, high = shape(table.type, table, grid).bounds
            if any(a >= end or b <= start for a, b, (start, end) in zip(low, high, grid.ends, strict=True)):
                yield grid.beyond((*key, "type"), table.type)
