"""Where the flow is followed more closely than by snapshots: [[probes]], [[planes]]."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from taskflow.errors import BadInput
from taskflow.simulation.case.control import EVERYTHING, Interval, names
from taskflow.simulation.case.problems import Problem, missing, present, wrong
from taskflow.simulation.case.table import Number, Table, Vector, entry, listed, reads
from taskflow.simulation.schedule import Every
from taskflow.simulation.values import number, text, three, whole

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


def _count(value: object) -> int:
    count = whole(value)
    if not 2 <= count <= MOST_POINTS:
        raise BadInput(f"give 2 to {MOST_POINTS}")
    return count


GroupName = Annotated[str, reads(_name)]
PLACE = "where the plane is, along one of them; the nearest layer of cells is recorded"


def named() -> Any:
    """The key for the name of a group."""
    return entry(
        "of its group in the store: letters, digits, hyphens and underscores",
        remedy="give the name of its group in the store",
    )


class Line(Table):
    """Points on a line, equally far from each other, both ends included."""

    low: Vector = entry("where it begins", remedy="give the point where the line begins, three numbers")
    high: Vector = entry("where it ends", remedy="give the point where the line ends, three numbers")
    points: Annotated[int, Field(ge=2, le=MOST_POINTS), reads(_count)] = entry(
        "how many points", remedy="give the number of points, 2 or more"
    )


class Probe(Table):
    """Values at points, or along a line."""

    name: GroupName = named()
    points: Annotated[tuple[Vector, ...] | None, reads(_points)] = entry(
        f"a list of points, three numbers each; at most {MOST_POINTS:,}", None, otherwise="this or `line` is required"
    )
    line: Line | None = entry("in place of `points`: points on a line, see below", None)
    every: Interval = entry("as `output.every`; cuts no step. Time 0 is always there", Every(steps=10))
    fields: Annotated[tuple[str, ...] | None, reads(names)] = entry("as `output.fields`", None, otherwise=EVERYTHING)

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


class Across(Table):
    """Something across one direction."""

    name: GroupName = named()
    x: Number | None = entry(PLACE, None)
    y: Number | None = entry(PLACE, None)
    z: Number | None = entry(PLACE, None)

    @property
    def axis(self) -> int:
        """Which direction is across it: 0, 1 or 2."""
        return next(n for n, place in enumerate((self.x, self.y, self.z)) if place is not None)

    @property
    def position(self) -> float:
        """Where it is along that."""
        return next(place for place in (self.x, self.y, self.z) if place is not None)


class Plane(Across):
    """A layer of cells."""

    every: Interval = entry("as `output.every`; cuts no step", remedy="give how often, as output.every")
    fields: Annotated[tuple[str, ...] | None, reads(names)] = entry("as `output.fields`", None, otherwise=EVERYTHING)

    @classmethod
    def conflicts(cls, given: Mapping[str, Any]) -> Iterator[Problem]:
        yield from one_place(given, ("x", "y", "z"), "give x, y or z: where the plane is")


def one_place(given: Mapping[str, Any], keys: tuple[str, ...], remedy: str) -> Iterator[Problem]:
    """One of the keys says where something is, and no other one."""
    where = present(given, *keys)
    if not where:
        yield missing("z", remedy)
    for key in where[1:]:
        yield wrong(key, given[key], f"{where[0]} is given as well; give one of them")


probes, planes = listed(Probe, "tables, each under [[probes]]"), listed(Plane, "tables, each under [[planes]]")
Probes = Annotated[tuple[Probe, ...], reads(probes)]
Planes = Annotated[tuple[Plane, ...], reads(planes)]
