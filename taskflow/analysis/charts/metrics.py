"""Areas, volumes and places of cells between vertices [xyz, k, j, i], in double precision."""

from __future__ import annotations

import numpy as np
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.charts.reading import charts
from taskflow.output.metadata import UNITS

STEPS, ENOUGH = 20, 1e-10  # of Newton's method; the error that ends it, over the size of a cell


def vertices_of(chart: xr.Dataset) -> np.ndarray:
    """Return the vertices [xyz, k, j, i] of a chart. Raises BadInput where they move and there are several times."""
    if "time" in chart["x"].dims and chart.sizes["time"] != 1:
        raise BadInput("the grid moves: choose a time, as by .isel(time=-1)")
    if "time" in chart["x"].dims:
        chart = chart.isel(time=0)
    return np.stack([chart[axis].values for axis in "xyz"])


def areas(vertices: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the area vectors [xyz, k, j, i] of the faces across a direction (0, 1, 2 for i, j, k), which point along
    the index, and the middles of these faces.

    A face with the vertices a, b, c, d in order has S = (c - a) x (d - b) / 2.
    """
    order = (0, 3 - axis, 3 - (axis + 1) % 3, 3 - (axis + 2) % 3)
    x = vertices.transpose(order)
    a, b, c, d = x[:, :, :-1, :-1], x[:, :, 1:, :-1], x[:, :, 1:, 1:], x[:, :, :-1, 1:]
    back = np.argsort(order)
    return np.cross(c - a, d - b, axis=0).transpose(back) / 2, ((a + b) + (c + d)).transpose(back) / 4


def across(vertices: np.ndarray, axis: int) -> np.ndarray:
    """Return the ways [xyz, k, j, i] through cells, from the middle of the face before to that of the face behind along
    a direction of the array (1, 2, 3 for k, j, i).
    """
    ways = np.diff(vertices, axis=axis)
    for other in {1, 2, 3} - {axis}:
        ways = (np.delete(ways, -1, other) + np.delete(ways, 0, other)) / 2
    return ways


def volumes(vertices: np.ndarray) -> np.ndarray:
    """Return the volumes [k, j, i] of cells with bilinear faces: a third of the sum over faces of middle . area, by the
    theorem of Gauss, which is exact.
    """
    x = vertices - vertices.mean(axis=(1, 2, 3), keepdims=True)
    fluxes = [(area * middle).sum(axis=0) for area, middle in (areas(x, axis) for axis in range(3))]
    return np.asarray(sum(np.diff(flux, axis=2 - axis) for axis, flux in enumerate(fluxes)) / 3)


def with_volumes(records: xr.DataTree) -> xr.DataTree:
    """Return the `volume` of each cell."""
    about = {"long_name": "volume of cells", "units": UNITS}
    parts = {"/": xr.Dataset(attrs=records.attrs)}
    for number, chart in charts(records):
        volume = xr.DataArray(volumes(vertices_of(chart)), dims=("k", "j", "i"), attrs=about)
        parts[f"charts/{number}"] = xr.Dataset({"volume": volume}, coords=_centres(chart))
    return xr.DataTree.from_dict(parts)


def _centres(chart: xr.Dataset) -> dict[str, xr.DataArray]:
    return {f"{axis}_c": chart[f"{axis}_c"] for axis in "xyz"}


def cells_at(records: xr.DataTree, points: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Return chart, k, j and i of the cell in which each of the points [n, xyz] lies: trilinear between its vertices;
    of several, as on a face, the first. Raises BadInput where a point lies in none.
    """
    cells: list[tuple[int, int, int, int] | None] = [None] * len(points)
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for number, chart in charts(records):
        x = vertices_of(chart)
        ends = _reach(x, np.minimum), _reach(x, np.maximum)
        low, high = np.minimum(low, x.min(axis=(1, 2, 3))), np.maximum(high, x.max(axis=(1, 2, 3)))
        for n, point in enumerate(points):
            if cells[n] is None and (place := _cell(x, ends, point)):
                cells[n] = (number, *place)
    for point, cell in zip(points, cells, strict=True):
        if cell is None:
            raise BadInput(
                f"point = {point.tolist()}: it lies in no cell; the charts reach from {low.tolist()} to {high.tolist()}"
            )
    return [cell for cell in cells if cell is not None]


def _reach(x: np.ndarray, extreme: np.ufunc) -> np.ndarray:
    """Return the least or largest coordinates [xyz, k, j, i] of the vertices of each cell."""
    for axis in (1, 2, 3):
        x = extreme(np.delete(x, -1, axis), np.delete(x, 0, axis))
    return x


def _cell(x: np.ndarray, ends: tuple[np.ndarray, np.ndarray], point: np.ndarray) -> tuple[int, int, int] | None:
    """Return k, j, i of the first cell with a point in it, among those whose `ends` it lies between."""
    low, high = ends
    margin = 1e-9 * (high - low).max(axis=0)
    at = point[:, None, None, None]
    for k, j, i in np.argwhere(((low - margin <= at) & (at <= high + margin)).all(axis=0)):
        if _within(x[:, k : k + 2, j : j + 2, i : i + 2], point):
            return int(k), int(j), int(i)
    return None


def _within(corners: np.ndarray, point: np.ndarray) -> bool:
    """Return whether a point lies in the trilinear cell between vertices [xyz, 2, 2, 2]: whether its shares of the way
    along k, j and i, which Newton's method finds, are between 0 and 1.
    """
    size, share = np.ptp(corners.reshape(3, 8), axis=1).max(), np.full(3, 0.5)
    for _ in range(STEPS):
        weights = np.stack([1 - share, share], axis=1)
        error = np.einsum("xkji,k,j,i->x", corners, *weights) - point
        if np.abs(error).max() <= ENOUGH * size:
            return bool(((share > -1e-9) & (share < 1 + 1e-9)).all())
        slopes = [
            np.einsum("xkji,k,j,i->x", corners, *(np.array([-1.0, 1.0]) if a == axis else weights[a] for a in range(3)))
            for axis in range(3)
        ]
        step = np.linalg.lstsq(np.stack(slopes, axis=1), error, rcond=None)[0]
        share = np.clip(share - step, -1.0, 2.0)
    return False
