"""The flow that a case describes: an incompressible fluid, solved by projection."""

from __future__ import annotations

from taskflow.flow import (
    AdvectedOutflow,
    Boundary,
    Buoyancy,
    ConvectiveOutflow,
    Driving,
    Fluid,
    Inflow,
    PressureOutflow,
    Quick,
    Slip,
    Wall,
)
from taskflow.flow.driving.coriolis import geostrophic_force
from taskflow.simulation.case import Case
from collections.abc import Iterator
from taskflow.flow import Fixed, Flux, Quantity, Source, StaggeredGrid, Transport
from taskflow.simulation.case import FACES, Case, PassiveScalar
from taskflow.simulation.case import Source as CaseSource
from dataclasses import replace
from taskflow.flow import Smagorinsky, Turbulence
from taskflow.simulation.case import FACES, MODELS, Case

FLUIDS = {"central": Fluid, "quick": Quick}
OUTFLOWS: dict[float | str | None, Boundary] = {
    None: ConvectiveOutflow(),
    0.0: PressureOutflow(),
    "advected": AdvectedOutflow(),
}


def fluid(case: Case) -> Fluid:
    """The fluid, and all that is constant of the forces on it."""
    return FLUIDS[case.fluid.scheme](case.fluid.viscosity, _force(case))


def _force(case: Case) -> tuple[float, float, float]:
    """All that is constant: the body force, and the gradient of the pressure behind a geostrophic wind."""
    (a, b, c), (x, y, z) = case.body.force, geostrophic_force(case.body.rotation, case.body.geostrophic_wind)
    return a + x, b + y, c + z


def buoyancy(case: Case) -> Buoyancy | None:
    """Where warm fluid rises."""
    if case.heat is None or case.heat.expansion == 0 or not any(case.body.gravity):
        return None
    return Buoyancy(case.heat.expansion, case.heat.reference, case.body.gravity)


def driving(case: Case) -> Driving:
    """What drives the flow besides constant forces."""
    body = case.body
    gradient = case.heat.background_gradient if case.heat else (0.0, 0.0, 0.0)
    return Driving(body.rotation, gradient, body.bulk_velocity.means if body.bulk_velocity else (None, None, None))


def side(case: Case, face: str) -> Boundary:
    """What holds on a face that is not periodic."""
    given = case.boundary(face)
    if given.type == "inflow":
        return Inflow()
    if given.type == "outflow":
        return OUTFLOWS[given.pressure]
    if given.type == "slip":
        return Slip()
    temperature = given.temperature if isinstance(given.temperature, float) else None
    transfer = given.heat_transfer or 0.0, given.outside_temperature or 0.0
    return Wall(given.numbers, temperature, given.heat_flux or 0.0, *transfer, given.roughness or 0.0)


def temperature(case: Case, grid: StaggeredGrid) -> Quantity | None:
    """T, where the case has heat."""
    heat = case.heat
    if heat is None:
        return None
    sources = tuple(_sources(heat.sources, grid))
    return Quantity("T", Transport(heat.diffusivity, heat.source), heat.scheme != "central", sources)


def passive(case: Case, grid: StaggeredGrid) -> tuple[Quantity, ...]:
    """The passive scalars of the case."""
    return tuple(_passive(case, scalar, grid) for scalar in case.scalars)


def _passive(case: Case, scalar: PassiveScalar, grid: StaggeredGrid) -> Quantity:
    faces: dict[str, Fixed | Flux] = {}
    for face in FACES:
        if not case.periodic["xyz".index(face[0])]:
            side, enters = getattr(scalar.boundaries, face), case.boundary(face).type == "inflow"
            if side is None:
                faces[face] = Fixed(0.0) if enters else Flux(0.0)
            else:
                faces[face] = Flux(side.flux or 0.0) if side.value is None else Fixed(side.value)
    sources = tuple(_sources(scalar.sources, grid))
    transport = Transport(scalar.diffusivity, scalar.source)
    return Quantity(scalar.name, transport, scalar.scheme != "central", sources, faces)


def _sources(sources: tuple[CaseSource, ...], grid: StaggeredGrid) -> Iterator[Source]:
    for source in sources:
        if source.box is not None:
            yield Source(*source.box, source.rate)
        elif source.point is not None:
            yield Source.at(source.point, source.rate, grid)


NAMES = {"smagorinsky": "Smagorinsky", "wale": "WALE", "vreman": "Vreman"}


def turbulence(case: Case) -> Turbulence | None:
    """The model, if there is one."""
    wanted = case.turbulence
    if wanted is None:
        return None
    model = MODELS[wanted.model]()
    if wanted.constant is not None:
        model = replace(model, constant=wanted.constant)
    if isinstance(model, Smagorinsky):
        model = replace(model, damped=wanted.damping != "none")
    return Turbulence(model, wanted.prandtl)


def model_described(case: Case) -> str:
    """The model in words."""
    wanted = case.turbulence
    if wanted is None:
        return "none"
    told = [f"{NAMES[wanted.model]}, constant {wanted.constant:g}"]
    walls = [case.boundary(face) for face in FACES if case.boundary(face).type == "wall"]
    rough = [wall for wall in walls if wall.roughness]
    if wanted.damping == "van-driest" and len(walls) > len(rough) and case.fluid.viscosity > 0:
        told.append("damped at smooth walls" + (", not at bodies" if case.obstacles else ""))
    if rough:
        told.append("logarithmic law at rough walls")
    if case.heat:
        told.append(f"turbulent Prandtl number {wanted.prandtl:g}")
    return ", ".join(told)
