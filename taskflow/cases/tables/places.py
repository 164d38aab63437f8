"""The place of an opening on its side, for boxes and for body-fitted grids: a box, a disk or an expression."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Annotated, Any, ClassVar

import numpy as np

from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.values import corners
from taskflow.cases.language.problems import (
    Key,
    Problem,
    exclusive,
    missing,
    names_differ,
    numbered,
    present,
    wrong,
)
from taskflow.cases.language.table import Positive, Table, Text, Vector, entry, optional, reads, written
from taskflow.cases.tables.boundaries import called
from taskflow.cases.tables.kinds import Kind, SideTable
from taskflow.cases.tables.probes import GroupName
from taskflow.cases.tables.scalars import Scalars
from taskflow.cases.tables.timed import Value, of_time
from taskflow.common.errors import BadInput

PLACED = "box", "disk", "where"
PLACES = "give box, disk or where: the faces of its side that it takes"


class DiskTable(Table):
    """A disk on a side."""

    centre: Vector = entry("its centre, on the side", remedy="give the centre of the disk, three numbers")
    radius: Positive = entry("its radius", remedy="give the radius of the disk, a number > 0")


def by_name(raw: object, value: Callable[[Any], Value] = of_time) -> dict[str, Value]:
    """Read the value of each scalar by its name."""
    if not isinstance(raw, Mapping):
        raise BadInput("give the value of each scalar by its name, as { smoke = 1.0 }")
    return {str(name): value(given) for name, given in raw.items()}


class PlacedSide(SideTable):
    """A part of a side with a separate condition: the keys that say which part it is."""

    brief: ClassVar[str | None] = None
    placing: ClassVar[frozenset[str]] = frozenset(("type", "name", "side", "box", "disk", "where", "scalars"))

    name: GroupName = entry(
        "in the log and in reports", remedy="give the opening a name"
    )
    side: Text = entry("the side of the grid in which it is", remedy="give the side in which it is")
    box: Annotated[tuple[Vector, Vector] | None, reads(corners(flat=True))] = optional(
        "lowest and highest corner. It takes the faces whose centres are between them"
    )
    disk: DiskTable | None = optional("instead of `box`: `{ centre = [x, y, z], radius = r }`")
    where: Annotated[Expression | None, reads(Expression)] = optional(
        "instead of `box`: an expression of x, y and z, which is positive at the centres of its faces"
    )
    scalars: Annotated[dict[str, Value] | None, reads(by_name)] = optional(
        "values of passive scalars by name, in entering fluid or on a wall. They may"
        " [change in time](#values-that-change-in-time)",
        otherwise="0 in entering fluid, elsewhere no gradient",
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        yield from super().conflicts(values)
        yield from exclusive(values, *PLACED, needed=None if cls.takes_all(values) else missing("box", PLACES))

    @classmethod
    def takes_all(cls, values: Mapping[str, Any]) -> bool:
        """Return whether it takes all of its side without a place."""
        return False

    @classmethod
    def called(cls, kind: Kind) -> str:
        return f"{called(kind)} opening"

    @property
    def placed(self) -> tuple[str, Any]:
        """The key of its place, and the value as in a case file."""
        key = next(iter(present(dict(self), *PLACED)), "side")
        return key, written(getattr(self, key))

    @property
    def around(self) -> str:
        """The side in which it is, as text."""
        return self.side

    @property
    def released(self) -> dict[str, Value]:
        return self.scalars or {}

    def contains(self, points: Any, axes: Sequence[int], near: float = 0.0) -> np.ndarray:
        """Return whether its place has points x, y, z, seen along these axes, or a box has them `near` its ends."""
        if self.box is not None:
            low, high = self.box
            inside = [(low[a] - near <= points[a]) & (points[a] <= high[a] + near) for a in axes]
        elif self.disk is not None:
            inside = [sum((points[a] - self.disk.centre[a]) ** 2 for a in axes) <= self.disk.radius**2]
        elif self.where is not None:
            inside = [self.where(*points) > 0]
        else:
            inside = [True]
        shape = np.broadcast_shapes(*(np.shape(point) for point in points))
        return np.asarray(np.logical_and.reduce([np.broadcast_to(one, shape) for one in inside]))


def names_are_own(openings: Sequence[PlacedSide]) -> Iterator[Problem]:
    return names_differ(set(), numbered(openings=openings), "another opening has this name; give each its own")


def take_faces(keyed: Sequence[tuple[Key, PlacedSide]], covers: Callable[[Any], np.ndarray]) -> Iterator[Problem]:
    """Yield the problems of openings without faces, and of openings that overlap. `covers` marks faces of a side."""
    taken = {}
    for key, opening in keyed:
        place, value = opening.placed
        try:
            taken[key] = covers(opening)
        except BadInput as error:
            yield wrong((*key, place), value, str(error))
            continue
        if not taken[key].any():
            yield wrong((*key, place), value, f"it has the centre of no face of {opening.side}; enlarge it, or refine")
    found = [(key, opening) for key, opening in keyed if key in taken]
    for (one, first), (other, second) in combinations(found, 2):
        if first.side == second.side and first.name != second.name and (taken[one] & taken[other]).any():
            place, value = second.placed
            remedy = f"it overlaps the opening {first.name} on {first.side}; move one of them, or make it smaller"
            yield wrong((*other, place), value, remedy)


def scalars_exist(scalars: Scalars, openings: Sequence[PlacedSide]) -> Iterator[Problem]:
    names = [scalar.name for scalar in scalars]
    for key, opening in numbered(openings=openings):
        for name, value in opening.released.items():
            if name not in names:
                known = f"give one of {', '.join(names)}" if names else "this case has no [[scalars]]; add one"
                yield wrong((*key, "scalars", name), written(value), f"there is no such scalar; {known}")
            elif opening.kind.permeable and not opening.kind.brings:
                remedy = f"{called(opening.kind)} opening lets nothing in; omit it"
                yield wrong((*key, "scalars", name), written(value), remedy)
