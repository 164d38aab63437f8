"""What a flow does on the sides of a grid of charts: pressure and shear stress on the faces of walls."""

from __future__ import annotations

from typing import Any

import numpy as np
import xarray as xr

from taskflow.analysis.charts.metrics import areas, vertices_of, volumes
from taskflow.errors import BadInput
from taskflow.output.charts.layout import CELLS, Patch
from taskflow.output.charts.reading import charts, patches
from taskflow.output.conditions import BOUNDARY
from taskflow.output.metadata import UNITS

VELOCITY = ("u", "v", "w")
WORDS = {
    "x": "x of the middle of the face", "y": "y of the middle of the face", "z": "z of the middle of the face",
    "normal_x": "x of the normal, out of the fluid", "normal_y": "y of the normal, out of the fluid",
    "normal_z": "z of the normal, out of the fluid", "area": "area of the face", "chart": "chart of the face",
    "k": "k of the cell beside the face", "j": "j of the cell beside the face", "i": "i of the cell beside the face",
}  # fmt: skip


def side(records: xr.DataTree, name: str) -> xr.Dataset:
    """Return the values on a side, along a dimension `face` behind the time: of every field those in the cells beside
    the faces; `p_face`, the pressure p on the face, and on a wall the shear stress `shear_x`, `shear_y`, `shear_z`.

    p_face = 3/2 p_1 - 1/2 p_2 of the two cells next to the face, as the equations have it, and p_1 where the chart is
    one cell thick. The stress is that which the fluid puts on the wall, over density: what lies along the face of
    2 viscosity (u - u_wall) |S| / V, with the area S of the face and the volume V of the cell. It needs the attributes
    `viscosity`, `boundary_NAME` = "wall" and, where the wall moves, `boundary_NAME_velocity`. Coordinates are the
    middle of a face, x, y, z, its normal out of the fluid and its area, and chart, k, j and i of the cell.
    Raises BadInput where there is no such side.
    """
    known = patches(records)
    if name not in known:
        raise BadInput(f"side = {name!r}: there is no such side; choose one of {', '.join(sorted(known))}")
    datasets = dict(charts(records))
    parts = [_on(datasets[patch.chart], patch, _wall(records.attrs, name)) for patch in known[name]]
    return xr.concat(parts, "face").assign_attrs(records.attrs)


def on_patch(records: xr.DataTree, name: str, patch: Patch) -> xr.Dataset:
    """Return the values on one patch of a side, as `side` does, in the order of its cells."""
    return _on(dict(charts(records))[patch.chart], patch, _wall(records.attrs, name))


def _wall(attributes: Any, name: str) -> tuple[float, np.ndarray] | None:
    """Return the viscosity and the velocity of a wall; None of what is none, or whose stress is not known."""
    if attributes.get(f"{BOUNDARY}{name}") != "wall" or "viscosity" not in attributes:
        return None
    velocity = np.asarray(attributes.get(f"{BOUNDARY}{name}_velocity", (0.0, 0.0, 0.0)))
    if velocity.shape != (3,) or velocity.dtype.kind not in "if":  # expressions of x, y, z, t
        return None
    return float(attributes["viscosity"]), velocity.astype(float)


def _on(chart: xr.Dataset, patch: Patch, wall: tuple[float, np.ndarray] | None) -> xr.Dataset:
    vertices = vertices_of(chart.isel(patch.corners))
    outward = 1 if patch.end else -1
    area, middle = (values.take(patch.end, 3 - patch.axis) for values in areas(vertices, patch.axis))
    S = outward * area.reshape(3, -1)
    size = np.sqrt((S**2).sum(axis=0))
    normal = S / size

    fields = {str(name): field for name, field in chart.data_vars.items() if set(CELLS) <= set(field.dims)}
    values = {name: _flat(field.isel(patch.place)) for name, field in fields.items()}
    if "p" in fields:
        values["p_face"] = values["p"].copy(data=_extrapolated(fields["p"], patch))
        values["p_face"].attrs["long_name"] = "pressure on the face"
    if wall is not None and set(VELOCITY) <= set(fields):
        viscosity, velocity = wall
        relative = np.stack([values[name].values for name in VELOCITY]) - _along(velocity, values["u"])
        stress = 2 * viscosity * relative * size / volumes(vertices).reshape(-1)
        normal_part = (stress * _along(normal, values["u"])).sum(axis=0) * _along(normal, values["u"])
        for axis, component in zip("xyz", stress - normal_part, strict=True):
            about = {"long_name": f"shear stress along {axis}, over density", "units": UNITS}
            values[f"shear_{axis}"] = values["u"].copy(data=component).assign_attrs(about)

    cells = np.indices(patch.cells.shape[::-1]).reshape(3, -1) + np.array(patch.cells.lo[::-1])[:, None]
    numbers = [*middle.reshape(3, -1), *normal, size, np.full(size.shape, patch.chart), *cells]
    coords = {
        name: ("face", number, {"long_name": words, "units": UNITS})
        for (name, words), number in zip(WORDS.items(), numbers, strict=True)
    }
    return xr.Dataset(values, coords=coords)


def _flat(field: xr.DataArray) -> xr.DataArray:
    """Return values [..., k, j, i] as doubles along `face`, without the coordinates of cells."""
    rest = [dim for dim in field.dims if dim not in CELLS]
    data = field.values.astype(float).reshape(*(field.sizes[dim] for dim in rest), -1)
    coords = {dim: field[dim] for dim in rest} | ({"time": field["time"]} if "time" in field.coords else {})
    return xr.DataArray(data, coords, [*rest, "face"], attrs=field.attrs)


def _along(vector: np.ndarray, values: xr.DataArray) -> np.ndarray:
    """Return a vector [xyz], or one for each face [xyz, face], such that it goes with [xyz, ..., face]."""
    by_face = vector.reshape(3, -1)
    return by_face.reshape(3, *(1,) * (values.ndim - 1), -1)


def _extrapolated(p: xr.DataArray, patch: Patch) -> np.ndarray:
    """Return 3/2 p_1 - 1/2 p_2 on the faces of a patch."""
    place, dim = patch.place, CELLS[2 - patch.axis]
    first = _flat(p.isel(place)).values
    if p.sizes[dim] == 1:
        return first
    step = -1 if patch.end else 1
    second = place | {dim: slice(place[dim].start + step, place[dim].stop + step)}
    return np.asarray(1.5 * first - 0.5 * _flat(p.isel(second)).values)
