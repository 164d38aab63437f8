"""The sizes that a case on charts gives: its reference speed, and how much what is carried differs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from taskflow.cases.tables.charts.physics import ChartForcing
from taskflow.cases.tables.charts.sides import ChartSides
from taskflow.cases.tables.initial import Given, Initial
from taskflow.cases.tables.physics import Heat
from taskflow.cases.tables.scalars import PassiveScalar
from taskflow.common.errors import BadInput, named
from taskflow.common.hexahedra import centres
from taskflow.geometry.grids import MultiBlockGrid, faces
from taskflow.systems.artificial_compressibility.profiles import largest, walls_of


@np.errstate(over="ignore")  # of squares: rules say which numbers are too large
def reference_speed(
    charts: MultiBlockGrid, boundaries: ChartSides, initial: Initial, heat: Heat | None, body: ChartForcing
) -> float:  # fmt: skip
    """The largest speed that is given on a side, or at some points of the initial state; that of free convection,
    root(expansion gravity dT L), where it is larger; 0 where everything is at rest. Raises BadInput where a formula is
    not finite.
    """
    speeds = [0.0, free_convection(charts, boundaries, initial, heat, body)]
    for name, side in boundaries.sides.items():
        if side.velocity is None or name not in charts.sides:
            continue
        patches, factor = charts.sides[name], 1.0
        with named(f"boundaries.{name}.velocity"):
            if side.profile:
                factor = largest(charts, patches, walls_of(charts, boundaries.sides))
            for patch in patches:
                velocity = np.stack(side.at(*faces(charts, patch)[0]))
                speeds.append(factor * float(np.sqrt((velocity**2).sum(axis=0)).max()))
    begun = _begun(charts, "velocity", [u for u in initial.velocity if not isinstance(u, Given)])
    speeds += [float(np.sqrt(sum(u**2 for u in components)).max()) for components in begun]
    return max(speeds)


def free_convection(
    charts: MultiBlockGrid, boundaries: ChartSides, initial: Initial, heat: Heat | None, body: ChartForcing
) -> float:  # fmt: skip
    """root(|expansion| |gravity| dT L), dT the range of given temperatures, L the extent of the grid along gravity."""
    pull = np.array(body.gravity)
    if heat is None or not pull.any():
        return 0.0
    size = math.hypot(*body.gravity)
    along = [np.tensordot(pull / size, _some(chart.vertices), 1) for chart in charts.charts]
    height = max(float(s.max()) for s in along) - min(float(s.min()) for s in along)
    return math.sqrt(abs(heat.expansion) * size * warmth(charts, boundaries, initial, heat) * height)


def warmth(charts: MultiBlockGrid, boundaries: ChartSides, initial: Initial, heat: Heat) -> float:
    """The range of the given temperatures, the reference among them. Raises BadInput where a formula is not finite."""
    values = [heat.reference]
    for side in boundaries.sides.values():
        values += [number for number in (side.temperature, side.outside_temperature) if number is not None]
    return _range(charts, "temperature", initial.temperature, values)


def range_of_scalar(charts: MultiBlockGrid, scalar: PassiveScalar) -> float:
    """The range of the given values of a passive scalar, 0 among them; 1 where nothing else is given."""
    values = [0.0, *(side.value for side in scalar.boundaries.sides.values() if isinstance(side.value, float))]
    try:
        return _range(charts, scalar.name, scalar.initial, values) or 1.0
    except BadInput:
        return 1.0  # checks of initial fields say it


def _range(charts: MultiBlockGrid, name: str, formula: Any, values: list[float]) -> float:
    """The range of these values and of an initial field."""
    if formula is not None and not isinstance(formula, Given):
        for (begun,) in _begun(charts, name, [formula]):
            values += [float(begun.min()), float(begun.max())]
    return max(values) - min(values)


def _begun(charts: MultiBlockGrid, name: str, formulas: Sequence[Any]) -> Iterator[list[np.ndarray]]:
    """The values of formulas of [initial] at some vertices of each chart, or where one is not finite there, at the
    centres of all cells. Raises BadInput where one is not finite at a centre, either.
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
    """Up to so many of the vertices [xyz, k, j, i] along each direction, the first and the last among them."""
    for axis in (1, 2, 3):
        count = vertices.shape[axis]
        vertices = vertices.take(np.linspace(0, count - 1, min(count, most)).round().astype(int), axis=axis)
    return vertices
