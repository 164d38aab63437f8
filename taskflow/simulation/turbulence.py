"""The turbulence model that a case asks for."""

from __future__ import annotations

from dataclasses import replace

from taskflow.flow import Smagorinsky, Turbulence
from taskflow.simulation.case import FACES, MODELS, Case

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
