"""The constants that the kernels of a model read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from taskflow.flow.models.artificial_compressibility.equations import (
    REACHES,
    GlobalSteps,
    HeatTransport,
    Numbers,
    Steps,
    TurbulentNumbers,
)

if TYPE_CHECKING:
    from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility


def numbers_of(model: ArtificialCompressibility) -> Numbers:
    """Those of a stage that takes the whole step."""
    method, fluid, turbulence = model.method, model.fluid, model.turbulence
    heat = model.heat or HeatTransport(0.0)
    lift = [-heat.buoyancy.expansion * g for g in heat.buoyancy.gravity] if heat.buoyancy else [0.0] * 3
    dx, dy, dz = model.spacing or (1.0, 1.0, 1.0)
    damped = method.flux == "central" and method.damping == "pressure"
    kind, more = (TurbulentNumbers, {"share": 1 / turbulence.prandtl}) if turbulence else (Numbers, {})
    spread = max(model.moving.values())
    return kind(
        fluid.viscosity, method.least_compressibility(model.speed), heat.diffusivity,
        max(spread, 2 * fluid.viscosity) if turbulence else spread, heat.buoyancy.reference if heat.buoyancy else 0.0,
        method.fourth, volume=dx * dy * dz if model.spacing else model.largest_volume,
        areas=(dy * dz, dx * dz, dx * dy), force=fluid.force, lift=(lift[0], lift[1], lift[2]),
        reach=REACHES[model.planar, model.spacing is not None, damped], scheme=method.scheme,
        steps=GlobalSteps() if method.global_steps else Steps(), **more,
    )  # fmt: skip
