"""Layers of cells that are recorded: [[planes]]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from taskflow.cases.language.problems import (
    Key,
    Problem,
    exclusive,
    missing,
    no_such_side,
    numbered,
    present,
    unknown_fields,
    wrong,
)
from taskflow.cases.language.table import Text, Whole, entry, optional
from taskflow.cases.tables.control import EVERYTHING, FieldNames, Interval
from taskflow.cases.tables.grid import AXES, GridTable
from taskflow.cases.tables.probes import Across, plane_is_inside

if TYPE_CHECKING:
    from taskflow.geometry.grids import MultiBlockGrid

INDICES = ("i", "j", "k")
ACROSS = "with `chart`, one of them: the number, from 1, of the layer of cells across this direction of the chart"
ON_A_BOX = missing("z", "give x, y or z: where the plane is")
ON_CHARTS = missing("side", "give a side of the grid by its name, or a chart and i, j or k")


class PlaneTable(Across):
    """A layer of cells across x, y or z; on charts the cells adjacent to a side, or a layer of a chart."""

    side: Text | None = optional("a side of the grid by its name: its adjacent cells, of all charts")
    chart: Whole | None = optional("instead of `side`: the number, from 1, of the chart with the recorded layer")
    i: Whole | None = optional(ACROSS)
    j: Whole | None = optional(ACROSS)
    k: Whole | None = optional(ACROSS)
    every: Interval = entry("interval of records", remedy="give an interval, as output.every")
    fields: FieldNames = optional("as `output.fields`", otherwise=EVERYTHING)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        yield from exclusive(values, *AXES)
        if present(values, "side"):
            yield from exclusive(values, "side", "chart", *INDICES)
        elif present(values, "chart"):
            yield from exclusive(values, *INDICES, needed=missing("k", "give i, j or k, the number of a layer from 1"))
        elif present(values, *INDICES):
            yield missing("chart", "give the number of the chart, from 1")

    @property
    def layer(self) -> tuple[int, int, int]:
        """The chart, the direction across the layer, 0, 1, 2 for i, j, k, and which layer of cells: all from 0."""
        numbers = self.i, self.j, self.k
        axis, number = next((axis, number) for axis, number in enumerate(numbers) if number is not None)
        return (self.chart or 1) - 1, axis, number - 1


Planes = tuple[PlaneTable, ...]


def _fields_exist(recordable: tuple[str, ...], planes: Planes) -> Iterator[Problem]:
    for key, plane in numbered(planes=planes):
        yield from unknown_fields((*key, "fields"), plane.fields, recordable)


def _planes_are_inside(grid: GridTable, planes: Planes) -> Iterator[Problem]:
    for key, plane in numbered(planes=planes):
        if present(dict(plane), *AXES):
            yield from plane_is_inside(grid, key, plane)
        elif not present(dict(plane), "side", "chart"):
            yield ON_A_BOX.within(key)


def _planes_have_cells(charts: MultiBlockGrid, planes: Planes) -> Iterator[Problem]:
    for key, plane in numbered(planes=planes):
        if plane.side is not None:
            if plane.side not in charts.sides:
                yield wrong((*key, "side"), plane.side, no_such_side(plane.side, charts.sides))
        elif plane.chart is not None:
            yield from _chart_has_layer(charts, plane, key)
        elif not present(dict(plane), *AXES):
            yield ON_CHARTS.within(key)


def _chart_has_layer(charts: MultiBlockGrid, plane: PlaneTable, key: Key) -> Iterator[Problem]:
    chart, axis, number = plane.layer
    if chart >= len(charts.charts):
        remedy = f"unknown chart; charts have the numbers 1 to {len(charts.charts)}"
        yield wrong((*key, "chart"), plane.chart, remedy)
    elif number >= (cells := charts.given(chart))[axis]:
        last = f"1 to {cells[axis]}" if cells[axis] > 1 else "1"
        remedy = f"chart {chart + 1} has {cells[0]} x {cells[1]} x {cells[2]} cells; give {last}"
        yield wrong((*key, INDICES[axis]), number + 1, remedy)


PlaneTable.rules = (_fields_exist, _planes_are_inside, _planes_have_cells)
