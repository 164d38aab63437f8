"""Fields derived from the records of a run on charts, and their values at points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import xarray as xr

from taskflow.analysis.charts.metrics import across, cells_at, vertices_of
from taskflow.analysis.charts.sides import VELOCITY
from taskflow.analysis.derived import second_eigenvalue
from taskflow.common.derived_names import COMPONENTS, LAMBDA2, SPEED, VORTICITY, WORDS, Q
from taskflow.common.errors import BadInput
from taskflow.output.store.chart_layout import CELLS
from taskflow.output.store.metadata import SOLID
from taskflow.output.store.reading import charts, place_of

CENTRES = ("x_c", "y_c", "z_c")
KJI = (-3, -2, -1)  # axes of arrays


def fields_of(records: xr.DataTree) -> list[str]:
    """Return the names of the fields in the cells of every chart, in order."""
    _, first = next(charts(records))
    cells = (str(name) for name, field in first.data_vars.items() if set(CELLS) <= set(field.dims))
    return [name for name in cells if name != SOLID]


def derived(records: xr.DataTree, name: str) -> xr.DataTree:
    """Return the record of a derived field in each cell, named as in `taskflow.common.derived_names`.

    Differences between centres are exact for linear flows on any cells, and one-sided next to the sides of charts. In
    two dimensions w is constant across the plane. Raises BadInput if a velocity component was not recorded.
    """
    if missing := [part for part in VELOCITY if part not in fields_of(records)]:
        what = "the speed" if name == SPEED else name
        raise BadInput(f"output.fields: {what} needs u, v and w; {', '.join(missing)} was not recorded")
    parts = {"/": xr.Dataset(coords=records.coords, attrs=records.attrs)}
    for number, chart in charts(records):
        u = chart["u"]
        values = sum(chart[part] ** 2 for part in VELOCITY) ** 0.5 if name == SPEED else None
        values = OF_GRADIENT[name](gradient(chart)) if values is None else values.values
        about = {"long_name": WORDS[name], "units": u.attrs.get("units", "1") if name == SPEED else "1"}
        parts[f"charts/{number}"] = xr.Dataset({name: (u.dims, values, about)}, u.coords, chart.attrs)
    return xr.DataTree.from_dict(parts)


def gradient(chart: xr.Dataset) -> np.ndarray:
    """Return the transposed velocity gradient du_j/dx_i [..., k, j, i, axis, component] of a chart."""
    velocity, places = (np.stack([chart[name].values for name in names]) for names in (VELOCITY, CENTRES))
    slopes = np.stack([differences(velocity, axis) for axis in KJI])  # [kji, uvw, ..., k, j, i]
    metric = np.stack([differences(places, axis, vertices_of(chart)) for axis in KJI])
    slopes, metric = (np.moveaxis(matrix, (0, 1), (-2, -1)) for matrix in (slopes, metric))
    return np.asarray(np.linalg.solve(metric, slopes))


def _curl(g: np.ndarray) -> np.ndarray:
    return np.stack([g[..., i, j] - g[..., j, i] for i, j in ((1, 2), (2, 0), (0, 1))])


def _component(g: np.ndarray, axis: int) -> np.ndarray:
    return np.asarray(_curl(g)[axis])


OF_GRADIENT: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    VORTICITY: lambda g: np.asarray(np.sqrt((_curl(g) ** 2).sum(axis=0))),
    Q: lambda g: -np.einsum("...ij,...ji->...", g, g) / 2,
    LAMBDA2: second_eigenvalue,
    **{name: partial(_component, axis=axis) for axis, name in enumerate(COMPONENTS)},
}


def differences(values: np.ndarray, axis: int, vertices: np.ndarray | None = None) -> np.ndarray:
    """Return differences [component, ..., k, j, i] between neighbours along an axis.

    Across a single cell they are zero, or the differences between its vertices if these are given.
    """
    if values.shape[axis] > 1:
        return np.asarray(np.gradient(values, axis=axis))
    return np.zeros_like(values) if vertices is None else across(vertices, axis % 4)


def at(records: xr.DataTree, point: Sequence[float] | np.ndarray) -> xr.Dataset:
    """Return all fields in the cell that contains a point [xyz], or for points [n, xyz] along a dimension `point`.

    Coordinates are the centres x_c, y_c, z_c and chart, k, j and i of the cells. Raises BadInput if no cell contains a
    point.
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
        whole, first = place_of(number, datasets[number])
        values.append(cell.assign_coords(chart=whole, k=k + first[2], j=j + first[1], i=i + first[0]).load())
    coords = ["x_c", "y_c", "z_c", "chart", "k", "j", "i"]
    at_points = xr.concat(values, "point", coords=coords) if points.ndim == 2 else values[0]
    at_points.attrs = dict(records.attrs)
    return at_points
