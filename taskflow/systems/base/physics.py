"""The physics of a flow, for any solver: fluid, boundaries, bodies, forcing, scalars and turbulence, as arguments of a
`FlowModel` and as text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from taskflow import flow
from taskflow.cases import SCHEMES, Case, Heat, PassiveScalar
from taskflow.cases.tables.body_openings import body_face
from taskflow.cases.tables.boundaries import Boundary
from taskflow.cases.tables.kinds import SideTable
from taskflow.cases.tables.openings import OpeningTable
from taskflow.cases.tables.scalars import Sources
from taskflow.cases.tables.timed import Timed, Value, changes, placed
from taskflow.common.caching import cached_property
from taskflow.flow.bodies import Obstacles
from taskflow.flow.boundaries.boundary import timed
from taskflow.flow.boundaries.box_side import SidePart, boxes_on
from taskflow.flow.boundaries.collocated import REST
from taskflow.flow.boundaries.condition import Boundaries
from taskflow.flow.boundaries.openings import OpenedSides, SideOpening, parts
from taskflow.flow.boundaries.wall import BodyWall, body_walls
from taskflow.flow.boundaries.wall_supply import CellsAtFace, CellSupply, WallSupply
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.forcing.driving import geostrophic_force
from taskflow.flow.grid import Vector
from taskflow.flow.operators.momentum import ALONG, EXPLICIT, Implicit
from taskflow.flow.scalars.conditions import Entering, Mirrored, ScalarCondition
from taskflow.flow.scalars.quantity import release_rate
from taskflow.runtime.regions import triple
from taskflow.systems.base.expressions import forces
from taskflow.systems.base.timed import constant, largest
from taskflow.systems.initial.side_profiles import largest_on_wall

Walls = list[tuple[CellsAtFace, BodyWall]]
ADVECTION = {"central": flow.CENTRAL, "quick": flow.QUICK}  # others belong to systems with their own fluid


def physics(case: Case, grid: flow.StaggeredGrid, obstacles: Obstacles | None, *, varying: bool) -> dict[str, Any]:
    """Return the physical arguments of a `FlowModel`, by name. `varying`: values at inflows change in time."""
    a, b, c = constant(case.body.force)
    x, y, z = geostrophic_force(constant(case.body.rotation), case.body.geostrophic_wind)  # drives a geostrophic wind
    advection = ADVECTION.get(case.fluid.scheme, flow.CENTRAL)
    boundaries = _boundaries(case, grid)
    walls = body_walls(boundaries, grid.constants)
    return {
        "staggered": grid,
        "fluid": flow.Fluid(case.fluid.viscosity, (a + x, b + y, c + z), advection, implicit(case)),
        "boundaries": boundaries,
        "heat": _heat(case, case.heat, grid, walls) if case.heat else None,
        "buoyancy": _buoyancy(case),
        "scheme": SCHEMES[case.time.scheme],
        "driving": _driving(case),
        "forces": forces(case, grid),
        "varying": varying,
        "obstacles": obstacles,
        "passive": tuple(_passive(case, scalar, grid, walls) for scalar in case.scalars),
        "turbulence": turbulence_of(case),
    }


def implicit(case: Case) -> Implicit:
    return ALONG[case.time.implicit[0]] if case.time.implicit else EXPLICIT


def _buoyancy(case: Case) -> flow.Buoyancy | None:
    if case.heat is None or case.heat.expansion == 0 or not any(case.body.gravity):
        return None
    return flow.Buoyancy(case.heat.expansion, case.heat.reference, case.body.gravity)


def _driving(case: Case) -> flow.Driving:
    body = case.body
    gradient = case.heat.background_gradient if case.heat else (0.0, 0.0, 0.0)
    means = body.bulk_velocity.means if body.bulk_velocity else (None, None, None)
    forced = tuple(axis for axis, part in enumerate(body.force) if changes(part))
    turned = tuple(axis for axis, part in enumerate(body.rotation) if changes(part))
    return flow.Driving(triple(largest(part, case) for part in body.rotation), gradient, means, forced, turned)


@dataclass(frozen=True)
class SideValues:
    """The values of the table of a side. `most` returns the number for a varying value, given its key."""

    table: SideTable
    most: Callable[[str, Timed, SideValues], float]

    @cached_property
    def timed(self) -> frozenset[str]:
        return frozenset(key for key, parts in self._parts.items() if changes(*parts))

    @cached_property
    def placed(self) -> frozenset[str]:
        return frozenset(key for key, parts in self._parts.items() if placed(*parts))

    def number(self, key: str) -> float | None:
        value = getattr(self.table, key, None)
        return None if value is None else self._most(key, value)

    def vector(self, key: str) -> Vector:
        return triple(self._most(key, part) for part in getattr(self.table, key, None) or REST)

    @property
    def condition(self) -> flow.BoundaryCondition:
        return self.table.kind.of(self)

    @property
    def _parts(self) -> dict[str, tuple[Any, ...]]:
        values = ((key, value) for key, value in self.table if value is not None)
        return {key: value if isinstance(value, tuple) else (value,) for key, value in values}

    def _most(self, key: str, value: Value) -> float:
        return self.most(key, value, self) if isinstance(value, Timed) else float(value)


def _boundaries(case: Case, grid: flow.StaggeredGrid) -> Boundaries:
    conditions = {place: _condition(case, grid, side, face, place) for _, face, place, side in case.conditions}
    sides, opened = {face: conditions[f"boundaries.{face}"] for face in case.boundaries.sides}, []
    for n, table in enumerate(case.openings, start=1):
        key, face, place, title = f"opening{n}", table.face, f"openings[{n}]", f"{table.name} in {table.around}"
        if table.obstacle is not None:
            within = body_face(table, grid, case.obstacles)
            part = SidePart(key, place, title, boxes_on(face, within.covered), plane=within.plane)
            opened.append(SideOpening(table.name, face, part, conditions[place]))
            continue
        covered = table.covers(grid)
        part = SidePart(key, place, title, None if covered.all() else boxes_on(face, covered))
        opened.append(SideOpening(table.name, face, part, conditions[place]))
        if covered.all():
            sides[face] = conditions[place]
    return OpenedSides(sides, tuple(opened)) if opened else sides


def _condition(
    case: Case, grid: flow.StaggeredGrid, side: Boundary, face: str, place: str
) -> flow.BoundaryCondition:  # fmt: skip

    def most(key: str, value: Timed, values: SideValues) -> float:
        if key not in values.placed:
            return largest(value, case)
        return largest_on_wall(f"{place}.{key}", value, case, grid, face)

    values = SideValues(side, most)
    if isinstance(side, OpeningTable) and side.obstacle is not None:
        assert side.kind.in_bodies, "others are refused"
        return side.kind.in_bodies.of(values)
    return values.condition


def _heat(case: Case, table: Heat, grid: flow.StaggeredGrid, walls: Walls) -> flow.Quantity:
    heat = _quantity(case, "T", table, grid)
    return _supplied(heat, (wall.warmth(side, heat.diffusivity) for side, wall in walls))


def _supplied(quantity: flow.Quantity, supplies: Iterable[WallSupply]) -> flow.Quantity:
    return replace(quantity, supplies=tuple(given for given in supplies if given.supply != CellSupply(0.0)))


def _quantity(case: Case, name: str, table: Heat | PassiveScalar, grid: flow.StaggeredGrid) -> flow.Quantity:
    """Return the temperature, or a scalar without face conditions. Bounded differences are explicit."""
    bounded, sources = table.scheme != "central", tuple(_sources(case, name, table.sources, grid))
    transport = flow.Transport(table.diffusivity, table.source, EXPLICIT if bounded else implicit(case))
    return flow.Quantity(name, transport, bounded, sources)


def _passive(case: Case, scalar: PassiveScalar, grid: flow.StaggeredGrid, walls: Walls) -> flow.Quantity:
    """Return a passive scalar. By default it is 0 at inflows, and has no flux through other faces."""
    given = {key: (side.value, side.flux) for key, side in scalar.boundaries.sides.items()}
    for n, opening in enumerate(case.openings, start=1):
        given[f"opening{n}"] = (opening.scalars or {}).get(scalar.name), None
    faces: dict[str, ScalarCondition] = {}
    for key, _, _, side in case.conditions:
        value, flux = given.get(key, (None, None))
        if value is None and flux is None and side.kind.permeable:
            value = 0.0 if side.kind.brings else None
        if value is None:
            faces[key] = flow.Flux(largest(flux, case), changes(flux))
        else:
            kind = Entering if side.kind.turns() else flow.Fixed
            faces[key] = kind(largest(value, case), changes(value))
    quantity = replace(_quantity(case, scalar.name, scalar, grid), faces=faces)
    walled = [(side, face) for side, _ in walls if isinstance(face := faces[side.key], Mirrored)]
    return _supplied(quantity, [face.supply(side, quantity.diffusivity, timed(side.key, scalar.name, ""))
                                for side, face in walled])  # fmt: skip


def _sources(case: Case, name: str, sources: Sources, grid: flow.StaggeredGrid) -> Iterator[flow.Source]:
    for n, source in enumerate(sources, start=1):
        rate, timed = largest(source.rate, case), release_rate(name, n) if changes(source.rate) else None
        if source.box is not None:
            yield flow.Source(*source.box, rate, timed)
        elif source.point is not None:
            yield replace(flow.Source.at(source.point, rate, grid), timed=timed)


def turbulence_of(case: Case) -> flow.Turbulence | None:
    """Return the turbulence model, or None."""
    table = case.turbulence
    if table is None:
        return None
    return flow.Turbulence(table.closure, table.prandtl, damped=table.damping == "van-driest")


def turbulence_described(case: Case) -> str:
    """Return the turbulence model as text, with its wall treatment."""
    table = case.turbulence
    if table is None:
        return "none"
    words = []
    walls = [side for side in case.boundaries.sides.values() if side.kind.eddies < 0]
    rough = [wall for wall in walls if wall.roughness]
    if table.damping == "van-driest" and len(walls) > len(rough) and case.fluid.viscosity > 0:
        words.append("damped at smooth walls" + (", not at bodies" if case.obstacles else ""))
    if rough:
        words.append("logarithmic law at rough walls")
    return eddies_described(case, *words)


def eddies_described(case: Case, *beside: str) -> str:
    """Return the turbulence model as text, with further remarks."""
    table = case.turbulence
    if table is None:
        return "none"
    carried = [f"turbulent Prandtl number {table.prandtl:g}"] if case.heat else []
    others = [f"{name} {value:g}" for name, value in (table.constants or {}).items()]
    return ", ".join((f"{table.closure.title}, constant {table.constant:g}", *others, *beside, *carried))


def sides_described(model: FlowModel, *, permeable: bool) -> Iterator[str]:
    """Yield the descriptions of openings, or of closed sides."""
    for side, condition in parts(model.boundaries, model.grid):
        if condition.described is not None and condition.permeable == permeable:
            yield f"{side.title}: {condition.described}"
