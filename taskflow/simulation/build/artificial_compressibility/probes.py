"""Points on charts at which values are recorded: the cells in which they lie, and what is wrong with them and with the
names of groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from weakref import WeakKeyDictionary

import numpy as np

from taskflow.analysis.charts.points import Cell, cells_around, reach
from taskflow.geometry.grids import MultiBlockGrid
from taskflow.output.groups import CHARTS
from taskflow.simulation.case.charts.planes import ChartPlanes
from taskflow.simulation.case.motion import GridMotion
from taskflow.simulation.case.probes import TAKEN, Probes, names_differ
from taskflow.simulation.case.problems import Problem, numbered, wrong

Places = tuple[tuple[float, float, float], ...]

_known: WeakKeyDictionary[MultiBlockGrid, dict[Places, list[Cell | None]]] = WeakKeyDictionary()  # while the grid lives


def cells_of(grid: MultiBlockGrid, points: Places) -> list[Cell | None]:
    """Chart, k, j and i of the cell in which each of some points lies; None of a point in none."""
    cells = _known.setdefault(grid, {})
    if points not in cells:
        cells[points] = cells_around(((n, chart.vertices) for n, chart in enumerate(grid.charts)), np.array(points))
    return cells[points]


def points_lie_in_cells(charts: MultiBlockGrid, motion: GridMotion | None, probes: Probes) -> Iterator[Problem]:
    for table, probe in numbered(probes=probes):
        if motion is not None:
            remedy = "points that stay while the grid moves are not available in this version; leave it out, or motion"
            yield wrong((*table, "name"), probe.name, remedy)
            continue
        cells = cells_of(charts, probe.places)
        if None in cells:
            low, high = reach(chart.vertices for chart in charts.charts)
            remedy = f"it lies in no cell of the grid, which reaches from {low} to {high}; move it into one"
            yield wrong((*table, "line" if probe.line else "points"), probe.places[cells.index(None)], remedy)


def groups_differ(recordable: tuple[str, ...], probes: Probes, planes: ChartPlanes) -> Iterator[Problem]:
    yield from names_differ({*TAKEN, CHARTS, *recordable}, numbered(probes=probes, planes=planes))
