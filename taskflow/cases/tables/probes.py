"""Records at shorter intervals than snapshots: [[probes]], [[surfaces]], [[isosurfaces]]."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from pydantic import Field

from taskflow.cases.formulas.values import checked, number, text, three, whole
from taskflow.cases.language.problems import Key, Problem, missing, numbered, unknown_fields, wrong
from taskflow.cases.language.table import Number, Table, Text, Vector, entry, optional, reads
from taskflow.cases.tables.control import EVERYTHING, FieldNames, Interval
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.physics import Heat
from taskflow.cases.tables.scalars import Corners, Scalars
from taskflow.cases.timing.intervals import Every
from taskflow.common.derived_names import WORDS
from taskflow.common.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.runtime.regions import triple

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
NAMED = "give a name of letters, digits, hyphens and underscores, beginning with a letter"
MOST_POINTS = 100_000
TAKEN = ("statistics", "time", "grid", "solid", *(f"{axis}_{place}" for axis in AXES for place in "cf"))
_place = three(number, "three numbers")
_count = checked(whole, lambda count: 2 <= count <= MOST_POINTS, f"give 2 to {MOST_POINTS}")


def _points(value: object) -> tuple[tuple[float, float, float], ...]:
    if not isinstance(value, (list, tuple)) or not value:
        raise BadInput("give a list of points, as [[0.5, 0.5, 0.5]]")
    if len(value) > MOST_POINTS:
        raise BadInput(f"these are {len(value)} points; give at most {MOST_POINTS}")
    return tuple(_place(point) for point in value)


GroupName = Annotated[str, reads(checked(text, lambda name: bool(_NAME.fullmatch(name)), NAMED))]
PointList = Annotated[tuple[Vector, ...] | None, reads(_points)]
OFTEN = "interval of records, time 0 included"
FACES_AT = "a plane through the whole domain at this position. The nearest faces are used"
PLACE = "position of the plane. The nearest layer of cells is recorded"


class RecordTable(Table):
    """Something with a group of its own in the store."""

    name: GroupName = entry(
        "of its group in the store",
        remedy="give the name of its group in the store",
    )


class Line(Table):
    """Points on a line, equally far from each other, both ends included."""

    low: Vector = entry("first point", remedy="give the point where the line begins, three numbers")
    high: Vector = entry("last point", remedy="give the point where the line ends, three numbers")
    points: Annotated[int, Field(ge=2, le=MOST_POINTS), reads(_count)] = entry(
        "number of points", remedy="give the number of points, 2 or more"
    )


class Probe(RecordTable):
    """Values at points, or along a line."""

    alternatives = ((("points", "line"), missing("points", "give a list of points, or a line")),)

    points: PointList = optional(
        f"a list of at most {MOST_POINTS:,} points, three numbers each", otherwise="this or `line` is required"
    )
    line: Line | None = optional("instead of `points`: points on a line, see below")
    every: Interval = entry("interval of records, time 0 included", Every(steps=10))
    fields: FieldNames = optional("as `output.fields`", otherwise=EVERYTHING)

    @property
    def places(self) -> tuple[tuple[float, float, float], ...]:
        if self.line is None:
            return self.points or ()
        shares = [n / (self.line.points - 1) for n in range(self.line.points)]
        ends = list(zip(self.line.low, self.line.high, strict=True))
        return tuple(triple(low * (1 - share) + high * share for low, high in ends) for share in shares)


class Across(RecordTable):
    """Something across one direction."""

    x: Number | None = optional(PLACE)
    y: Number | None = optional(PLACE)
    z: Number | None = optional(PLACE)

    @property
    def axis(self) -> int:
        """Which direction is across it: 0, 1 or 2."""
        return next(n for n, place in enumerate((self.x, self.y, self.z)) if place is not None)

    @property
    def position(self) -> float:
        """The position of the plane along its axis."""
        return next(place for place in (self.x, self.y, self.z) if place is not None)


Probes = tuple[Probe, ...]


class SurfaceTable(Across):
    """A plane, or the sides of a box, through which fluxes are integrated."""

    alternatives = (((*AXES, "box"), missing("z", "give x, y or z, where a plane is, or a box")),)

    x: Number | None = optional(FACES_AT)
    y: Number | None = optional(FACES_AT)
    z: Number | None = optional(FACES_AT)
    box: Corners | None = optional(
        "instead of a plane: the six sides of a box, given by its lowest and highest corner. The nearest faces are used"
    )
    every: Interval = entry(OFTEN, Every(steps=10))


class IsosurfaceTable(RecordTable):
    """The surface on which a quantity has a value."""

    field: Text = entry(
        "`T`, the name of a scalar or a [derived field](#derived-fields), with two phases `f` or `phi`",
        remedy="give the field, T or the name of a scalar",
    )
    value: Number = entry("its value on the surface", remedy="give the value on the surface, a number")
    every: Interval = entry(OFTEN, Every(steps=10))


Surfaces = tuple[SurfaceTable, ...]
Isosurfaces = tuple[IsosurfaceTable, ...]


def _fields_exist(recordable: tuple[str, ...], probes: Probes) -> Iterator[Problem]:
    for key, table in numbered(probes=probes):
        yield from unknown_fields((*key, "fields"), table.fields, recordable)


def _places_are_inside(grid: GridTable, probes: Probes) -> Iterator[Problem]:
    for key, probe in numbered(probes=probes):
        outside = (place for place in probe.places if not grid.contains(place))
        yield from (grid.beyond((*key, "line" if probe.line else "points"), place) for place in islice(outside, 1))


def plane_is_inside(grid: GridTable, key: Key, plane: Across) -> Iterator[Problem]:
    (low, high), axis = grid.ends[plane.axis], AXES[plane.axis]
    if not low <= plane.position <= high:
        remedy = f"beyond the domain, where {axis} goes from {low:g} to {high:g}; move it inside"
        yield wrong((*key, axis), plane.position, remedy)


def _surfaces_are_inside(grid: GridTable, surfaces: Surfaces) -> Iterator[Problem]:
    for key, surface in numbered(surfaces=surfaces):
        if surface.box is None:
            yield from plane_is_inside(grid, key, surface)
        elif not grid.contains(*surface.box):
            yield grid.beyond((*key, "box"), surface.box)


def _boxes_have_cells(staggered: StaggeredGrid, surfaces: Surfaces) -> Iterator[Problem]:
    for key, surface in numbered(surfaces=surfaces):
        for axis, places in enumerate(zip(*surface.box, strict=True) if surface.box else ()):
            low, high = (staggered.nearest_face(axis, place) for place in places)
            if low == high:
                remedy = f"both ends are nearest to the same face across {AXES[axis]}; give a larger box, or more cells"
                yield wrong((*key, "box"), surface.box, remedy)
                break


def _isosurfaces_are_of_what_is_carried(
    heat: Heat | None, scalars: Scalars, isosurfaces: Isosurfaces
) -> Iterator[Problem]:
    carried = (*(("T",) if heat else ()), *(scalar.name for scalar in scalars), *WORDS)
    for table, surface in numbered(isosurfaces=isosurfaces):
        key = (*table, "field")
        if surface.field not in carried:
            remedy = f"a surface is of T, a scalar or a derived field; give {' or '.join(carried)}"
            yield wrong(key, surface.field, remedy)


Probe.rules = (
    _fields_exist, _places_are_inside, _surfaces_are_inside, _boxes_have_cells,
    _isosurfaces_are_of_what_is_carried,
)  # fmt: skip
