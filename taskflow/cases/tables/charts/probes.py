"""Where the flow is followed on charts: [[planes]], layers of cells beside a side of the grid or by their numbers; the
cells in which the points of [[probes]] lie.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from taskflow.cases.language.problems import Problem, exclusive, missing, names_differ, numbered, present, wrong
from taskflow.cases.language.table import Text, Whole, entry, optional
from taskflow.cases.tables.charts.grid import known_sides
from taskflow.cases.tables.control import EVERYTHING, FieldNames, Interval
from taskflow.cases.tables.motion import GridMotion
from taskflow.cases.tables.probes import TAKEN, Grouped, Probes
from taskflow.common.point_location import Cell, cells_around, reach
from taskflow.geometry.grids import MultiBlockGrid
from taskflow.output.disk.disk import CHARTS

Places = tuple[tuple[float, float, float], ...]

_known: WeakKeyDictionary[MultiBlockGrid, dict[Places, list[Cell | None]]] = WeakKeyDictionary()  # while the grid lives
INDICES = ("i", "j", "k")
ACROSS = "with `chart`, one of them: the number, from 1, of the layer of cells across this direction of the chart"


class ChartPlane(Grouped):
    """The cells beside a side of the grid, or a layer of cells of a chart."""

    side: Text | None = optional("a side of the grid by its name: its adjacent cells, of all charts")
    chart: Whole | None = optional("instead of `side`: the number, from 1, of the chart with the recorded layer")
    i: Whole | None = optional(ACROSS)
    j: Whole | None = optional(ACROSS)
    k: Whole | None = optional(ACROSS)
    every: Interval = entry("as `output.every`. Does not shorten steps", remedy="give how often, as output.every")
    fields: FieldNames = optional("as `output.fields`", otherwise=EVERYTHING)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if present(values, "side"):
            yield from exclusive(values, "side", "chart", *INDICES)
        elif present(values, "chart"):
            yield from exclusive(values, *INDICES, needed=missing("k", "give i, j or k, the number of a layer from 1"))
        elif present(values, *INDICES):
            yield missing("chart", "give the number of the chart, from 1")
        else:
            yield missing("side", "give a side of the grid by its name, or a chart and i, j or k")

    @property
    def layer(self) -> tuple[int, int, int]:
        """The chart, the direction across the layer, 0, 1, 2 for i, j, k, and which layer of cells: all from 0."""
        numbers = self.i, self.j, self.k
        axis, number = next((axis, number) for axis, number in enumerate(numbers) if number is not None)
        return (self.chart or 1) - 1, axis, number - 1


ChartPlanes = tuple[ChartPlane, ...]


def planes_have_cells(charts: MultiBlockGrid, planes: ChartPlanes) -> Iterator[Problem]:
    """Yield a problem for each plane of a side, a chart or a layer of cells that the grid does not have."""
    for key, plane in numbered(planes=planes):
        if plane.side is not None:
            if plane.side not in charts.sides:
                yield wrong((*key, "side"), plane.side, f"the grid has no such side; {known_sides(plane.side, charts)}")
            continue
        chart, axis, number = plane.layer
        if chart >= len(charts.charts):
            remedy = f"there is no such chart; they have the numbers 1 to {len(charts.charts)}"
            yield wrong((*key, "chart"), plane.chart, remedy)
        elif number >= (cells := charts.charts[chart].cells)[axis]:
            last = f"1 to {cells[axis]}" if cells[axis] > 1 else "1"
            remedy = f"chart {chart + 1} has {cells[0]} x {cells[1]} x {cells[2]} cells; give {last}"
            yield wrong((*key, INDICES[axis]), number + 1, remedy)


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


def groups_differ(recordable: tuple[str, ...], probes: Probes, planes: ChartPlanes) -> Iterator[Problem]:
    yield from names_differ({*TAKEN, CHARTS, *recordable}, numbered(probes=probes, planes=planes))
