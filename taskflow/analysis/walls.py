"""What happens at a wall, cell by cell: shear and heat flux, with the differences of the equations themselves."""

from __future__ import annotations

import tomllib
from typing import Any

import xarray as xr

from taskflow.analysis.derived import centred, field_of
from taskflow.errors import BadInput
from taskflow.output.layout import VELOCITY
from taskflow.output.metadata import SOLID
from taskflow.output.reading import widths

SIDES = ("x_min", "x_max", "y_min", "y_max", "z_min", "z_max")


def wall_shear(ds: xr.Dataset, face: str) -> xr.Dataset:
    """The stress, over density, that the fluid puts on a wall: viscosity (u - u_wall) / (spacing / 2), for the two
    velocities along it; in the middle of each cell at the wall, NaN where that is in a body.
    """
    side, viscosity = _wall(ds, face), case_of(ds)["fluid"]["viscosity"]
    found = {}
    for axis, name in VELOCITY.items():
        if axis != face[0]:
            inside, distance = _beside(ds, face, centred(ds, field_of(ds, name)))
            wall = side.get("velocity", (0.0, 0.0, 0.0))["xyz".index(axis)]
            stress = _open(ds, face, viscosity * (inside - float(wall)) / distance)
            about = {"long_name": f"shear stress along {axis} on {face}, over density", "units": "1"}
            found[f"shear_{axis}"] = stress.assign_attrs(about)
    return xr.Dataset(found, attrs=ds.attrs)


def nusselt(ds: xr.Dataset, face: str) -> xr.DataArray:
    """The heat flux into the fluid through each cell's part of a wall, over that of pure conduction across the domain
    between the hottest and the coldest wall; NaN where the cell is in a body. Its mean, weighted by area, is the number
    in the log, where there are no bodies at the wall.
    """
    sides = [each for name in SIDES if isinstance(each := case_of(ds)["boundaries"].get(name), dict)]
    walls = [side["temperature"] for side in sides if side["type"] == "wall" and "temperature" in side]
    temperature = _wall(ds, face).get("temperature")
    if not isinstance(temperature, float | int) or max(walls) == min(walls):
        raise BadInput(f"face = {face!r}: a Nusselt number needs a wall with a temperature, and another temperature")
    inside, distance = _beside(ds, face, field_of(ds, "T"))
    length = float(widths(ds, face[0]).sum())
    number = _open(ds, face, (temperature - inside) / distance * length / (max(walls) - min(walls)))
    return number.rename("nusselt").assign_attrs(long_name=f"Nusselt number on {face}", units="1")


def case_of(ds: xr.Dataset) -> dict[str, Any]:
    """The case of the run. Raises BadInput where the dataset does not have it."""
    if "case" not in ds.attrs:
        raise BadInput("the dataset has no attribute case; give the snapshots of a run")
    return tomllib.loads(ds.attrs["case"])


def _wall(ds: xr.Dataset, face: str) -> dict[str, Any]:
    """The table of a smooth wall. Raises BadInput where the face is none."""
    side = case_of(ds)["boundaries"].get(face) if face in SIDES else None
    table: dict[str, Any] = side if isinstance(side, dict) else {"type": side}
    walls = [name for name in SIDES if (each := case_of(ds)["boundaries"].get(name)) and "wall" in (each, *_kind(each))]
    if table["type"] != "wall":
        raise BadInput(f"face = {face!r}: there is no wall; choose one of {', '.join(walls) or 'another run'}")
    if table.get("roughness"):
        raise BadInput(f"face = {face!r}: a rough wall has the stress of the logarithmic law, which is not found here")
    return table


def _kind(side: Any) -> tuple[Any, ...]:
    return (side.get("type"),) if isinstance(side, dict) else ()


def _beside(ds: xr.Dataset, face: str, field: xr.DataArray) -> tuple[xr.DataArray, float]:
    """The values in the cells at a wall, and how far their centres are from it."""
    place = _cells_at(face)
    return field.isel(place, drop=True), float(widths(ds, face[0]).isel(place)) / 2


def _open(ds: xr.Dataset, face: str, found: xr.DataArray) -> xr.DataArray:
    """What was found in the cells at a wall that no body takes."""
    return found.where(ds[SOLID].isel(_cells_at(face), drop=True) == 0) if SOLID in ds else found


def _cells_at(face: str) -> dict[str, int]:
    return {f"{face[0]}_c": 0 if face.endswith("min") else -1}
