"""Boundary conditions and properties of the fluid of a case, for those who read its store and know no cases."""

from __future__ import annotations

from taskflow.output.conditions import SIDES, Conditions, Side
from taskflow.simulation.case import Case


def conditions(case: Case) -> Conditions:
    """The conditions of a case, with nothing left open."""
    heat = {"T": case.heat.diffusivity} if case.heat else {}
    return Conditions(
        sides={name: _side(case, name) for name in SIDES},
        cells=case.grid.cells,
        viscosity=case.fluid.viscosity,
        diffusivities=heat | {scalar.name: scalar.diffusivity for scalar in case.scalars},
        thermal_expansion=case.heat.expansion if case.heat else 0.0,
        gravity=case.body.gravity,
    )


def _side(case: Case, name: str) -> Side:
    boundary = case.boundary(name)
    if boundary.type != "wall":
        return Side(type=boundary.type)
    temperature = boundary.temperature if isinstance(boundary.temperature, float) else None
    insulated = case.heat is not None and temperature is None and boundary.heat_transfer is None
    return Side(
        type="wall",
        velocity=boundary.numbers,
        temperature=temperature,
        heat_flux=boundary.heat_flux if insulated else None,
        heat_transfer=boundary.heat_transfer,
        outside_temperature=boundary.outside_temperature,
        roughness=boundary.roughness,
    )
