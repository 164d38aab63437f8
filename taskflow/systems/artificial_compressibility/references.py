"""Reference values of a case on charts: speed, heat, scales, and physical time steps, given or derived from the initial
state and the grid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from taskflow.cases import Case
from taskflow.cases.tables.initial import Initial
from taskflow.cases.tables.motion import placed
from taskflow.common.hexahedra import Part, cell_volumes, face_areas, in_parts
from taskflow.common.point_location import reach
from taskflow.flow.models.artificial_compressibility.dual_time import DualTime
from taskflow.flow.models.artificial_compressibility.equations import HeatTransport, Passive
from taskflow.flow.models.artificial_compressibility.model import ArtificialCompressibility
from taskflow.flow.operators.momentum import Buoyancy
from taskflow.geometry.grids import MultiBlockGrid
from taskflow.systems.artificial_compressibility.domain import ChartDomain
from taskflow.systems.artificial_compressibility.given import range_of_scalar, reference_speed, warmth
from taskflow.systems.artificial_compressibility.tables import Inner
from taskflow.systems.base.foresight import Foresight, FormulaSignal
from taskflow.systems.base.scales import SIDES, Scale, Scales

ITERATIONS = {False: 1000, True: 50}  # by whether marching is implicit
ROUNDING = {"double": 1e-12, "single": 1e-5}  # of the largest terms of a balance
POINTS = 7  # across the box around a side, at which formulas of the time are looked at
RANGE = "the range of temperatures on sides and in initial.temperature"


def speed(case: Case, grid: MultiBlockGrid, speed_of_case: float | str, initial: Initial) -> float:
    """Return the reference speed; "auto" derives it from sides and an initial state."""
    if speed_of_case != "auto":
        return float(speed_of_case)
    return reference_speed(placed(grid, case.motion), case.table("boundaries"), initial, case.heat, case.table("body"))


def range_of_temperatures(case: Case, grid: MultiBlockGrid, initial: Initial) -> float:
    """Return the range of temperatures, with heat; 1 if sides and an initial state give none."""
    assert case.heat is not None
    return warmth(placed(grid, case.motion), case.table("boundaries"), initial, case.heat) or 1.0


def heat_of(case: Case, grid: MultiBlockGrid) -> HeatTransport | None:
    """Return the heat transport: diffusivity, buoyancy, and the range of temperatures; None without heat."""
    warm = case.heat
    if warm is None:
        return None
    differ = range_of_temperatures(case, grid, case.initial)
    return HeatTransport(warm.diffusivity, Buoyancy(warm.expansion, warm.reference, case.body.gravity), differ)


def passive_of(case: Case, grid: MultiBlockGrid) -> tuple[Passive, ...]:
    at_first, boundaries = placed(grid, case.motion), case.table("boundaries")
    ranges = {scalar.name: range_of_scalar(at_first, scalar, boundaries) for scalar in case.scalars}
    return tuple(Passive(one.name, one.diffusivity, ranges[one.name]) for one in case.scalars)


def scales(case: Case, domain: ChartDomain, model: ArtificialCompressibility) -> Scales:
    """Return the reference speed, the largest temperatures and scalars on sides, and the effect of wall fluxes."""
    conditions = [side.condition for side in model.sides]
    temperatures = [abs(value) for at in conditions for value in (at.temperature, at.outside)]
    carried = {}
    if case.heat:
        fluxes = [at.flux for at in conditions]
        carried["T"] = _scale([case.heat.reference, *temperatures], fluxes, case.heat.diffusivity, domain, model)
    for scalar in model.passive:
        given = [side.scalars[scalar.name] for side in model.sides if scalar.name in side.scalars]
        values, fluxes = ([getattr(at, key) for at in given] for key in ("temperature", "flux"))
        carried[scalar.name] = _scale(values, fluxes, scalar.diffusivity, domain, model)
    return Scales(("u", "v", "w"), Scale(model.speed), 0.0, carried, driven=True)


def _scale(
    values: list[float], fluxes: list[float], diffusivity: float, domain: ChartDomain, model: ArtificialCompressibility
) -> Scale:
    """Return the largest value, plus the difference that a flux conducts, and in physical time its gain in a cell."""
    largest, flux = max(map(abs, values), default=0.0), max(map(abs, fluxes), default=0.0)
    if not flux:
        return Scale(largest)
    low, high = reach(chart.vertices for chart in domain.grid.charts)
    conducted = flux * float(np.subtract(high, low).max()) / diffusivity
    return Scale(largest + conducted, SIDES * flux / domain.thickness[0] if model.real else 0.0)


def with_references(case: Case, grid: MultiBlockGrid, tables: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the tables of a similar case with both references as numbers; of other equations unchanged."""
    initial_table, method = tables.get("initial", {}), tables.get("method", {})
    if method.get("type") != case.own.type:
        return tables
    initial = Initial(**{key: initial_table[key] for key in ("velocity", "temperature") if key in initial_table})
    number = speed(case, grid, method.get("reference_speed", "auto"), initial)
    more = {RANGE: range_of_temperatures(case, grid, initial)} if case.heat else {}
    return {**tables, **more, "method": {**method, "reference_speed": number}}


def dual_time(case: Case, domain: ChartDomain, speed: float) -> DualTime:
    """Return the physical time steps of a case with a reference speed."""
    inner = case.own.inner or Inner()
    return DualTime(
        inner.tolerance, inner.iterations or ITERATIONS[case.own.march == "implicit"],
        length=reference_length(domain),
        rounding=ROUNDING[case.machine.precision], rest=speed * steepest(domain),
    )  # fmt: skip


def foresight(case: Case, domain: ChartDomain, near: float) -> Foresight | None:
    """Return the time-dependent velocities of sides and forces; `near` is the largest 1/spacing."""
    tables, body = case.table("boundaries").sides, case.table("body")
    ends = {name: domain.around(name) for name in tables}
    signals = [
        FormulaSignal(near, 0, table, np.linspace(*ends[name], POINTS).T)
        for name, table in tables.items() if table.changes
    ]  # fmt: skip
    if body.changes:
        low, high = np.array(list(ends.values())).swapaxes(0, 1)
        signals.append(FormulaSignal(near, 1, body, np.linspace(low.min(axis=0), high.max(axis=0), POINTS).T))
    return Foresight(tuple(signals), case.end_time) if signals else None


def reference_length(domain: ChartDomain) -> float:
    """Return the largest extent of the smallest side, such as a body or an inlet, or of a grid without sides."""
    axes = [axis for axis in range(3) if axis != domain.normal]
    sizes = [float(np.subtract(*reversed(domain.around(name)))[axes].max()) for name in domain.grid.sides]
    if not (sizes := [size for size in sizes if size > 0]):
        corners = np.concatenate([chart.vertices.reshape(3, -1) for chart in domain.grid.charts], axis=1)
        sizes = [float(np.ptp(corners, axis=1)[axes].max())]
    return min(sizes)


def steepest(domain: ChartDomain) -> float:
    """Return the largest sum over directions of |S| / V, S the mean of both faces; in two dimensions of two."""

    def largest(corners: np.ndarray, _: Part) -> float:
        total = 0.0
        for axis in range(2 if domain.planar else 3):
            size = np.sqrt((face_areas(corners, axis) ** 2).sum(axis=0))
            low, high = (np.delete(size, end, axis=2 - axis) for end in (-1, 0))
            total = total + (low + high) / 2
        return float((total / cell_volumes(corners)).max())

    most = []
    for x in (chart.vertices for chart in domain.grid.charts):
        most += in_parts(x, largest)
    return max(most)
