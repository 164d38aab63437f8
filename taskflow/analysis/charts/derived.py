"""Fields that follow from the records of a run on charts, and their values at points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import xarray as xr

from taskflow.analysis.charts.metrics import cells_at
from taskflow.analysis.charts.sides import VELOCITY
from taskflow.errors import BadInput
from taskflow.output.charts.layout import CELLS
from taskflow.output.charts.reading import charts


def fields_of(records: xr.DataTree) -> list[str]:
    """Return the names of the fields in the cells of every chart, in order."""
    _, first = next(charts(records))
    return [str(name) for name, field in first.data_vars.items() if set(CELLS) <= set(field.dims)]


def speed(records: xr.DataTree) -> xr.DataTree:
    """Return the magnitude `speed` of the velocity in each cell. Raises BadInput where a velocity was not recorded."""
    if missing := [name for name in VELOCITY if name not in fields_of(records)]:
        raise BadInput(f"output.fields: the speed needs u, v and w; {', '.join(missing)} was not recorded")
    parts = {"/": xr.Dataset(coords=records.coords, attrs=records.attrs)}
    for number, chart in charts(records):
        u, v, w = (chart[name] for name in VELOCITY)
        about = {"long_name": "magnitude of the velocity", "units": u.attrs.get("units", "1")}
        magnitude = ((u**2 + v**2 + w**2) ** 0.5).assign_attrs(about)
        parts[f"charts/{number}"] = xr.Dataset({"speed": magnitude}, attrs=chart.attrs)
    return xr.DataTree.from_dict(parts)


def at(records: xr.DataTree, point: Sequence[float] | np.ndarray) -> xr.Dataset:
    """Return all fields in the cell in which a point [xyz] lies, or, of points [n, xyz], in their cells along a
    dimension `point`, with the centres x_c, y_c, z_c and chart, k, j and i of the cells.

    Raises BadInput where a point lies in no cell.
    """
    try:
        points = np.asarray(point, dtype=float)
    except (TypeError, ValueError):
        points = np.empty(0)
    if points.ndim not in (1, 2) or points.shape[-1] != 3 or not np.isfinite(points).all():
        raise BadInput(f"point = {point!r}; give x, y and z, or a list of such points")
    datasets, values = dict(charts(records)), []
    for number, k, j, i in cells_at(records, points.reshape(-1, 3)):
        cell = datasets[number][fields_of(records)].isel(k=k, j=j, i=i)
        values.append(cell.assign_coords(chart=number, k=k, j=j, i=i).load())
    coords = ["x_c", "y_c", "z_c", "chart", "k", "j", "i"]
    at_points = xr.concat(values, "point", coords=coords) if points.ndim == 2 else values[0]
    at_points.attrs = dict(records.attrs)
    return at_points
