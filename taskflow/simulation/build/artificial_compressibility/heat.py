"""The heat of a case on charts: what it spreads by, what lift it gives, and how much temperatures differ."""

from __future__ import annotations

from taskflow.flow.models.artificial_compressibility.equations import Heat
from taskflow.flow.operators.momentum import Buoyancy
from taskflow.geometry.grids import Grid
from taskflow.simulation.build.artificial_compressibility.references import range_of_temperatures
from taskflow.simulation.case import Case


def heat_of(case: Case, grid: Grid) -> Heat | None:
    """The heat of the table [heat]."""
    warm = case.heat
    if warm is None:
        return None
    differ = range_of_temperatures(case, grid, case.initial)
    return Heat(warm.diffusivity, Buoyancy(warm.expansion, warm.reference, case.body.gravity), differ)
