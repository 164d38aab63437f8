"""The cells of body-fitted grids in which the points of [[probes]] lie."""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from taskflow.cases.language.problems import Problem, names_differ, numbered, wrong
from taskflow.cases.tables.motion import GridMotion
from taskflow.cases.tables.planes import Planes
from taskflow.cases.tables.probes import TAKEN, Probes
from taskflow.common.point_location import Cell, cells_around, reach
from taskflow.geometry.grids import MultiBlockGrid
from taskflow.output.disk.disk import CHARTS

Places = tuple[tuple[float, float, float], ...]

_known: WeakKeyDictionary[MultiBlockGrid, dict[Places, list[Cell | None]]] = WeakKeyDictionary()  # while the grid lives


def cells_of(grid: MultiBlockGrid, points: Places) -> list[Cell | None]:
    """Chart, k, j and i of the cell in which each of some points lies; None of a point in none."""
    cells = _known.setdefault(grid, {})
    if points not in cells:
        cells[points] = cells_around(((n, chart.vertices) for n, chart in enumerate(grid.charts)), np.array(points))
    return cells[points]


def points_lie_in_cells(charts: MultiBlockGrid, motion: GridMotion | None, probes: Probes) -> Iterator[Problem]:
    for table, probe in numbered(probes=probes) if motion is None else ():
        cells = cells_of(charts, probe.places)
        if None in cells:
            low, high = reach(chart.vertices for chart in charts.charts)
            remedy = f"it lies in no cell of the grid, which reaches from {low} to {high}; move it into one"
            yield wrong((*table, "line" if probe.line else "points"), probe.places[cells.index(None)], remedy)


def groups_differ(recordable: tuple[str, ...], probes: Probes, planes: Planes) -> Iterator[Problem]:
    yield from names_differ({*TAKEN, CHARTS, *recordable}, numbered(probes=probes, planes=planes))
