"""Doubts of a case on charts: sides that nearly coincide, steps of pseudo-time that are too long."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.models.artificial_compressibility.stability import longest
from taskflow.simulation.case import Case


def cautions(case: Case, model: ArtificialCompressibility, thickness: tuple[float, float]) -> Iterator[str]:
    """Warnings, of cells whose thinnest and thickest have this `thickness`."""
    for gap in case.table("grid").gaps():
        yield f"grid.file: {gap}"
    if case.own.march != "implicit" and case.turbulence is None:
        yield from _too_long(model, *thickness)


def _too_long(model: ArtificialCompressibility, thinnest: float, thickest: float) -> Iterator[str]:
    """Waves grow in a fluid at rest: in the thinnest cells, or in the thickest, which take no step of their own where
    all take the least.
    """
    method, dims = model.method, 2 if model.planar else 3
    sound = math.sqrt(method.least_compressibility(model.speed))
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
