"""The physics of a flow that a case describes, however its equations are solved: fluid, boundaries, bodies, forcing,
scalars and turbulence, as a `FlowModel` takes them and in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from taskflow import flow
from taskflow.cases import FACES, SCHEMES, Case, Heat, PassiveScalar
from taskflow.cases.tables.scalars import Sources
from taskflow.cases.tables.timed import Value, changes, placed
from taskflow.flow.bodies import Obstacles
from taskflow.flow.flow_model import FlowModel
from taskflow.flow.forcing.driving import geostrophic_force
from taskflow.flow.grid.implicit import ALONG, EXPLICIT, Implicit
from taskflow.flow.scalars.quantity import release_rate
from taskflow.output.store.conditions import SIDES, BoundarySide, Conditions
from taskflow.runtime.regions import triple
from taskflow.systems.base.expressions import forces
from taskflow.systems.base.timed import constant, largest
from taskflow.systems.initial.inflow import largest_on_wall

ADVECTION = {"central": flow.CENTRAL, "quick": flow.QUICK}  # others are those of systems with a fluid of their own
LEAVING = {
    flow.ConvectiveOutflow: "as much leaves, carried out at its mean speed",
    flow.AdvectedOutflow: "as much leaves, carried out at its mean speed with its pressure",
    flow.PressureOutflow: "p = {}, which decides how much leaves or enters",
}


def physics(case: Case, grid: flow.StaggeredGrid, obstacles: Obstacles | None, *, varying: bool) -> dict[str, Any]:
    """The arguments of a `FlowModel` that say what flows, by name. `varying`: values at inflows change in time."""
    a, b, c = constant(case.body.force)
    x, y, z = geostrophic_force(constant(case.body.rotation), case.body.geostrophic_wind)  # behind a wind
    advection = ADVECTION.get(case.fluid.scheme, flow.CENTRAL)
    return {
        "staggered": grid,
        "fluid": flow.Fluid(case.fluid.viscosity, (a + x, b + y, c + z), advection, implicit(case)),
        "boundaries": {face: _boundary(case, grid, face) for face in case.boundaries.sides},
        "heat": _quantity(case, "T", case.heat, grid) if case.heat else None,
        "buoyancy": _buoyancy(case),
        "scheme": SCHEMES[case.time.scheme],
        "driving": _driving(case),
        "forces": forces(case, grid),
        "varying": varying,
        "obstacles": obstacles,
        "passive": tuple(_passive(case, scalar, grid) for scalar in case.scalars),
        "turbulence": turbulence_of(case),
    }


def implicit(case: Case) -> Implicit:
    return ALONG[case.time.implicit[0]] if case.time.implicit else EXPLICIT


def _buoyancy(case: Case) -> flow.Buoyancy | None:
    """The buoyancy of warm fluid; None where temperature exerts no force."""
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


def _boundary(case: Case, grid: flow.StaggeredGrid, face: str) -> flow.Boundary:
    """The boundary condition on a face that is not periodic."""
    table = case.boundary(face)
    if table.type == "inflow":
        return flow.Inflow()
    if table.type == "outflow":
        if table.pressure is None or isinstance(table.pressure, str):
            return flow.ConvectiveOutflow() if table.pressure is None else flow.AdvectedOutflow()
        return flow.PressureOutflow(largest(table.pressure, case), table.pressure != 0)
    if table.type == "slip":
        return flow.Slip()
    velocity = table.velocity or (0.0, 0.0, 0.0)
    values = {"velocity": velocity, "temperature": (table.temperature,)}
    fields = frozenset(kind for kind, parts in values.items() if placed(*parts))

    def most(kind: str, value: Value | None) -> float:
        if value is None or kind not in fields:
            return largest(value, case)
        return largest_on_wall(kind, value, case, grid, face)

    moves = triple(most("velocity", part) for part in velocity)
    temperature = None if table.temperature is None else most("temperature", table.temperature)
    transfer = table.heat_transfer or 0.0, largest(table.outside_temperature, case)
    kinds = {
        "velocity": changes(*(table.velocity or ())),
        "temperature": changes(table.temperature),
        "heat": changes(table.heat_flux, table.outside_temperature),
    }
    in_time = frozenset(kind for kind, changing in kinds.items() if changing) - fields
    flux, roughness = largest(table.heat_flux, case), table.roughness or 0.0
    return flow.Wall(moves, temperature, flux, *transfer, roughness, in_time, fields)


def _quantity(case: Case, name: str, table: Heat | PassiveScalar, grid: flow.StaggeredGrid) -> flow.Quantity:
    """The temperature, or a scalar that nothing is said of yet on faces. Differences that keep bounds are explicit."""
    bounded, sources = table.scheme != "central", tuple(_sources(case, name, table.sources, grid))
    transport = flow.Transport(table.diffusivity, table.source, EXPLICIT if bounded else implicit(case))
    return flow.Quantity(name, transport, bounded, sources)


def _passive(case: Case, scalar: PassiveScalar, grid: flow.StaggeredGrid) -> flow.Quantity:
    """A passive scalar: without a condition of its own 0 enters at inflows, and no flux passes other faces."""
    faces: dict[str, flow.Fixed | flow.Flux] = {}
    for face in FACES:
        if not case.periodic["xyz".index(face[0])]:
            side, enters = getattr(scalar.boundaries, face), case.boundary(face).type == "inflow"
            if side is None:
                faces[face] = flow.Fixed(0.0) if enters else flow.Flux(0.0)
            else:
                kind, value = (flow.Flux, side.flux) if side.value is None else (flow.Fixed, side.value)
                faces[face] = kind(largest(value, case), changes(value))
    return replace(_quantity(case, scalar.name, scalar, grid), faces=faces)


def _sources(case: Case, name: str, sources: Sources, grid: flow.StaggeredGrid) -> Iterator[flow.Source]:
    for n, source in enumerate(sources, start=1):
        rate, timed = largest(source.rate, case), release_rate(name, n) if changes(source.rate) else None
        if source.box is not None:
            yield flow.Source(*source.box, rate, timed)
        elif source.point is not None:
            yield replace(flow.Source.at(source.point, rate, grid), timed=timed)


def turbulence_of(case: Case) -> flow.Turbulence | None:
    """The model of turbulence; None without one."""
    table = case.turbulence
    if table is None:
        return None
    return flow.Turbulence(table.closure, table.prandtl, damped=table.damping == "van-driest")


def turbulence_described(case: Case) -> str:
    """The model of turbulence in words, and what it does at walls."""
    table = case.turbulence
    if table is None:
        return "none"
    words = []
    walls = [case.boundary(face) for face in FACES if case.boundary(face).type == "wall"]
    rough = [wall for wall in walls if wall.roughness]
    if table.damping == "van-driest" and len(walls) > len(rough) and case.fluid.viscosity > 0:
        words.append("damped at smooth walls" + (", not at bodies" if case.obstacles else ""))
    if rough:
        words.append("logarithmic law at rough walls")
    return eddies_described(case, *words)


def eddies_described(case: Case, *beside: str) -> str:
    """The model of turbulence in words, with some about what is beside it."""
    table = case.turbulence
    if table is None:
        return "none"
    carried = [f"turbulent Prandtl number {table.prandtl:g}"] if case.heat else []
    others = [f"{name} {value:g}" for name, value in (table.constants or {}).items()]
    return ", ".join((f"{table.closure.title}, constant {table.constant:g}", *others, *beside, *carried))


def outflows_described(model: FlowModel) -> Iterator[str]:
    """A line for each outflow."""
    for face, side in model.boundaries.items():
        if type(side) in LEAVING:
            pressure = f"up to {side.pressure:g}" if isinstance(side, flow.PressureOutflow) and side.timed else "0"
            yield f"{face}: {LEAVING[type(side)].format(pressure)}"


def conditions(case: Case) -> Conditions:
    """The boundary conditions and properties of the fluid as attributes of a store, with nothing left open."""
    heat = {"T": case.heat.diffusivity} if case.heat else {}
    return Conditions(
        sides={name: _side(case, name) for name in SIDES},
        cells=case.grid.cells,
        viscosity=case.fluid.viscosity,
        diffusivities=heat | {scalar.name: scalar.diffusivity for scalar in case.scalars},
        thermal_expansion=case.heat.expansion if case.heat else 0.0,
        gravity=case.body.gravity,
    )


def _constant(of: Value | None) -> float | None:
    """A number; NaN for what changes in time."""
    return of if of is None or isinstance(of, float) else math.nan


def _side(case: Case, name: str) -> BoundarySide:
    boundary = case.boundary(name)
    if boundary.type != "wall":
        return BoundarySide(type=boundary.type)
    insulated = case.heat is not None and boundary.temperature is None and boundary.heat_transfer is None
    x, y, z = map(_constant, boundary.velocity or (0.0, 0.0, 0.0))
    return BoundarySide(
        type="wall",
        velocity=(x or 0.0, y or 0.0, z or 0.0),
        temperature=_constant(boundary.temperature),
        heat_flux=_constant(boundary.heat_flux) if insulated else None,
        heat_transfer=boundary.heat_transfer,
        outside_temperature=_constant(boundary.outside_temperature),
        roughness=boundary.roughness,
    )
