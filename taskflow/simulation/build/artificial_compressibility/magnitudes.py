"""Numbers so large or so small that the equations cannot be computed with them on charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from taskflow.geometry.grids import MultiBlockGrid
from taskflow.geometry.grids.outline import planar
from taskflow.simulation.build.artificial_compressibility.tables import CompressibilityMethod
from taskflow.simulation.case.boundaries import Boundary
from taskflow.simulation.case.charts.physics import ChartForcing, ChartScalar, ScalarSide
from taskflow.simulation.case.charts.sides import ChartSide
from taskflow.simulation.case.machine import Machine
from taskflow.simulation.case.magnitudes import (
    CARRIED,
    CHECKED,
    DIFFUSES,
    PLAIN,
    REMEDY,
    Checks,
    Magnitudes,
    largest_diffusivity,
    lost_numbers,
)
from taskflow.simulation.case.problems import Problem
from taskflow.simulation.case.scalars import ScalarFace

ON_CHARTS: Checks = {
    **CHECKED,
    ChartSide: CHECKED[Boundary],
    ChartForcing: {"gravity": PLAIN, "force": PLAIN},
    ChartScalar: {"diffusivity": DIFFUSES, "initial": CARRIED},
    ScalarSide: CHECKED[ScalarFace],
    CompressibilityMethod: {"reference_speed": Magnitudes.spacing, "compressibility": Magnitudes.divisor},
}
"""How the numbers of each table are checked, by key; speeds and lengths of reference divide by their squares."""


def numbers_on(charts: MultiBlockGrid, tables: Mapping[str, Any], machine: Machine) -> Magnitudes:
    """The checks of numbers in the thinnest cells of a grid, for the tables of a case."""
    thinnest = min(chart.sizes.thickness[2 if planar(charts) else 3][0] for chart in charts.charts)
    return Magnitudes((thinnest,) * 3, largest_diffusivity(tables), machine.precision)


def numbers_can_be_computed(charts: MultiBlockGrid, tables: Mapping[str, Any], machine: Machine) -> Iterator[Problem]:
    """Yield a problem for volumes of cells, and for each number, whose powers or products are lost."""
    numbers = numbers_on(charts, tables, machine)
    least = min(chart.sizes.least for chart in charts.charts)
    largest = max(chart.sizes.largest for chart in charts.charts)
    for volume in (least, largest):
        if lost := numbers.divisor(volume):
            yield Problem(("grid",), f"a cell has the volume {volume:.3g}; {lost}; {REMEDY}")
            return
    yield from lost_numbers(numbers, tables, ON_CHARTS)
