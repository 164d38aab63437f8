"""Openings: parts of a side of a box with separate conditions, [[openings]]."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from taskflow.cases.language.problems import Key, Problem, numbered, wrong
from taskflow.cases.language.table import entry
from taskflow.cases.tables import boundaries as sides
from taskflow.cases.tables.body_openings import RULES, PlacedInBody, have_few_faces
from taskflow.cases.tables.boundaries import Boundaries, Boundary
from taskflow.cases.tables.control import Time
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.magnitudes import winds_can_be_computed
from taskflow.cases.tables.physics import Heat, sides_have_heat, tables_have_heat
from taskflow.cases.tables.places import names_are_own, scalars_exist, take_faces
from taskflow.cases.tables.pressure import PressureTable
from taskflow.cases.tables.turbulence import TurbulenceTable, rough_walls_are_resolved
from taskflow.flow import StaggeredGrid
from taskflow.runtime.regions import triple

NEAR = 1e-6  # of the domain: a place that far beyond its side is on it


class OpeningTable(PlacedInBody, Boundary):
    """A part of a side with a separate condition. It has the keys of a side of its type, too."""

    side: Literal["x_min", "x_max", "y_min", "y_max", "z_min", "z_max"] = entry(
        "the side of the domain, or of the `obstacle`, in which it is",
        remedy="give the side in which it is, x_min to z_max",
    )

    def covers(self, grid: StaggeredGrid) -> np.ndarray:
        """Return whether each face of its side belongs to it: [second, first] of the axes along the side."""
        return _covered(self, grid)


@lru_cache(maxsize=64)
def _covered(opening: OpeningTable, grid: StaggeredGrid) -> np.ndarray:
    first, second = (axis for axis in range(3) if axis != opening.axis)
    points: list[Any] = [None] * 3
    points[opening.axis] = grid.faces(opening.axis)[[-1 if opening.side.endswith("max") else 0]][0]
    points[first] = grid.coordinates("c", first)[None, :]
    points[second] = grid.coordinates("c", second)[:, None]
    taken = opening.contains(points, (first, second))
    taken.flags.writeable = False
    return taken


Openings = tuple[OpeningTable, ...]


def _in_sides(openings: Openings) -> list[tuple[Key, OpeningTable]]:
    """Return the openings in sides of the domain, with their keys."""
    return [(key, opening) for key, opening in numbered(openings=openings) if opening.obstacle is None]


def _lie_on_sides(boundaries: Boundaries, openings: Openings) -> Iterator[Problem]:
    for key, opening in _in_sides(openings):
        name = opening.side[0]
        if getattr(boundaries, name) is not None:
            remedy = f"{name} is periodic; give a side of another direction, or types for {name}_min and {name}_max"
            yield wrong((*key, "side"), opening.side, remedy)


def _lie_on_their_sides(grid: GridTable, openings: Openings) -> Iterator[Problem]:
    for key, opening in _in_sides(openings):
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


def _take_faces(staggered: StaggeredGrid, openings: Openings) -> Iterator[Problem]:
    if not any(have_few_faces(staggered, openings)):
        yield from take_faces(_in_sides(openings), lambda opening: opening.covers(staggered))


def _as_sides(rule: Callable[..., Iterator[Problem]], openings: Openings, *more: Any) -> Iterator[Problem]:
    """Yield the problems that a rule of sides finds with openings."""
    for key, opening in numbered(openings=openings):
        alone = Boundaries.model_construct(**{opening.face: opening})
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


def partly_released(grid: StaggeredGrid, boundaries: Boundaries, openings: Openings) -> dict[str, str]:
    """Return the sides on which the pressure is given in part alone, with the reason why FFT cannot solve for it."""
    reasons: dict[str, str] = {}
    for _, opening in _in_sides(openings):
        around = boundaries.sides[opening.side]
        if opening.kind.fixes_pressure != around.kind.fixes_pressure and not opening.covers(grid).all():
            kinds = f"{around.type}, part {opening.type} ({opening.name})"
            reason = f"{opening.side} is part {kinds}, and FFT needs one condition of the pressure on a side"
            reasons.setdefault(opening.side, reason)
    return reasons


def _are_solved(
    staggered: StaggeredGrid, boundaries: Boundaries, openings: Openings, pressure: PressureTable
) -> Iterator[Problem]:  # fmt: skip
    on_sides = not any(_lie_on_sides(boundaries, openings)) and not any(have_few_faces(staggered, openings))
    sound = on_sides and not any(_take_faces(staggered, openings))
    for reason in partly_released(staggered, boundaries, openings).values() if sound else ():
        if pressure.solver == "fft":
            yield wrong(("pressure", "solver"), pressure.solver, f'{reason}; give "multigrid"')


def _leave_implicit_lines_alone(time: Time, openings: Openings) -> Iterator[Problem]:
    """Implicit diffusion has the same condition at all lines of cells along its direction."""
    for key, opening in _in_sides(openings):
        if opening.side[0] in (time.implicit or ()):
            remedy = f"time.implicit needs one condition on all of {opening.side}; give another side, or omit it"
            yield wrong((*key, "side"), opening.side, remedy)


OpeningTable.rules = (
    names_are_own, _lie_on_sides, _lie_on_their_sides, have_few_faces, _take_faces, _are_sound_sides, _have_heat,
    _are_smooth, scalars_exist, _are_solved, _leave_implicit_lines_alone, *RULES,
)  # fmt: skip
