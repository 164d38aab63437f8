"""Openings in the faces of bodies: their faces of cells, and refusals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from taskflow.cases.language.problems import Key, Problem, numbered, present, shown, wrong
from taskflow.cases.language.table import Text, optional, written
from taskflow.cases.tables.grid import AXES
from taskflow.cases.tables.kinds import Kind
from taskflow.cases.tables.obstacles import Obstacle, Obstacles
from taskflow.cases.tables.places import PlacedSide
from taskflow.cases.tables.pressure import PressureTable
from taskflow.cases.tables.timed import Timed, placed
from taskflow.cases.tables.turbulence import TurbulenceTable
from taskflow.flow import StaggeredGrid
from taskflow.flow.boundaries.kinds import BOUNDARIES

MOST = 10**8  # faces of a side with openings: each face has a flag


class PlacedInBody(PlacedSide):
    """An opening in a side of the domain, or in a face of a body."""

    placing: ClassVar[frozenset[str]] = PlacedSide.placing | {"obstacle"}

    obstacle: Text | None = optional(
        "the name of a `box` of [obstacles](#obstacles), in whose face it is, by default in all of it. An `inflow`"
        " along the normal, an `outflow`, a `vent` or a `wall`. The temperature and scalars of what enters are numbers",
        otherwise="it is in a side of the domain",
    )

    @classmethod
    def takes_all(cls, values: Mapping[str, Any]) -> bool:
        return values.get("obstacle") is not None

    @classmethod
    def _keys_fit(cls, values: Mapping[str, Any], kind: Kind) -> Iterator[Problem]:
        inside = kind.chosen(values).in_bodies if cls.takes_all(values) else None
        for problem in super()._keys_fit(values, kind):
            if inside is None or problem.keys[-1] not in inside.keys:
                yield problem

    @property
    def axis(self) -> int:
        """The axis across its side."""
        return AXES.index(self.side[0])

    @property
    def face(self) -> str:
        """Its side relative to the fluid, "x_min" for the high face of a body across x."""
        if self.obstacle is None:
            return self.side
        return f"{self.side[0]}_{'min' if self.side.endswith('max') else 'max'}"

    @property
    def around(self) -> str:
        return self.side if self.obstacle is None else f"{self.side} of {self.obstacle}"


Openings = Sequence[PlacedInBody]


@dataclass(frozen=True, eq=False)
class BodyFace:
    """The face of a box of cells in which an opening lies: its number across `axis`, and whether each face of a cell
    belongs to the opening, [second, first] of the axes along it.
    """

    axis: int
    plane: int
    covered: np.ndarray


def body_face(opening: PlacedInBody, grid: StaggeredGrid, obstacles: Iterable[Obstacle]) -> BodyFace:
    """Return the faces of an opening in a body, which is a box."""
    (body,) = (one for one in obstacles if one.name == opening.obstacle)
    low, high = body.low or (), body.high or ()  # which a box has
    axis, (first, second) = opening.axis, (other for other in range(3) if other != opening.axis)
    centres = [grid.coordinates("c", other) for other in range(3)]
    inside = [(a <= x) & (x < b) for x, a, b in zip(centres, low, high, strict=True)]
    cells = np.flatnonzero(inside[axis])
    plane = 0 if not cells.size else int(cells[-1]) + 1 if opening.side.endswith("max") else int(cells[0])
    points: list[Any] = [None, None, None]
    points[axis] = grid.faces(axis)[plane]
    points[first], points[second] = centres[first][None, :], centres[second][:, None]
    taken = opening.contains(points, (first, second)) & inside[first] & inside[second][:, None] & bool(cells.size)
    return BodyFace(axis, plane, taken)


def have_few_faces(staggered: StaggeredGrid, openings: Openings) -> Iterator[Problem]:
    for key, opening in numbered(openings=openings):
        faces = math.prod(n for axis, n in enumerate(staggered.cells) if axis != opening.axis)
        if faces > MOST:
            remedy = f"this side has {faces:.3g} faces, and a side with openings at most {MOST:.3g}; give fewer cells"
            yield wrong((*key, "side"), opening.side, remedy)


def of_bodies(openings: Openings) -> list[tuple[Key, PlacedInBody]]:
    """Return the openings in faces of bodies, with their keys."""
    return [(key, opening) for key, opening in numbered(openings=openings) if opening.obstacle is not None]


def _are_in_boxes(obstacles: Obstacles, openings: Openings) -> Iterator[Problem]:
    for key, opening in of_bodies(openings):
        bodies = [body for body in obstacles if body.name == opening.obstacle]
        if not bodies:
            names = [body.name for body in obstacles if body.name]
            known = f"give one of {', '.join(names)}" if names else "give an obstacle a name"
            yield wrong((*key, "obstacle"), opening.obstacle, f"no obstacle has this name; {known}")
        elif len(bodies) > 1 or bodies[0].type != "box":
            remedy = "openings are in single boxes, in this version; give the name of one obstacle of type box"
            yield wrong((*key, "obstacle"), opening.obstacle, remedy)


def _are_possible(openings: Openings) -> Iterator[Problem]:
    for key, opening in of_bodies(openings):
        kind = opening.kind.in_bodies
        if kind is None:
            *names, last = [shown(name) for name in opening.kinds() if BOUNDARIES[name].chosen({}).in_bodies]
            remedy = f"in the face of a body it is missing, in this version; give {', '.join(names)} or {last}"
            if BOUNDARIES[opening.type].chosen({}).in_bodies:
                remedy = "in the face of a body it is missing, in this version; give a number or a function of t"
                yield wrong((*key, "pressure"), opening.pressure, remedy)
                continue
            yield wrong((*key, "type"), opening.type, remedy)
            continue
        for name in present(dict(opening), *BOUNDARIES[opening.type].keys - kind.keys):
            others = f"give {', '.join(sorted(kind.keys))}" if kind.keys else "omit it"
            remedy = f"it is of a side of the domain; in the face of a body {others}"
            yield wrong((*key, name), written(getattr(opening, name)), remedy)
        for name in kind.keys:
            value = getattr(opening, name)
            if "place" not in kind.varies and placed(*(value if isinstance(value, tuple) else (value,))):
                remedy = "in the face of a body it may not change with the place; give numbers or functions of t"
                yield wrong((*key, name), written(value), remedy)


def _let_fluid_in(openings: Openings) -> Iterator[Problem]:
    for key, opening in of_bodies(openings):
        if not opening.kind.permeable or opening.kind.in_bodies is None:
            continue
        along = [part for axis, part in enumerate(opening.velocity or ()) if axis != opening.axis]
        if any(part != 0.0 for part in along):
            remedy = f"fluid passes this face along {opening.side[0]}; give 0 as its other components"
            yield wrong((*key, "velocity"), written(opening.velocity), remedy)
        normal, sign = (opening.velocity or (0.0,) * 3)[opening.axis], 1 if opening.side.endswith("max") else -1
        if opening.kind.draws and isinstance(normal, float) and normal * sign > 0:
            remedy = f'an outflow leads into the body; give the {opening.side[0]} component the other sign, or "inflow"'
            yield wrong((*key, "velocity"), written(opening.velocity), remedy)
        values = {("temperature",): opening.temperature} | {("scalars", n): q for n, q in opening.released.items()}
        for place, value in values.items():
            if isinstance(value, Timed):
                yield wrong((*key, *place), written(value), "in the face of a body it is a number, in this version")


def _leave_through_insulated_bodies(obstacles: Obstacles, openings: Openings) -> Iterator[Problem]:
    warm = {body.name for body in obstacles if body.temperature is not None}
    for key, opening in of_bodies(openings):
        if opening.obstacle in warm and opening.kind.permeable and not opening.kind.enters:
            remedy = "fluid leaves only through insulated bodies, in this version; omit the temperature of this one"
            yield wrong((*key, "obstacle"), opening.obstacle, remedy)


def _are_in_the_domain(staggered: StaggeredGrid, obstacles: Obstacles, openings: Openings) -> Iterator[Problem]:
    if any(_are_in_boxes(obstacles, openings)) or any(have_few_faces(staggered, openings)):
        return
    found: dict[tuple[str | None, str], np.ndarray] = {}
    for key, opening in of_bodies(openings):
        face, (place, value) = body_face(opening, staggered, obstacles), opening.placed
        if not face.covered.any():
            remedy = f"it has the centre of no face of {opening.around}; enlarge it, or refine"
            yield wrong((*key, place), value, remedy)
        elif not 0 < face.plane < staggered.cells[face.axis]:
            remedy = f"there {opening.obstacle} ends at the side of the domain; omit obstacle"
            yield wrong((*key, "side"), opening.side, remedy)
        taken = found.setdefault((opening.obstacle, opening.side), np.zeros_like(face.covered))
        if (taken & face.covered).any():
            yield wrong((*key, place), value, f"it overlaps another opening in {opening.around}; move one of them")
        taken |= face.covered


def _eddies_see_them_at_rest(turbulence: TurbulenceTable | None, openings: Openings) -> Iterator[Problem]:
    for key, opening in of_bodies(openings):
        if turbulence and not opening.kind.permeable and any(part != 0.0 for part in opening.velocity or ()):
            remedy = "with turbulence a face of a body is at rest, in this version; omit it, or the turbulence"
            yield wrong((*key, "velocity"), written(opening.velocity), remedy)


def _pressure_knows_their_faces(pressure: PressureTable, openings: Openings) -> Iterator[Problem]:
    if pressure.solver == "fft" and of_bodies(openings):
        yield wrong(("pressure", "solver"), pressure.solver, 'it ignores faces of bodies; give "multigrid"')


RULES = (
    _are_in_boxes, _are_possible, _let_fluid_in, _leave_through_insulated_bodies, _are_in_the_domain,
    _eddies_see_them_at_rest, _pressure_knows_their_faces,
)  # fmt: skip
