"""The reference speed of a case on charts, its heat, and its scales: what is given, or follows from how it begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taskflow.flow.models.artificial_compressibility.equations import HeatTransport
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.operators.momentum import Buoyancy
from taskflow.geometry.grids import MultiBlockGrid
from taskflow.simulation.build.artificial_compressibility.rules import reference_speed, warmth
from taskflow.simulation.build.scales import Scale, Scales
from taskflow.simulation.case import Case
from taskflow.simulation.case.initial import Initial

RANGE = "the range of temperatures on sides and in initial.temperature"


def speed(case: Case, grid: MultiBlockGrid, speed_of_case: float | str, initial: Initial) -> float:
    """The reference speed; "auto" follows from sides and an initial state."""
    if speed_of_case != "auto":
        return float(speed_of_case)
    return reference_speed(grid, case.table("boundaries"), initial, case.heat, case.table("body"))


def range_of_temperatures(case: Case, grid: MultiBlockGrid, initial: Initial) -> float:
    """How much temperatures differ, with heat: by 1 where sides and an initial state say nothing of it."""
    assert case.heat is not None
    return warmth(grid, case.table("boundaries"), initial, case.heat) or 1.0


def heat_of(case: Case, grid: MultiBlockGrid) -> HeatTransport | None:
    """The heat of the table [heat]: what it spreads by, what lift it gives, and how much temperatures differ."""
    warm = case.heat
    if warm is None:
        return None
    differ = range_of_temperatures(case, grid, case.initial)
    return HeatTransport(warm.diffusivity, Buoyancy(warm.expansion, warm.reference, case.body.gravity), differ)


def scales(case: Case, model: ArtificialCompressibility) -> Scales:
    """The reference speed; the largest temperature, that of reference or on sides; the largest scalars on sides."""
    conditions = [side.condition for side in model.sides]
    temperatures = [abs(value) for at in conditions for value in (at.temperature, at.outside)]
    carried = {"T": Scale(max([abs(case.heat.reference), *temperatures]))} if case.heat else {}
    for scalar in model.passive:
        values = [abs(side.scalars[scalar.name].temperature) for side in model.sides if scalar.name in side.scalars]
        carried[scalar.name] = Scale(max(values, default=0.0))
    return Scales(("u", "v", "w"), Scale(model.speed), 0.0, carried, driven=True)


def resolved(case: Case, grid: MultiBlockGrid, tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """The tables of a case like this one, as in its file, with both as numbers; those of other equations as they are.
    """
    begun, method = tables.get("initial", {}), tables.get("method", {})
    if method.get("type") != case.own.type:
        return tables
    initial = Initial(**{key: begun[key] for key in ("velocity", "temperature") if key in begun})
    number = speed(case, grid, method.get("reference_speed", "auto"), initial)
    more = {RANGE: range_of_temperatures(case, grid, initial)} if case.heat else {}
    return {**tables, **more, "method": {**method, "reference_speed": number}}
