"""Doubts of a case on charts: sides that nearly coincide, steps of pseudo-time that are too long."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from taskflow.flow.models.artificial_compressibility.stability import longest

if TYPE_CHECKING:
    from taskflow.simulation.build.artificial_compressibility.system import CompressibilitySystem


def cautions(system: CompressibilitySystem) -> Iterator[str]:
    """Warnings."""
    for gap in system.sim.case.table("grid").gaps():
        yield f"grid.file: {gap}"
    if system.sim.case.own.march != "implicit" and system.sim.case.turbulence is None:
        yield from _too_long(system)


def _too_long(system: CompressibilitySystem) -> Iterator[str]:
    """Waves grow in a fluid at rest: in the thinnest cells, or in the thickest, which take no step of their own where
    all take the least.
    """
    model, method, dims = system.model, system.model.method, 2 if system.model.planar else 3
    thinnest, thickest = system.domain.thickness
    sound = math.sqrt(method.least_compressibility(system.speed))
    bounds = {}
    for size in {thinnest, thinnest if method.global_steps else thickest}:
        friction, spread = (q / (sound * size) for q in (model.fluid.viscosity, model.numbers.spread))
        bounds[longest(method, dims, friction, spread)] = size
    least = min(bounds)
    if least < method.courant:
        usual = replace(method, cfl=None).courant
        other = f"leave it out, which is {usual:g}" if usual < least else "another method.march"
        yield (
            f"method.cfl = {method.courant:g}{'' if method.cfl else ' by default'}: it is stable up to {least:.3g} in"
            f" cells {bounds[least]:.3g} thick, even where the fluid is at rest; give less, or {other}"
        )
