"""Loads on the sides of a chart grid: pressure and shear stress on the faces of walls."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import xarray as xr

from taskflow.analysis.charts.metrics import choose, vertices_of
from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import area, cell_volumes, centres, face_corners, feet
from taskflow.output.store.chart_layout import CELLS, VERTICES, ranges
from taskflow.output.store.chart_store import CHART
from taskflow.output.store.conditions import BOUNDARY, TURBULENCE
from taskflow.output.store.metadata import UNITS
from taskflow.output.store.reading import charts, patches, place_of
from taskflow.output.store.rigid_motion import POSE, RATES, REST, transformed

if TYPE_CHECKING:
    from taskflow.runtime.regions import Patch

VELOCITY = ("u", "v", "w")
WHICH = {"stress": "viscous stress", "shear": "shear stress"}
WORDS = {
    "x": "x of the middle of the face", "y": "y of the middle of the face", "z": "z of the middle of the face",
    "normal_x": "x of the normal, out of the fluid", "normal_y": "y of the normal, out of the fluid",
    "normal_z": "z of the normal, out of the fluid", "area": "area of the face", "chart": "chart of the face",
    "k": "k of the adjacent cell", "j": "j of the adjacent cell", "i": "i of the adjacent cell",
}  # fmt: skip


def side(records: xr.DataTree, name: str) -> xr.Dataset:
    """Return the values on a side, along a dimension `face` after the time.

    Fields have the values in the adjacent cells. `p_face` is the pressure on the face. On a wall the viscous stress is
    `stress_x`, ..., and its tangential part, the shear stress, `shear_x`, ...

    p_face = 3/2 p_1 - 1/2 p_2 of the two cells nearest to the face, as in the equations, or p_1 if the chart is one
    cell thick. Recorded planes lack it if a face lacks the second cell. The stress of the fluid on the wall, over
    density, is viscosity times 2 (u - u_wall) |S| / V as in the equations, with S the face area and V the mean volume
    of the cell and its mirror image. The transposed gradient adds viscosity times w x n on a grid that rotates at w,
    and with eddies twice the normal component. Stresses need the attributes `viscosity`, `boundary_NAME` = "wall" and
    `boundary_NAME_velocity`, which walls of uniform velocity have, or on a moving grid the columns `motion_rate_xx`,
    ...: its walls move with it. Coordinates are the centre of a face, x, y, z, its normal out of the fluid, its area,
    and chart, k, j and i of the cell.

    Raises BadInput if the side does not exist.
    """
    known = patches(records)
    if name not in known:
        raise BadInput(f"side = {name!r}: unknown side; choose one of {', '.join(sorted(known))}")
    datasets = dict(charts(records))
    parts = [_on(datasets[patch.chart], patch, _wall(records, name)) for patch in known[name]]
    if not all("p_face" in part for part in parts):
        parts = [part.drop_vars("p_face", errors="ignore") for part in parts]
    return xr.concat(parts, "face").assign_attrs(records.attrs)


def on_patch(records: xr.DataTree, name: str, patch: Patch) -> xr.Dataset:
    """Return the values on one patch of a side, as `side` does, in the order of its cells."""
    return _on(dict(charts(records))[patch.chart], patch, _wall(records, name))


class KnownWall(NamedTuple):
    """Wall with known velocity.

    `viscosity`: of the fluid. `rates` [12, ...]: R' and b', with which points X at rest have the velocity R' X + b'.
    `turn` [9, ...]: R. `whole`: True if friction includes the transposed gradient, as with eddies.
    """

    viscosity: float
    rates: np.ndarray
    turn: np.ndarray
    whole: bool


def _wall(records: xr.DataTree, name: str) -> KnownWall | None:
    """Return the data of a wall, or None: no wall, or velocities unknown as in stores older than the rates."""
    attributes, columns = records.attrs, records.data_vars
    velocity, moves = attributes.get(f"{BOUNDARY}{name}_velocity"), POSE[0] in columns
    if attributes.get(f"{BOUNDARY}{name}") != "wall" or "viscosity" not in attributes:
        return None
    viscosity, whole = float(attributes["viscosity"]), TURBULENCE in attributes
    if moves and RATES[0] in columns:
        choose(columns[RATES[0]], "time")
        rates, turn = (np.array([columns[number].values for number in numbers]) for numbers in (RATES, POSE[:9]))
        return KnownWall(viscosity, rates, turn, whole)
    if moves or velocity is None:
        return None
    return KnownWall(viscosity, np.array([*np.zeros(9), *velocity], dtype=float), np.eye(3).ravel(), whole)


def _on(chart: xr.Dataset, patch: Patch, wall: KnownWall | None) -> xr.Dataset:
    layer = chart.isel(ranges(VERTICES, patch.cells.expand((0, 0, 0), (1, 1, 1))))
    vertices, outward = vertices_of(layer), 1 if patch.end else -1
    corners = _corners(vertices, patch)
    middle, S = corners.mean(axis=0), outward * area(*corners).reshape(3, -1)
    size = np.sqrt((S**2).sum(axis=0))
    normal = S / size

    fields = {str(name): field for name, field in chart.data_vars.items() if set(CELLS) <= set(field.dims)}
    values = {name: _flat(field.isel(ranges(CELLS, patch.cells))) for name, field in fields.items()}
    whole, first = place_of(patch.chart, chart)
    if "p" in fields and not (CHART in chart.attrs and fields["p"].sizes[CELLS[2 - patch.axis]] == 1):
        values["p_face"] = values["p"].copy(data=_extrapolated(fields["p"], patch))
        values["p_face"].attrs["long_name"] = "pressure on the face"
    if wall is not None and set(VELOCITY) <= set(fields):
        rates, turn = wall.rates.reshape(12), wall.turn.reshape(3, 3)  # of one time, as are the vertices
        at_rest = vertices if f"x{REST}" not in layer else vertices_of(layer, REST)
        velocity = transformed(_feet(at_rest, patch), rates[:9].reshape(3, 3), rates[9:])
        n, around = _along(normal, values["u"]), (cell_volumes(vertices) + cell_volumes(_mirrored(vertices, patch))) / 2
        relative = np.stack([values[name].values for name in VELOCITY]) - _along(velocity, values["u"])
        gradient = 2 * wall.viscosity * relative * size / around.reshape(-1)
        across = (gradient * n).sum(axis=0) * n
        turning = rates[:9].reshape(3, 3) @ turn.T
        turned = _along(wall.viscosity / 2 * (turning - turning.T) @ normal, values["u"])
        shear, stress = gradient - across + turned, gradient + turned + (across if wall.whole else 0)
        for name, vector in (("stress", stress), ("shear", shear)):
            for axis, component in zip("xyz", vector, strict=True):
                about = {"long_name": f"{WHICH[name]} along {axis}, over density", "units": UNITS}
                values[f"{name}_{axis}"] = values["u"].copy(data=component).assign_attrs(about)

    low = np.add(patch.cells.lo, first)[::-1]
    cells = np.indices(patch.cells.shape[::-1]).reshape(3, -1) + low[:, None]
    numbers = [*middle.reshape(3, -1), *normal, size, np.full(size.shape, whole), *cells]
    coords = {
        name: ("face", number, {"long_name": words, "units": UNITS})
        for (name, words), number in zip(WORDS.items(), numbers, strict=True)
    }
    return xr.Dataset(values, coords=coords)


def _corners(vertices: np.ndarray, patch: Patch) -> np.ndarray:
    """Return the corners [corner, xyz, ...] of the faces of a patch, from vertices of the adjacent layer of cells."""
    return np.stack(face_corners(vertices, patch.axis)).take(patch.end, 4 - patch.axis)


def _feet(vertices: np.ndarray, patch: Patch) -> np.ndarray:
    """Return the points where normals through the centres of a layer of cells meet its faces, for the wall velocity."""
    corners = _corners(vertices, patch)
    inside = np.array(centres(vertices)).squeeze(3 - patch.axis)
    return feet(inside, corners.mean(axis=0), area(*corners))


def _mirrored(vertices: np.ndarray, patch: Patch) -> np.ndarray:
    """Return the vertices x_g = 2 x_0 - x_1 of the mirror images of a layer of cells across its faces."""
    axis = 3 - patch.axis
    outer, inner = vertices.take([patch.end], axis), vertices.take([1 - patch.end], axis)
    return np.concatenate([outer, 2 * outer - inner] if patch.end else [2 * outer - inner, outer], axis)


def _flat(field: xr.DataArray) -> xr.DataArray:
    """Return values [..., k, j, i] as doubles along `face`, without the coordinates of cells."""
    rest = [dim for dim in field.dims if dim not in CELLS]
    data = field.values.astype(float).reshape(*(field.sizes[dim] for dim in rest), -1)
    coords = {dim: field[dim] for dim in rest} | ({"time": field["time"]} if "time" in field.coords else {})
    return xr.DataArray(data, coords, [*rest, "face"], attrs=field.attrs)


def _along(vector: np.ndarray, values: xr.DataArray) -> np.ndarray:
    """Return vectors of faces [xyz, ...] reshaped to broadcast with [xyz, ..., face]."""
    by_face = vector.reshape(3, -1)
    return by_face.reshape(3, *(1,) * (values.ndim - 1), -1)


def _extrapolated(p: xr.DataArray, patch: Patch) -> np.ndarray:
    """Return 3/2 p_1 - 1/2 p_2 on the faces of a patch."""
    place, dim = ranges(CELLS, patch.cells), CELLS[2 - patch.axis]
    first = _flat(p.isel(place)).values
    if p.sizes[dim] == 1:
        return first
    step = -1 if patch.end else 1
    second = place | {dim: slice(place[dim].start + step, place[dim].stop + step)}
    return np.asarray(1.5 * first - 0.5 * _flat(p.isel(second)).values)
