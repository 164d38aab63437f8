"""Boundary conditions and fluid properties of a dataset, from its attributes or, in older stores, from its case text.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeVar

import numpy as np
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.output.store.conditions import OPEN, SIDES, BoundarySide, Conditions, OpeningSide
from taskflow.output.store.reading import edges, extent, periodic, widths

V = TypeVar("V")
VELOCITY = ("u", "v", "w")
OFF = 1e-6  # of the smallest cell: largest offset of a centre from the middle of its faces, as other tools round


def conditions(ds: xr.Dataset) -> Conditions:
    """Return the conditions of a dataset. Raises BadInput if it has none."""
    known = known_conditions(ds)
    if known is None:
        raise BadInput("the dataset has no attributes boundary_x_min, ..., and no case; give the snapshots of a run")
    return known


def known_conditions(ds: xr.Dataset) -> Conditions | None:
    """Return the conditions of a dataset, or None if it has neither attributes nor a case."""
    return Conditions.of(ds.attrs) or conditions_of_case(str(ds.attrs.get("case", "")))


def part_of(ds: xr.Dataset, axis: str) -> int:
    """Return the number of cells of the whole domain along an axis if the dataset has only some of them, else 0."""
    known = known_conditions(ds)
    count = known.cells["xyz".index(axis)] if known else 0
    return count if ds.sizes[f"{axis}_c"] < count else 0


def goes_round(ds: xr.Dataset, axis: str) -> bool:
    """Return True if a direction is periodic. Raises BadInput for a part without its last face, or other faces."""
    if not around(ds, axis):
        raise other_faces(ds, axis)
    if periodic(ds, axis) and ds.sizes[f"{axis}_c"] > 1 and (count := part_of(ds, axis)):
        raise BadInput(
            f"{axis}_c, {axis}_f: {ds.sizes[f'{axis}_c']} of {count} cells along a periodic direction, and as many"
            f" faces; select one face more than centres, as ds.isel({axis}_c=slice(2, 6), {axis}_f=slice(2, 7))"
        )
    return periodic(ds, axis)


def around(ds: xr.Dataset, axis: str) -> bool:
    """Return True if faces match the cells along an axis: each centre is midway between its two faces."""
    ends, centres = edges(ds, axis), ds[f"{axis}_c"].values
    off = (ends[1:] + ends[:-1]) / 2 - centres if len(ends) == len(centres) + 1 else np.inf
    return bool(np.abs(off).max() <= OFF * np.abs(np.diff(ends)).min())


def other_faces(ds: xr.Dataset, axis: str) -> BadInput:
    """Return the error for faces that do not match the cells along an axis."""
    centres, faces = ds.sizes[f"{axis}_c"], ds.sizes[f"{axis}_f"]
    return BadInput(
        f"{axis}_c, {axis}_f: {centres} centres and {faces} faces, which do not surround these cells; "
        f"select one face more than centres, as ds.isel({axis}_c=slice(2, 6), {axis}_f=slice(2, 7))"
    )


def domain(ds: xr.Dataset, axis: str) -> tuple[float, float]:
    """Return the ends of the whole domain along an axis, as far as its case is known."""
    grid, number = tomllib.loads(str(ds.attrs.get("case", ""))).get("grid", {}), "xyz".index(axis)
    if not part_of(ds, axis) or "lengths" not in grid:
        return extent(ds, axis)
    low = float(grid.get("origin", (0.0, 0.0, 0.0))[number])
    return low, low + float(grid["lengths"][number])


def reaches(ds: xr.Dataset, face: str) -> bool:
    """Return True if a dataset has the cells adjacent to a face of the domain."""
    axis, high = face[0], face.endswith("max")
    return abs(extent(ds, axis)[high] - domain(ds, axis)[high]) < 0.5 * float(widths(ds, axis).min())


def mask(ds: xr.Dataset, opening: OpeningSide, dims: Iterable[str] = ()) -> xr.DataArray:
    """Return whether values along its side are at an opening: of cells, or of the faces among `dims`, which belong to
    it if both cells next to them do.
    """
    first, second = (f"{axis}_c" for axis in "xyz" if axis != opening.side[0])
    taken = xr.zeros_like(ds[first] * ds[second], dtype=bool)
    for a, b, c, d in opening.faces:
        taken = taken | ((a < ds[first]) & (ds[first] < b) & (c < ds[second]) & (ds[second] < d))
    for dim in {f"{first[0]}_f", f"{second[0]}_f"} & {*dims}:
        centre, last = f"{dim[0]}_c", ds.sizes[f"{dim[0]}_c"] - 1
        above = np.searchsorted(ds[centre].values, ds[dim].values)
        low, high = (taken.isel({centre: np.clip(n, 0, last)}).drop_vars(centre) for n in (above - 1, above))
        taken = (low & high).rename({centre: dim}).assign_coords({dim: ds[dim]})
    return taken


def on_parts(parts: Iterable[tuple[xr.DataArray | None, V]], values: Callable[[V], xr.DataArray]) -> xr.DataArray:
    """Return the values of a side from its number, and where masks of openings hold from the number of the opening."""
    result = xr.DataArray()
    for taken, number in parts:
        result = values(number) if taken is None else result.where(~taken, values(number))
    return result


def boundary_values(
    ds: xr.Dataset, name: str, face: str, dims: Iterable[str]
) -> list[tuple[xr.DataArray | None, float | Literal["no gradient"] | None]]:  # fmt: skip
    """Return the value of a field on a face of the domain, or "no gradient", or None if unknown, then the values on its
    openings with their masks of values along `dims`.
    """
    known = known_conditions(ds)
    if known is None or not reaches(ds, face):
        return [(None, None)]
    opened = ((mask(ds, opening, dims), _boundary_value(opening, name)) for opening in known.openings_in(face))
    return [(None, _boundary_value(known.sides[face], name)), *opened]


def _boundary_value(side: BoundarySide, name: str) -> float | Literal["no gradient"] | None:
    if side.type not in ("wall", "slip") or (name != "T" and name not in VELOCITY):
        return None
    if side.type == "slip":
        return "no gradient"
    if name != "T":
        value = side.velocity[VELOCITY.index(name)] if side.velocity else None
    elif side.temperature is None:
        return "no gradient" if side.heat_flux == 0 and not side.heat_transfer else None
    else:
        value = side.temperature
    return None if value is None or math.isnan(value) else float(value)


def conditions_of_case(text: str) -> Conditions | None:
    """Return the conditions of a case as it was run, or None if the text has no boundaries."""
    case = tomllib.loads(text)
    if "boundaries" not in case:
        return None
    heat = case.get("heat")
    nx, ny, nz = case.get("grid", {}).get("cells", (0, 0, 0))
    gx, gy, gz = case.get("body", {}).get("gravity", (0.0, 0.0, 0.0))
    scalars = ({} if heat is None else {"T": heat}) | {scalar["name"]: scalar for scalar in case.get("scalars", ())}
    return Conditions(
        sides={name: _side(case["boundaries"], name, heat=heat is not None) for name in SIDES},
        cells=(nx, ny, nz),
        viscosity=case.get("fluid", {}).get("viscosity", math.nan),
        diffusivities={name: table.get("diffusivity", math.nan) for name, table in scalars.items()},
        thermal_expansion=(heat or {}).get("expansion", 0.0),
        gravity=(gx, gy, gz),
    )


def _side(boundaries: Mapping[str, Any], name: str, *, heat: bool) -> BoundarySide:
    """Return a side from its table or its type, or from the entry of its axis for a periodic pair."""
    written = boundaries.get(name, boundaries.get(name[0], "unknown"))
    table = written if isinstance(written, Mapping) else {"type": written}
    if table["type"] != "wall":
        kind = "slip" if table["type"] == "symmetry" else table["type"]
        return BoundarySide(type=kind, permeable=kind in OPEN)
    x, y, z = table.get("velocity", (0.0, 0.0, 0.0))
    insulated = heat and not {"temperature", "heat_transfer"} & table.keys()
    return BoundarySide(
        type="wall",
        velocity=(float(x), float(y), float(z)),
        temperature=table.get("temperature"),
        heat_flux=table.get("heat_flux", 0.0) if insulated else None,
        heat_transfer=table.get("heat_transfer"),
        outside_temperature=table.get("outside_temperature"),
        roughness=table.get("roughness"),
    )
