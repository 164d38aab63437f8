"""Fields that follow from the snapshots of a velocity, in cell centres: lazy, so that stores may be larger than memory.

Fields are cut into pieces of some hundred megabytes; nothing is read before it is needed, and then piece by piece.

Derivatives beside bodies are one-sided, with the no-slip condition on the faces that cells share with them. A body
shows a fluid cell the image of its own velocity in their common face, as it shows it to eddy viscosities: stair steps,
also of bodies that the equations see where they are. In bodies there is nothing: NaN.
"""

from __future__ import annotations

import math

import numpy as np
import xarray as xr

from taskflow.analysis.conditions import conditions, domain, goes_round, part_of, reaches
from taskflow.analysis.planes import VELOCITY, CutPlane, interpolate, on_cells
from taskflow.common.errors import BadInput
from taskflow.output.store.conditions import BoundarySide
from taskflow.output.store.metadata import SOLID
from taskflow.output.store.reading import widths


def field_of(ds: xr.Dataset, name: str) -> xr.DataArray:
    """Return a field, as a lazy array of pieces. Raises BadInput where there is none."""
    if name not in ds:
        raise BadInput(f"output.fields: there is no {name} in this dataset; it has {', '.join(on_cells(ds))}")
    field = ds[name]
    return field if field.chunks else field.chunk("auto")


def centred(ds: xr.Dataset, field: xr.DataArray) -> xr.DataArray:
    """Return a field in cell centres: the mean of the values on a cell's two faces, where it lives on these."""
    for dim in [str(dim) for dim in field.dims if str(dim).endswith("_f")]:
        low, high = _sides(ds, field, dim)
        field = ((low + high) / 2).assign_attrs(field.attrs)
    return field


def _sides(ds: xr.Dataset, field: xr.DataArray, dim: str) -> tuple[xr.DataArray, xr.DataArray]:
    """Return the values on the low and on the high face of each cell."""
    axis, values = dim[0], field.drop_vars(dim, errors="ignore")
    if goes_round(ds, axis):
        low, high = values, values.roll({dim: -1}, roll_coords=False)
    else:
        low, high = values.isel({dim: slice(None, -1)}), values.isel({dim: slice(1, None)})
    centre = f"{axis}_c"
    low, high = (side.rename({dim: centre}).assign_coords({centre: ds[centre]}) for side in (low, high))
    return low, high


def outside(ds: xr.Dataset, field: xr.DataArray) -> xr.DataArray:
    """Return the field, NaN in bodies, as far as the dataset knows of any."""
    solid = bodies(ds)
    return field if solid is None else field.where(~solid)


def bodies(ds: xr.Dataset) -> xr.DataArray | None:
    """Return where bodies are, lazily; None where the dataset knows of none."""
    if SOLID not in ds:
        return None
    field = ds[SOLID]
    return (field if field.chunks else field.chunk("auto")) != 0


def velocity(ds: xr.Dataset) -> xr.Dataset:
    """Return u, v, w in cell centres."""
    return xr.Dataset({name: centred(ds, field_of(ds, name)) for name in VELOCITY.values()}, attrs=ds.attrs)


def derivative(ds: xr.Dataset, name: str, axis: str) -> xr.DataArray:
    """Return the derivative of a velocity along an axis, in cell centres, of second order.

    It is the difference of the two faces along a direction in which the velocity lives on faces; otherwise that between
    neighbouring centres, one-sided at boundaries that are not periodic, and at bodies, on whose faces the velocity is
    0. It is NaN in bodies, and across a plane that is all that the dataset has of several layers.
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
    """Return the derivative of values in cell centres as if there were no bodies."""
    dim = f"{axis}_c"
    if not goes_round(ds, axis):
        return _whole(values, dim).differentiate(dim, edge_order=2 if values.sizes[dim] > 2 else 1)
    places, length = ds[dim].values, float(widths(ds, axis).sum())
    around = [places[-1] - length, *places, places[0] + length]
    padded = values.drop_vars(dim).pad({dim: 1}, mode="wrap").assign_coords({dim: around})
    return _whole(padded, dim).differentiate(dim).isel({dim: slice(1, -1)}).assign_coords({dim: ds[dim]})


def _whole(field: xr.DataArray, dim: str) -> xr.DataArray:
    """Return a field in pieces that have all of a dimension, and less of the others instead."""
    return field.chunk({other: -1 if other == dim else "auto" for other in field.dims})


def _beside_bodies(ds: xr.Dataset, plain: xr.DataArray, values: xr.DataArray, axis: str) -> xr.DataArray:
    """Return the derivative along an axis of `values` in cell centres: `plain` where there is no body beside a cell."""
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
    """Return the value of the next cell before (`step` 1) or behind (-1) each cell, round where periodic, its distance,
    whether a body is there, and whether it exists. The value of a body is the image in the face, one cell away.
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


def vorticity(ds: xr.Dataset) -> xr.Dataset:
    """Return the curl of the velocity: vorticity_x = dw/dy - dv/dz, ..., in cell centres."""
    curl = {}
    for x, y, z in ("xyz", "yzx", "zxy"):
        field = derivative(ds, VELOCITY[z], y) - derivative(ds, VELOCITY[y], z)
        curl[f"vorticity_{x}"] = field.assign_attrs(long_name=f"vorticity along {x}", units="1")
    return xr.Dataset(curl, attrs=ds.attrs)


def q_criterion(ds: xr.Dataset) -> xr.DataArray:
    """Return Q = -(du_i/dx_j) (du_j/dx_i) / 2 in cell centres, positive where rotation outweighs strain (J. C. R. Hunt,
    A. A. Wray, P. Moin 1988, CTR-S88, 193).
    """
    g = {(a, b): derivative(ds, VELOCITY[a], b) for a in VELOCITY for b in VELOCITY}
    squares = g["x", "x"] ** 2 + g["y", "y"] ** 2 + g["z", "z"] ** 2
    products = g["x", "y"] * g["y", "x"] + g["y", "z"] * g["z", "y"] + g["z", "x"] * g["x", "z"]
    about = {"long_name": "second invariant of the velocity gradient", "units": "1"}
    return (-0.5 * squares - products).rename("Q").assign_attrs(about)


def on_plane(ds: xr.Dataset, plane: CutPlane) -> xr.Dataset:
    """Return all fields on a plane, at the cell centres of it, linear between the values on both sides."""
    cuts = {name: interpolate(ds, field_of(ds, name), plane.normal, plane.position) for name in on_cells(ds)}
    fields = {name: centred(ds, cut).assign_attrs(ds[name].attrs) for name, cut in cuts.items()}
    return xr.Dataset(fields, attrs=ds.attrs).assign_coords({plane.normal: plane.position})


def wall_shear(ds: xr.Dataset, face: str) -> xr.Dataset:
    """Return the stress, over density, that the fluid puts on a wall: viscosity (u - u_wall) / (spacing / 2), for the
    two velocities along it; in the middle of each cell at the wall, NaN where that is in a body.
    """
    wall, viscosity = _wall(ds, face), conditions(ds).viscosity
    if math.isnan(viscosity):
        why = "the dataset has no viscosity, or those of two phases"
        raise BadInput(f"face = {face!r}: {why}; multiply the gradient of the velocity by that of the fluid there")
    shear = {}
    for (axis, name), at_wall in zip(VELOCITY.items(), wall.velocity or (0.0, 0.0, 0.0), strict=True):
        if axis != face[0]:
            inside, distance = _at_wall(ds, face, centred(ds, field_of(ds, name)))
            stress = _in_fluid(ds, face, viscosity * (inside - at_wall) / distance)
            about = {"long_name": f"shear stress along {axis} on {face}, over density", "units": "1"}
            shear[f"shear_{axis}"] = stress.assign_attrs(about)
    return xr.Dataset(shear, attrs=ds.attrs)


def nusselt(ds: xr.Dataset, face: str) -> xr.DataArray:
    """Return the heat flux into the fluid through each cell's part of a wall, over that of pure conduction across the
    domain between the hottest and the coldest wall; NaN where the cell is in a body. Its mean, weighted by area, is the
    number in the log, where there are no bodies at the wall.
    """
    temperature, sides = _wall(ds, face).temperature, conditions(ds).sides.values()
    temperatures = [side.temperature for side in sides if side.temperature is not None]
    if temperature is None or (difference := float(np.ptp(temperatures))) == 0:  # NaN where one of them changes
        raise BadInput(f"face = {face!r}: a Nusselt number needs a wall with a temperature, and another temperature")
    inside, distance = _at_wall(ds, face, field_of(ds, "T"))
    low, high = domain(ds, face[0])
    length = high - low if part_of(ds, face[0]) else float(widths(ds, face[0]).sum())
    number = _in_fluid(ds, face, (temperature - inside) / distance * length / difference)
    return number.rename("nusselt").assign_attrs(long_name=f"Nusselt number on {face}", units="1")


def _wall(ds: xr.Dataset, face: str) -> BoundarySide:
    """Return a smooth wall. Raises BadInput where the face is none."""
    sides = conditions(ds).sides
    walls = [name for name, side in sides.items() if side.type == "wall"]
    if face not in walls:
        raise BadInput(f"face = {face!r}: there is no wall; choose one of {', '.join(walls) or 'another run'}")
    if sides[face].roughness:
        raise BadInput(f"face = {face!r}: a rough wall has the stress of the logarithmic law, which is not found here")
    if not reaches(ds, face):
        raise BadInput(f"face = {face!r}: the dataset does not reach this wall; give one that has the cells beside it")
    return sides[face]


def _at_wall(ds: xr.Dataset, face: str, field: xr.DataArray) -> tuple[xr.DataArray, float]:
    """Return the values in the cells at a wall, and the distance of their centres from it."""
    place = _cells_at(face)
    return field.isel(place, drop=True), float(widths(ds, face[0]).isel(place)) / 2


def _in_fluid(ds: xr.Dataset, face: str, values: xr.DataArray) -> xr.DataArray:
    """Return values of the cells at a wall, NaN in those that a body takes."""
    return values.where(ds[SOLID].isel(_cells_at(face), drop=True) == 0) if SOLID in ds else values


def _cells_at(face: str) -> dict[str, int]:
    return {f"{face[0]}_c": 0 if face.endswith("min") else -1}
