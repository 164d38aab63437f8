"""Shear and heat flux at a wall, cell by cell, with the differences of the equations themselves."""

from __future__ import annotations

import xarray as xr

from taskflow.analysis.conditions import conditions
from taskflow.analysis.derived import centred, field_of
from taskflow.analysis.planes import VELOCITY
from taskflow.errors import BadInput
from taskflow.output.conditions import Side
from taskflow.output.metadata import SOLID
from taskflow.output.reading import widths


def wall_shear(ds: xr.Dataset, face: str) -> xr.Dataset:
    """The stress, over density, that the fluid puts on a wall: viscosity (u - u_wall) / (spacing / 2), for the two
    velocities along it; in the middle of each cell at the wall, NaN where that is in a body.
    """
    wall, viscosity = _wall(ds, face), conditions(ds).viscosity
    shear = {}
    for (axis, name), at_wall in zip(VELOCITY.items(), wall.velocity or (0.0, 0.0, 0.0), strict=True):
        if axis != face[0]:
            inside, distance = _beside(ds, face, centred(ds, field_of(ds, name)))
            stress = _in_fluid(ds, face, viscosity * (inside - at_wall) / distance)
            about = {"long_name": f"shear stress along {axis} on {face}, over density", "units": "1"}
            shear[f"shear_{axis}"] = stress.assign_attrs(about)
    return xr.Dataset(shear, attrs=ds.attrs)


def nusselt(ds: xr.Dataset, face: str) -> xr.DataArray:
    """The heat flux into the fluid through each cell's part of a wall, over that of pure conduction across the domain
    between the hottest and the coldest wall; NaN where the cell is in a body. Its mean, weighted by area, is the number
    in the log, where there are no bodies at the wall.
    """
    temperature, sides = _wall(ds, face).temperature, conditions(ds).sides.values()
    temperatures = [side.temperature for side in sides if side.temperature is not None]
    if temperature is None or max(temperatures) == min(temperatures):
        raise BadInput(f"face = {face!r}: a Nusselt number needs a wall with a temperature, and another temperature")
    inside, distance = _beside(ds, face, field_of(ds, "T"))
    length = float(widths(ds, face[0]).sum())
    number = _in_fluid(ds, face, (temperature - inside) / distance * length / (max(temperatures) - min(temperatures)))
    return number.rename("nusselt").assign_attrs(long_name=f"Nusselt number on {face}", units="1")


def _wall(ds: xr.Dataset, face: str) -> Side:
    """A smooth wall. Raises BadInput where the face is none."""
    sides = conditions(ds).sides
    walls = [name for name, side in sides.items() if side.type == "wall"]
    if face not in walls:
        raise BadInput(f"face = {face!r}: there is no wall; choose one of {', '.join(walls) or 'another run'}")
    if sides[face].roughness:
        raise BadInput(f"face = {face!r}: a rough wall has the stress of the logarithmic law, which is not found here")
    return sides[face]


def _beside(ds: xr.Dataset, face: str, field: xr.DataArray) -> tuple[xr.DataArray, float]:
    """The values in the cells at a wall, and the distance of their centres from it."""
    place = _cells_at(face)
    return field.isel(place, drop=True), float(widths(ds, face[0]).isel(place)) / 2


def _in_fluid(ds: xr.Dataset, face: str, values: xr.DataArray) -> xr.DataArray:
    """Values of the cells at a wall, NaN in those that a body takes."""
    return values.where(ds[SOLID].isel(_cells_at(face), drop=True) == 0) if SOLID in ds else values


def _cells_at(face: str) -> dict[str, int]:
    return {f"{face[0]}_c": 0 if face.endswith("min") else -1}
