"""Openings: parts of a side of a box with separate conditions, [[openings]]."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.values import checked, number, three, tuple_of
from taskflow.cases.language.problems import Problem, exclusive, missing, names_differ, numbered, present, wrong
from taskflow.cases.language.table import Positive, Table, Vector, entry, optional, reads, written
from taskflow.cases.tables import boundaries as sides
from taskflow.cases.tables.boundaries import Boundaries, Boundary
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.kinds import Kind
from taskflow.cases.tables.magnitudes import winds_can_be_computed
from taskflow.cases.tables.physics import (
    Heat,
    TurbulenceTable,
    rough_walls_are_resolved,
    sides_have_heat,
    tables_have_heat,
)
from taskflow.cases.tables.pressure import PressureTable
from taskflow.cases.tables.probes import GroupName
from taskflow.cases.tables.scalars import Scalars
from taskflow.cases.tables.timed import Value, of_time
from taskflow.common.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.runtime.regions import triple

NEAR = 1e-6  # of the domain: a place that far beyond its side is on it
TWO = "give the lowest and the highest corner, as [[0, 0.4, 0.4], [0, 0.6, 0.6]]"
_corners = tuple_of(three(number, "three numbers"), 2, TWO)
ORDERED = "give the lowest corner, then the highest"
_box = checked(_corners, lambda ends: all(a <= b for a, b in zip(*ends, strict=True)), ORDERED)
PLACED = "box", "disk", "where"
PLACES = "give box, disk or where: the faces of its side that it takes"


class DiskTable(Table):
    """A disk on a side."""

    centre: Vector = entry("its centre, on the side", remedy="give the centre of the disk, three numbers")
    radius: Positive = entry("its radius", remedy="give the radius of the disk, a number > 0")


def _released(raw: object) -> dict[str, Value]:
    if not isinstance(raw, Mapping):
        raise BadInput("give the value of each scalar by its name, as { smoke = 1.0 }")
    return {str(name): of_time(value) for name, value in raw.items()}


class OpeningTable(Boundary):
    """A part of a side with a separate condition. It has the keys of a side of its type, too."""

    placing: ClassVar[frozenset[str]] = frozenset(("type", "name", "side", "box", "disk", "where", "scalars"))

    name: GroupName = entry(
        "in the log and in reports: letters, digits, hyphens and underscores", remedy="give the opening a name"
    )
    side: Literal["x_min", "x_max", "y_min", "y_max", "z_min", "z_max"] = entry(
        "the side of the domain in which it is", remedy="give the side in which it is, x_min to z_max"
    )
    box: Annotated[tuple[Vector, Vector] | None, reads(_box)] = optional(
        "lowest and highest corner. It takes the faces whose centres are between them"
    )
    disk: DiskTable | None = optional("instead of `box`: `{ centre = [x, y, z], radius = r }`")
    where: Annotated[Expression | None, reads(Expression)] = optional(
        "instead of `box`: an expression of x, y and z, which is positive at the centres of its faces"
    )
    scalars: Annotated[dict[str, Value] | None, reads(_released)] = optional(
        "values of passive scalars by name, in entering fluid or on a wall. They may"
        " [change in time](#values-that-change-in-time)",
        otherwise="0 in entering fluid, elsewhere no gradient",
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        yield from super().conflicts(values)
        yield from exclusive(values, *PLACED, needed=missing("box", PLACES))

    @classmethod
    def called(cls, kind: Kind) -> str:
        return f"{sides.called(kind)} opening"

    @property
    def placed(self) -> tuple[str, Any]:
        """The key of its place, and the value as in a case file."""
        (key,) = present(dict(self), *PLACED)
        return key, written(getattr(self, key))

    @property
    def axis(self) -> int:
        """The axis across its side."""
        return AXES.index(self.side[0])

    def covers(self, grid: StaggeredGrid) -> np.ndarray:
        """Return whether each face of its side belongs to it: [second, first] of the axes along the side."""
        first, second = (axis for axis in range(3) if axis != self.axis)
        places: list[Any] = [None] * 3
        places[self.axis] = grid.faces(self.axis)[[-1 if self.side.endswith("max") else 0]][0]
        places[first] = grid.coordinates("c", first)[None, :]
        places[second] = grid.coordinates("c", second)[:, None]
        if self.box is not None:
            inside = [(self.box[0][a] <= places[a]) & (places[a] <= self.box[1][a]) for a in (first, second)]
        elif self.disk is not None:
            inside = [sum((places[a] - self.disk.centre[a]) ** 2 for a in (first, second)) <= self.disk.radius**2]
        else:
            assert self.where is not None
            inside = [self.where(*places) > 0]
        shape = grid.cells[second], grid.cells[first]
        return np.asarray(np.logical_and.reduce([np.broadcast_to(one, shape) for one in inside]))


Openings = tuple[OpeningTable, ...]


def _names(openings: Openings) -> Iterator[Problem]:
    return names_differ(set(), numbered(openings=openings), "another opening has this name; give each its own")


def _lie_on_sides(boundaries: Boundaries, openings: Openings) -> Iterator[Problem]:
    for key, opening in numbered(openings=openings):
        name = opening.side[0]
        if getattr(boundaries, name) is not None:
            remedy = f"{name} is periodic; give a side of another direction, or types for {name}_min and {name}_max"
            yield wrong((*key, "side"), opening.side, remedy)


def _lie_on_their_sides(grid: GridTable, openings: Openings) -> Iterator[Problem]:
    for key, opening in numbered(openings=openings):
        name = opening.side[0]
        if opening.box is not None:
            low, high = opening.box
        elif opening.disk is not None:
            centre, radius = opening.disk.centre, opening.disk.radius
            low, high = (triple(x + s * radius * (a != opening.axis) for a, x in enumerate(centre)) for s in (-1, 1))
        else:
            continue
        place, value = opening.placed
        for axis, (first, last) in enumerate(grid.ends):
            near = NEAR * (last - first)
            at = last if opening.side.endswith("max") else first
            if axis == opening.axis and not low[axis] - near <= at <= high[axis] + near:
                yield wrong((*key, place), value, f"it is not on {opening.side}, where {name} = {at:g}; move it there")
            elif axis != opening.axis and not first - near <= low[axis] <= high[axis] <= last + near:
                remedy = f"it leaves {opening.side}, where {AXES[axis]} goes from {first:g} to {last:g}; move it inside"
                yield wrong((*key, place), value, remedy)


def _take_faces(staggered: StaggeredGrid, boundaries: Boundaries, openings: Openings) -> Iterator[Problem]:
    taken = {}
    for key, opening in numbered(openings=openings):
        place, value = opening.placed
        try:
            taken[key] = opening.covers(staggered)
        except BadInput as error:
            yield wrong((*key, place), value, str(error))
            continue
        if not taken[key].any():
            yield wrong((*key, place), value, f"it has the centre of no face of {opening.side}; enlarge it, or refine")
    found = [(key, opening) for key, opening in numbered(openings=openings) if key in taken]
    for (one, first), (other, second) in combinations(found, 2):
        if first.side == second.side and first.name != second.name and (taken[one] & taken[other]).any():
            place, value = second.placed
            remedy = f"it overlaps the opening {first.name} on {first.side}; move one of them, or make it smaller"
            yield wrong((*other, place), value, remedy)


def _as_sides(rule: Callable[..., Iterator[Problem]], openings: Openings, *more: Any) -> Iterator[Problem]:
    """Yield the problems that a rule of sides finds with openings."""
    for key, opening in numbered(openings=openings):
        alone = Boundaries.model_construct(**{opening.side: opening})
        for problem in rule(alone, *more):
            yield replace(problem, keys=(*key, *problem.keys[2:]))


def _are_sound_sides(grid: GridTable, openings: Openings) -> Iterator[Problem]:
    yield from _as_sides(lambda alone: sides.walls_have_room(grid, alone), openings)
    for rule in (sides.inflow_fits_its_side, sides.values_may_vary, sides.walls_stay, winds_can_be_computed):
        yield from _as_sides(rule, openings)


def _have_heat(heat: Heat | None, openings: Openings) -> Iterator[Problem]:
    yield from _as_sides(lambda alone: sides_have_heat(heat, alone), openings)
    yield from _as_sides(lambda alone: tables_have_heat(heat, alone), openings)


def _are_smooth(
    staggered: StaggeredGrid, turbulence: TurbulenceTable | None, openings: Openings
) -> Iterator[Problem]:  # fmt: skip
    yield from _as_sides(lambda alone: rough_walls_are_resolved(staggered, alone, turbulence), openings)


def _scalars_exist(scalars: Scalars, openings: Openings) -> Iterator[Problem]:
    names = [scalar.name for scalar in scalars]
    for key, opening in numbered(openings=openings):
        for name, value in (opening.scalars or {}).items():
            if name not in names:
                known = f"give one of {', '.join(names)}" if names else "this case has no [[scalars]]; add one"
                yield wrong((*key, "scalars", name), written(value), f"there is no such scalar; {known}")
            elif opening.kind.permeable and not opening.kind.enters and "loss" not in opening.kind.keys:
                remedy = f"{sides.called(opening.kind)} opening lets nothing in; omit it"
                yield wrong((*key, "scalars", name), written(value), remedy)


def partly_released(grid: StaggeredGrid, boundaries: Boundaries, openings: Openings) -> str | None:
    """Return why an FFT cannot solve for the pressure next to openings; None if it can."""
    for opening in openings:
        around = boundaries.sides[opening.side]
        if opening.kind.fixes_pressure != around.kind.fixes_pressure and not opening.covers(grid).all():
            kinds = f"{around.type}, part {opening.type} ({opening.name})"
            return f"{opening.side} is part {kinds}, and FFT needs one condition of the pressure on a side"
    return None


def least_released(grid: StaggeredGrid, boundaries: Boundaries, openings: Openings) -> float:
    """Return the least share of a side on which the pressure is given, over the sides where it is in part."""
    shares = [1.0]
    for face in {opening.side for opening in openings}:
        own = [opening for opening in openings if opening.side == face]
        given = boundaries.sides[face].kind.fixes_pressure
        other = float(sum(opening.covers(grid).mean() for opening in own if opening.kind.fixes_pressure != given))
        share = 1 - other if given else other
        shares += [share] if share > 0 else []
    return min(shares)


def _are_solved(
    staggered: StaggeredGrid, boundaries: Boundaries, openings: Openings, pressure: PressureTable
) -> Iterator[Problem]:  # fmt: skip
    sound = not any(_lie_on_sides(boundaries, openings)) and not any(_take_faces(staggered, boundaries, openings))
    if pressure.solver == "fft" and sound and (reason := partly_released(staggered, boundaries, openings)):
        yield wrong(("pressure", "solver"), pressure.solver, f'{reason}; give "multigrid"')


OpeningTable.rules = (
    _names, _lie_on_sides, _lie_on_their_sides, _take_faces, _are_sound_sides, _have_heat, _are_smooth, _scalars_exist,
    _are_solved,
)  # fmt: skip
