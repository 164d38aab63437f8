"""Fields derived from snapshots of a velocity, in cell centres, lazy, so that stores may exceed memory.

Fields are divided into pieces of some hundred megabytes, read only when needed, piece by piece. Derivatives next to
bodies are one-sided, with no slip on shared faces. A body acts as the mirror image of the velocity in their common
face, as for eddy viscosities: stair steps, also for immersed bodies. Values in bodies are NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from taskflow.analysis.conditions import conditions, domain, goes_round, mask, part_of, reaches
from taskflow.analysis.planes import VELOCITY, CutPlane, interpolate, on_cells
from taskflow.common.derived_names import COMPONENTS, LAMBDA2, SPEED, VORTICITY, WORDS, Q
from taskflow.common.errors import BadInput
from taskflow.output.store.conditions import BoundarySide
from taskflow.output.store.metadata import SOLID
from taskflow.output.store.reading import widths


def field_of(ds: xr.Dataset, name: str) -> xr.DataArray:
    """Return a field as a lazy, chunked array. Raises BadInput if it does not exist."""
    if name not in ds:
        raise BadInput(f"output.fields: there is no {name} in this dataset; it has {', '.join(on_cells(ds))}")
    field = ds[name]
    return field if field.chunks else field.chunk("auto")


def centred(ds: xr.Dataset, field: xr.DataArray) -> xr.DataArray:
    """Return a field in cell centres: for values on faces, the mean of both faces of a cell."""
    for dim in [str(dim) for dim in field.dims if str(dim).endswith("_f")]:
        low, high = _sides(ds, field, dim)
        field = ((low + high) / 2).assign_attrs(field.attrs)
    return field


def _sides(ds: xr.Dataset, field: xr.DataArray, dim: str) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the values on the low and the high face of each cell."""
    axis, values = dim[0], field.drop_vars(dim, errors="ignore")
    if goes_round(ds, axis):
        low, high = values, values.roll({dim: -1}, roll_coords=False)
    else:
        low, high = values.isel({dim: slice(None, -1)}), values.isel({dim: slice(1, None)})
    centre = f"{axis}_c"
    low, high = (side.rename({dim: centre}).assign_coords({centre: ds[centre]}) for side in (low, high))
    return low, high


def outside(ds: xr.Dataset, field: xr.DataArray) -> xr.DataArray:
    """Return the field with NaN in bodies, if the dataset has any."""
    solid = bodies(ds)
    return field if solid is None else field.where(~solid)


def bodies(ds: xr.Dataset) -> xr.DataArray | None:
    """Return the mask of bodies, lazy, or None if the dataset has none."""
    if SOLID not in ds:
        return None
    field = ds[SOLID]
    return (field if field.chunks else field.chunk("auto")) != 0


def velocity(ds: xr.Dataset) -> xr.Dataset:
    """Return u, v, w in cell centres."""
    return xr.Dataset({name: centred(ds, field_of(ds, name)) for name in VELOCITY.values()}, attrs=ds.attrs)


def derivative(ds: xr.Dataset, name: str, axis: str) -> xr.DataArray:
    """Return the derivative of a velocity component along an axis, in cell centres, of second order.

    Along the direction of its faces it is the difference of both faces, otherwise the difference of neighbouring
    centres, one-sided at boundaries that are not periodic and at bodies, on whose faces the velocity is 0. NaN in
    bodies, and across a plane if the dataset has only this one of several layers.
    """
    field = field_of(ds, name)
    if ds.sizes[f"{axis}_c"] == 1 and part_of(ds, axis):
        return xr.full_like(centred(ds, field), float("nan"))
    if f"{axis}_f" in field.dims:
        low, high = _sides(ds, field, f"{axis}_f")
        return outside(ds, centred(ds, (high - low) / widths(ds, axis)))
    values = centred(ds, field)
    if values.sizes[f"{axis}_c"] == 1:
        return outside(ds, xr.zeros_like(values))
    return _beside_bodies(ds, _differences(ds, values, axis), values, axis)


def _differences(ds: xr.Dataset, values: xr.DataArray, axis: str) -> xr.DataArray:
    """Return the derivative of values in cell centres, ignoring bodies."""
    dim = f"{axis}_c"
    if not goes_round(ds, axis):
        return _whole(values, dim).differentiate(dim, edge_order=2 if values.sizes[dim] > 2 else 1)
    places, length = ds[dim].values, float(widths(ds, axis).sum())
    around = [places[-1] - length, *places, places[0] + length]
    padded = values.drop_vars(dim).pad({dim: 1}, mode="wrap").assign_coords({dim: around})
    return _whole(padded, dim).differentiate(dim).isel({dim: slice(1, -1)}).assign_coords({dim: ds[dim]})


def _whole(field: xr.DataArray, dim: str) -> xr.DataArray:
    """Return a field chunked with all of a dimension in each chunk, and less of the others."""
    return field.chunk({other: -1 if other == dim else "auto" for other in field.dims})


def _beside_bodies(ds: xr.Dataset, plain: xr.DataArray, values: xr.DataArray, axis: str) -> xr.DataArray:
    """Return the derivative along an axis of `values` in cell centres: `plain`, except in cells adjacent to a body."""
    solid = bodies(ds)
    if solid is None:
        return plain
    low, down, low_body, low_exists = _neighbour(ds, solid, values, axis, 1)
    high, up, high_body, high_exists = _neighbour(ds, solid, values, axis, -1)
    before, behind = (values - low) / down, (high - values) / up
    both = (up * before + down * behind) / (down + up)
    one_sided = before.where(low_exists, behind).where(~(low_exists & high_exists), both)
    return outside(ds, plain.where(~(low_body | high_body), one_sided))


def _neighbour(
    ds: xr.Dataset, solid: xr.DataArray, values: xr.DataArray, axis: str, step: int
) -> tuple[xr.DataArray, xr.DataArray, xr.DataArray, xr.DataArray]:
    """Return the value of the previous (`step` 1) or next (-1) cell, its distance, and masks of bodies and existing
    cells.

    Periodic directions wrap around. The value in a body is the mirror image in the face, one cell away.
    """
    dim, size = f"{axis}_c", widths(ds, axis)

    def beside(q: xr.DataArray, beyond: object) -> xr.DataArray:
        if goes_round(ds, axis):
            return q.roll({dim: step}, roll_coords=False)
        return q.shift({dim: step}, fill_value=beyond)

    body, exists = beside(solid, False), beside(xr.ones_like(solid), False)
    value = beside(values, float("nan")).where(~body, -values)
    distance = ((size + beside(size, float("nan"))) / 2).where(~body, size)
    return value, distance, body, exists


def field(ds: xr.Dataset, name: str) -> xr.DataArray:
    """Return a recorded field where it lives, or a derived one in cell centres. Raises BadInput if it is unknown."""
    return DERIVED[name](ds) if name in DERIVED and name not in ds else field_of(ds, name)


def known_fields(ds: xr.Dataset) -> list[str]:
    """Return the names of all fields that can be shown: derived ones, if velocities exist, and recorded ones."""
    names = [name for name in on_cells(ds) if name != SOLID]
    return list(dict.fromkeys([*(WORDS if set(VELOCITY.values()) <= {*names} else ()), *names]))


def speed(ds: xr.Dataset) -> xr.DataArray:
    """Return the magnitude of the velocity in cell centres."""
    return _described(sum(component**2 for component in velocity(ds).values()) ** 0.5, SPEED)


def vorticity(ds: xr.Dataset) -> xr.Dataset:
    """Return the curl of the velocity in cell centres: vorticity_x = dw/dy - dv/dz, ..."""
    return xr.Dataset({name: _curl(ds, name[-1]) for name in COMPONENTS}, attrs=ds.attrs)


def _curl(ds: xr.Dataset, x: str) -> xr.DataArray:
    y, z = "yzx"["xyz".index(x)], "zxy"["xyz".index(x)]
    return _described(derivative(ds, VELOCITY[z], y) - derivative(ds, VELOCITY[y], z), f"{VORTICITY}_{x}")


def _enstrophic(ds: xr.Dataset) -> xr.DataArray:
    return _described(sum(_curl(ds, x) ** 2 for x in VELOCITY) ** 0.5, VORTICITY)


def q_criterion(ds: xr.Dataset) -> xr.DataArray:
    """Return Q = -(du_i/dx_j) (du_j/dx_i) / 2 in cells (J. C. R. Hunt, A. A. Wray, P. Moin 1988, CTR-S88, 193)."""
    g = {(a, b): derivative(ds, VELOCITY[a], b) for a in VELOCITY for b in VELOCITY}
    squares = g["x", "x"] ** 2 + g["y", "y"] ** 2 + g["z", "z"] ** 2
    products = g["x", "y"] * g["y", "x"] + g["y", "z"] * g["z", "y"] + g["z", "x"] * g["x", "z"]
    return _described(-0.5 * squares - products, Q)


def lambda2(ds: xr.Dataset) -> xr.DataArray:
    """Return the second largest eigenvalue of S^2 + W^2 in cell centres, negative in vortices.

    S and W are the symmetric and antisymmetric parts of the velocity gradient (J. Jeong, F. Hussain 1995, J. Fluid
    Mech. 285, 69).
    """
    parts = [derivative(ds, VELOCITY[a], b) for a in VELOCITY for b in VELOCITY]
    how: dict[str, Any] = {"dask": "parallelized", "output_dtypes": [parts[0].dtype]}
    return _described(xr.apply_ufunc(_second_eigenvalue, *parts, **how), LAMBDA2)


def _second_eigenvalue(*gradient: np.ndarray) -> np.ndarray:
    return second_eigenvalue(np.stack(gradient, axis=-1).reshape(*gradient[0].shape, 3, 3))


def second_eigenvalue(gradient: np.ndarray) -> np.ndarray:
    """Return the second eigenvalue of S^2 + W^2 of velocity gradients [..., i, j], NaN where these are."""
    turned = np.swapaxes(gradient, -1, -2)
    known = np.isfinite(gradient).all(axis=(-2, -1))
    matrix = np.where(known[..., None, None], gradient @ gradient + turned @ turned, 0.0) / 2  # S^2 + W^2
    return np.where(known, np.linalg.eigvalsh(matrix)[..., 1], np.nan)


def _described(values: Any, name: str) -> xr.DataArray:
    array: xr.DataArray = values.rename(name)
    return array.assign_attrs(long_name=WORDS[name], units="1")


DERIVED: dict[str, Callable[[xr.Dataset], xr.DataArray]] = {
    SPEED: speed, VORTICITY: _enstrophic, Q: q_criterion, LAMBDA2: lambda2,
    **{name: partial(_curl, x=name[-1]) for name in COMPONENTS},
}  # fmt: skip


def on_plane(ds: xr.Dataset, plane: CutPlane) -> xr.Dataset:
    """Return all fields at the cell centres of a plane, by linear interpolation from both sides."""
    cuts = {name: interpolate(ds, field_of(ds, name), plane.normal, plane.position) for name in on_cells(ds)}
    fields = {name: centred(ds, cut).assign_attrs(ds[name].attrs) for name, cut in cuts.items()}
    return xr.Dataset(fields, attrs=ds.attrs).assign_coords({plane.normal: plane.position})


def wall_shear(ds: xr.Dataset, face: str) -> xr.Dataset:
    """Return the stress of the fluid on a wall, over density: viscosity (u - u_wall) / (spacing / 2).

    For the two velocities along the wall, at the centre of each wall-adjacent cell, NaN in bodies and at openings.
    """
    wall, viscosity = _wall(ds, face), conditions(ds).viscosity
    if math.isnan(viscosity):
        why = "the dataset has no viscosity, or two viscosities"
        raise BadInput(f"face = {face!r}: {why}; multiply the velocity gradient by the viscosity of the fluid there")
    shear = {}
    for (axis, name), at_wall in zip(VELOCITY.items(), wall.velocity or (0.0, 0.0, 0.0), strict=True):
        if axis != face[0]:
            inside, distance = _at_wall(ds, face, centred(ds, field_of(ds, name)))
            stress = _on_wall(ds, face, viscosity * (inside - at_wall) / distance)
            about = {"long_name": f"shear stress along {axis} on {face}, over density", "units": "1"}
            shear[f"shear_{axis}"] = stress.assign_attrs(about)
    return xr.Dataset(shear, attrs=ds.attrs)


def nusselt(ds: xr.Dataset, face: str) -> xr.DataArray:
    """Return the local Nusselt number of a wall: heat flux into the fluid over pure conduction across the domain.

    Conduction is between the hottest and the coldest wall. NaN in bodies and at openings. Without bodies at the wall,
    the area-weighted mean is the number in the log.
    """
    temperature, sides = _wall(ds, face).temperature, conditions(ds).sides.values()
    temperatures = [side.temperature for side in sides if side.temperature is not None]
    if temperature is None or (difference := float(np.ptp(temperatures))) == 0:  # NaN if one varies
        raise BadInput(f"face = {face!r}: a Nusselt number needs a wall with a temperature, and another temperature")
    inside, distance = _at_wall(ds, face, field_of(ds, "T"))
    low, high = domain(ds, face[0])
    length = high - low if part_of(ds, face[0]) else float(widths(ds, face[0]).sum())
    number = _on_wall(ds, face, (temperature - inside) / distance * length / difference)
    return number.rename("nusselt").assign_attrs(long_name=f"Nusselt number on {face}", units="1")


def _wall(ds: xr.Dataset, face: str) -> BoundarySide:
    """Return a smooth wall. Raises BadInput if the face is not one."""
    sides = conditions(ds).sides
    walls = [name for name, side in sides.items() if side.type == "wall"]
    if face not in walls:
        raise BadInput(f"face = {face!r}: there is no wall; choose one of {', '.join(walls) or 'another run'}")
    if sides[face].roughness:
        raise BadInput(f"face = {face!r}: the stress of a rough wall, by the logarithmic law, is not available here")
    if not reaches(ds, face):
        raise BadInput(f"face = {face!r}: the dataset does not reach this wall; give one with the cells adjacent to it")
    return sides[face]


def _at_wall(ds: xr.Dataset, face: str, field: xr.DataArray) -> tuple[xr.DataArray, float]:
    """Return the values in wall-adjacent cells, and the distance of their centres from the wall."""
    place = _cells_at(face)
    return field.isel(place, drop=True), float(widths(ds, face[0]).isel(place)) / 2


def _on_wall(ds: xr.Dataset, face: str, values: xr.DataArray) -> xr.DataArray:
    """Return values of wall-adjacent cells, NaN in bodies and at openings."""
    for opening in conditions(ds).openings_in(face):
        values = values.where(~mask(ds, opening))
    return values.where(ds[SOLID].isel(_cells_at(face), drop=True) == 0) if SOLID in ds else values


def _cells_at(face: str) -> dict[str, int]:
    return {f"{face[0]}_c": 0 if face.endswith("min") else -1}
