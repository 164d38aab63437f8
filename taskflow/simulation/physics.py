"""What a case says of the fluid, of forces and of the sides of the domain, in the terms of the model."""

from __future__ import annotations

from taskflow.flow import (
    CENTRAL,
    QUICK,
    AdvectedOutflow,
    Boundary,
    Buoyancy,
    ConvectiveOutflow,
    Driving,
    Fluid,
    Inflow,
    PressureOutflow,
    Slip,
    Wall,
)
from taskflow.flow.driving.coriolis import geostrophic_force
from taskflow.simulation.case import Case

ADVECTION = {"central": CENTRAL, "quick": QUICK}
OUTFLOWS: dict[float | str | None, Boundary] = {
    None: ConvectiveOutflow(),
    0.0: PressureOutflow(),
    "advected": AdvectedOutflow(),
}


def fluid(case: Case) -> Fluid:
    """The fluid, and all that is constant of the forces on it."""
    return Fluid(case.fluid.viscosity, _force(case), ADVECTION[case.fluid.scheme])


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
