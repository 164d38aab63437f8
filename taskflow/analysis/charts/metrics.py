"""Volumes and positions of cells between vertices [xyz, k, j, i], in double precision."""

from __future__ import annotations

import numpy as np
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import cell_volumes
from taskflow.common.point_location import Cell, cells_around, reach
from taskflow.output.store.metadata import UNITS
from taskflow.output.store.reading import charts


def vertices_of(chart: xr.Dataset, kind: str = "") -> np.ndarray:
    """Return the vertices [xyz, k, j, i] of a chart, for a moving chart of the `kind` `REST` those at rest.

    Raises BadInput if the chart has none, or it moves and has several times.
    """
    if missing := [f"{axis}{kind}" for axis in "xyz" if f"{axis}{kind}" not in chart.variables]:
        raise BadInput(f"a chart has no {missing[0]}, of its vertices; give a tree as run.dataset() returns it")
    if "time" in chart["x"].dims and chart.sizes["time"] != 1:
        raise BadInput("the grid moves: choose a time, as by .isel(time=-1)")
    if "time" in chart["x"].dims:
        chart = chart.isel(time=0)
    return np.stack([chart[f"{axis}{kind}"].values for axis in "xyz"])


def choose(field: xr.DataArray, *known: str) -> None:
    """Raise BadInput if a field has other dimensions, such as the runs of a sweep."""
    if other := next((str(dim) for dim in field.dims if dim not in known), None):
        raise BadInput(f"{field.name} has several values along {other}: choose one, as by .isel({{{other!r}: 0}})")


def across(vertices: np.ndarray, axis: int) -> np.ndarray:
    """Return vectors [xyz, k, j, i] between centres of opposite faces of cells, along an array axis 1, 2 or 3."""
    ways = np.diff(vertices, axis=axis)
    for other in {1, 2, 3} - {axis}:
        ways = (np.delete(ways, -1, other) + np.delete(ways, 0, other)) / 2
    return ways


def with_volumes(records: xr.DataTree) -> xr.DataTree:
    about = {"long_name": "volume of cells", "units": UNITS}
    parts = {"/": xr.Dataset(attrs=records.attrs)}
    for number, chart in charts(records):
        volume = xr.DataArray(cell_volumes(vertices_of(chart)), dims=("k", "j", "i"), attrs=about)
        centres = {f"{axis}_c": chart[f"{axis}_c"] for axis in "xyz"}
        parts[f"charts/{number}"] = xr.Dataset({"volume": volume}, coords=centres)
    return xr.DataTree.from_dict(parts)


def cells_at(records: xr.DataTree, points: np.ndarray) -> list[Cell]:
    """Return the cells found by `cells_around` in a tree. Raises BadInput if no cell contains a point."""
    cells = cells_around(((number, vertices_of(chart)) for number, chart in charts(records)), points)
    for point, cell in zip(points, cells, strict=True):
        if cell is None:
            low, high = reach(vertices_of(chart) for _, chart in charts(records))
            raise BadInput(f"point = {point.tolist()}: it lies in no cell; the charts reach from {low} to {high}")
    return [cell for cell in cells if cell is not None]
