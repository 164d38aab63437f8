"""The scales given by a case on charts: its reference speed, and the ranges of transported quantities."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from taskflow.cases.tables.charts.sides import ChartSides
from taskflow.cases.tables.initial import ArrayValues, Initial
from taskflow.cases.tables.physics import Forcing, Heat
from taskflow.cases.tables.scalars import PassiveScalar
from taskflow.common.errors import BadInput, named
from taskflow.common.hexahedra import centres
from taskflow.geometry.grids import MultiBlockGrid, faces
from taskflow.systems.artificial_compressibility.profiles import largest, walls_of


@np.errstate(over="ignore")  # of squares: rules say which numbers are too large
def reference_speed(
    charts: MultiBlockGrid, boundaries: ChartSides, initial: Initial, heat: Heat | None, body: Forcing
) -> float:  # fmt: skip
    """Return the largest speed given on a side, or at sampled points of the initial state, or of free convection,
    root(expansion gravity dT L), if larger; 0 if everything is at rest. Raises BadInput if a formula is not finite.
    """
    speeds = [0.0, free_convection(charts, boundaries, initial, heat, body)]
    for name, side in boundaries.sides.items():
        if side.velocity is None or name not in charts.sides:
            continue
        patches, factor = charts.sides[name], 1.0
        with named(f"{boundaries.place(name)}.velocity"):
            if side.profile:
                factor = largest(charts, patches, walls_of(charts, boundaries.sides))
            for patch in patches:
                velocity = np.stack(side.at(*faces(charts, patch)[0]))
                speeds.append(factor * float(np.sqrt((velocity**2).sum(axis=0)).max()))
    begun = _initial(charts, "velocity", [u for u in initial.velocity if not isinstance(u, ArrayValues)])
    speeds += [float(np.sqrt(sum(u**2 for u in components)).max()) for components in begun]
    return max(speeds)


def free_convection(
    charts: MultiBlockGrid, boundaries: ChartSides, initial: Initial, heat: Heat | None, body: Forcing
) -> float:  # fmt: skip
    """Return root(|expansion| |gravity| dT L): dT the range of given temperatures, L the extent along gravity."""
    pull = np.array(body.gravity)
    if heat is None or not pull.any():
        return 0.0
    size = math.hypot(*body.gravity)
    along = [np.tensordot(pull / size, _some(chart.vertices), 1) for chart in charts.charts]
    height = max(float(s.max()) for s in along) - min(float(s.min()) for s in along)
    return math.sqrt(abs(heat.expansion) * size * warmth(charts, boundaries, initial, heat) * height)


def warmth(charts: MultiBlockGrid, boundaries: ChartSides, initial: Initial, heat: Heat) -> float:
    """Return the range of given temperatures, including the reference. Raises BadInput if a formula is not finite."""
    values = [heat.reference]
    for side in boundaries.sides.values():
        values += [number for number in (side.temperature, side.outside_temperature) if isinstance(number, float)]
    return _range(charts, "temperature", initial.temperature, values)


def range_of_scalar(charts: MultiBlockGrid, scalar: PassiveScalar, boundaries: ChartSides) -> float:
    """Return the range of given values of a passive scalar, including 0; 1 if no other value is given."""
    given = [side.value for side in scalar.boundaries.sides.values()]
    given += [side.released.get(scalar.name) for side in boundaries.sides.values()]
    values = [0.0, *(value for value in given if isinstance(value, float))]
    try:
        return _range(charts, scalar.name, scalar.initial, values) or 1.0
    except BadInput:
        return 1.0  # checks of initial fields say it


def _range(charts: MultiBlockGrid, name: str, formula: Any, values: list[float]) -> float:
    if formula is not None and not isinstance(formula, ArrayValues):
        for (begun,) in _initial(charts, name, [formula]):
            values += [float(begun.min()), float(begun.max())]
    return max(values) - min(values)


def _initial(charts: MultiBlockGrid, name: str, formulas: Sequence[Any]) -> Iterator[list[np.ndarray]]:
    """Yield the values of formulas of [initial] at some vertices of each chart, or at all cell centres if one is not
    finite there. Raises BadInput if one is not finite at a centre either.
    """
    for number, chart in enumerate(charts.charts, start=1):
        try:
            try:
                values = [np.asarray(formula(*_some(chart.vertices))) for formula in formulas]
            except BadInput:
                values = [np.asarray(formula(*centres(chart.vertices))) for formula in formulas]
            yield values
        except BadInput as error:
            raise BadInput(f"initial.{name}: on chart {number} {error}") from None


def _some(vertices: np.ndarray, most: int = 24) -> np.ndarray:
    """Return up to `most` of the vertices [xyz, k, j, i] along each direction, including the first and the last."""
    for axis in (1, 2, 3):
        count = vertices.shape[axis]
        vertices = vertices.take(np.linspace(0, count - 1, min(count, most)).round().astype(int), axis=axis)
    return vertices
