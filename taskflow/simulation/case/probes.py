"""Where the flow is followed more closely than by snapshots: [[probes]], [[planes]]."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from taskflow.errors import BadInput
from taskflow.simulation.case.control import Interval, names
from taskflow.simulation.case.problems import Problem, missing, present, wrong
from taskflow.simulation.case.table import Number, Table, Vector, Whole, listed, reads
from taskflow.simulation.schedule import Every
from taskflow.simulation.values import number, text, three

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
MOST_POINTS = 100_000
_place = three(number, "three numbers")


def _name(value: object) -> str:
    name = text(value)
    if not _NAME.fullmatch(name):
        raise BadInput("give a name of letters, digits, hyphens and underscores, beginning with a letter")
    return name


def _points(value: object) -> tuple[tuple[float, float, float], ...]:
    if not isinstance(value, (list, tuple)) or not value:
        raise BadInput("give a list of points, as [[0.5, 0.5, 0.5]]")
    if len(value) > MOST_POINTS:
        raise BadInput(f"these are {len(value)} points; give at most {MOST_POINTS}")
    return tuple(_place(point) for point in value)


class Line(Table):
    """So many `points` from `low` to `high`, equally far from each other, both ends included."""

    low: Vector = Field(description="give the point where the line begins, three numbers")
    high: Vector = Field(description="give the point where the line ends, three numbers")
    points: Whole = Field(description="give the number of points, 2 or more")

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        count = given.get("points")
        if isinstance(count, int) and not 2 <= count <= MOST_POINTS:
            yield wrong("points", count, f"give 2 to {MOST_POINTS}")


class Probe(Table):
    """Values of `fields` at `points`, or along a `line`, `every` so often."""

    name: Annotated[str, reads(_name)] = Field(description="give the name of its group in the store")
    points: Annotated[tuple[Vector, ...] | None, reads(_points)] = None
    line: Line | None = None
    every: Interval = Every(steps=10)
    fields: Annotated[tuple[str, ...] | None, reads(names)] = None

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        if len(present(given, "points", "line")) == 2:
            yield wrong("line", given["line"], "points are given as well; give one of them")
        elif not present(given, "points", "line"):
            yield missing("points", "give a list of points, or a line")

    @property
    def places(self) -> tuple[tuple[float, float, float], ...]:
        """All points."""
        if self.line is None:
            return self.points or ()
        shares = [n / (self.line.points - 1) for n in range(self.line.points)]
        ends = list(zip(self.line.low, self.line.high, strict=True))
        found = [tuple(low * (1 - share) + high * share for low, high in ends) for share in shares]
        return tuple((x, y, z) for x, y, z in found)


class Plane(Table):
    """The layer of cells at a place along `x`, `y` or `z`: `fields` in it, `every` so often."""

    name: Annotated[str, reads(_name)] = Field(description="give the name of its group in the store")
    x: Number | None = None
    y: Number | None = None
    z: Number | None = None
    every: Interval = Field(description="give how often, as output.every")
    fields: Annotated[tuple[str, ...] | None, reads(names)] = None

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        where = present(given, "x", "y", "z")
        if not where:
            yield missing("z", "give x, y or z: where the plane is")
        for key in where[1:]:
            yield wrong(key, given[key], f"{where[0]} is given as well; give one of them")

    @property
    def axis(self) -> int:
        """Which direction is across it: 0, 1 or 2."""
        return next(n for n, place in enumerate((self.x, self.y, self.z)) if place is not None)

    @property
    def position(self) -> float:
        """Where it is along that."""
        return next(place for place in (self.x, self.y, self.z) if place is not None)


probes, planes = listed(Probe, "tables, each under [[probes]]"), listed(Plane, "tables, each under [[planes]]")
Probes = Annotated[tuple[Probe, ...], reads(probes)]
Planes = Annotated[tuple[Plane, ...], reads(planes)]
