"""The shapes that the phases fill at the start: [[two_phase.shapes]]."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, cast

from taskflow.errors import BadInput
from taskflow.geometry import Composition, Formula
from taskflow.simulation.bodies.bodies import shape
from taskflow.simulation.case.grid import GridTable
from taskflow.simulation.case.initial import Function, Profile
from taskflow.simulation.case.magnitudes import places_have_squares
from taskflow.simulation.case.obstacles import SHAPES, ShapeTable
from taskflow.simulation.case.problems import Problem, numbered
from taskflow.simulation.case.table import entry, reads


def _shape_type(value: object) -> object:
    if value == "surface":
        slow = "triangles are not available as a phase in this version, as distances to them take too long"
        raise BadInput(f'{slow}; give "implicit" or "heights"')
    return value


class PhaseShape(ShapeTable):
    """A shape that a phase fills at the start."""

    type: Annotated[Literal["box", "sphere", "cylinder", "implicit", "heights"], reads(_shape_type)] = entry(
        "the shape, with its keys, as of [obstacles](#obstacles)",
        remedy=f"give one of {', '.join(name for name in SHAPES if name != 'surface')}",
    )
    phase: Literal[1, 2] = entry("the phase in it", remedy="give the phase in it, 1 or 2")


def composed(shapes: Sequence[PhaseShape], background: int, grid: GridTable) -> Profile | Composition:
    """phi of phases that fill shapes, one after the other: the distance to the interface, positive in phase 1. With
    functions of Python it is one itself, which is computed once. Raises BadInput where a file cannot be read.
    """
    parts = []
    for number, table in enumerate(shapes, start=1):
        try:
            outline = shape(table.type, table, grid)
        except BadInput as error:
            raise BadInput(f"two_phase.shapes[{number}]: {error}") from None
        parts.append((cast(Formula, outline), table.phase == 1))  # surfaces of triangles are refused
    far = math.hypot(*grid.lengths)
    phi = Composition(tuple(parts), far if background == 1 else -far)
    called = any(isinstance(table.inside, Function) for table in shapes)
    return Function(phi) if called else phi


def shapes_are_inside(two_phase: Any, grid: GridTable) -> Iterator[Problem]:
    """Problems with shapes of `two_phase` that are nowhere in the domain; of files nothing is known here."""
    for place, table in numbered(shapes=two_phase.shapes or ()):
        key = ("two_phase", *place)
        if unfit := list(places_have_squares(key, table)):
            yield from unfit
        elif table.type != "heights":
            low, high = shape(table.type, table, grid).bounds
            if any(a >= end or b <= start for a, b, (start, end) in zip(low, high, grid.ends, strict=True)):
                yield grid.beyond((*key, "type"), table.type)
