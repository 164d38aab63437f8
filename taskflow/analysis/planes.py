"""Cuts through a snapshot: staggered fields interpolated to the cell centres of a plane, or to a line in it.

Also planes as numbers for a screen, at most one per pixel.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from taskflow.analysis.conditions import boundary_value, known_conditions
from taskflow.common.errors import BadInput
from taskflow.output.store.metadata import SOLID
from taskflow.output.store.reading import box_snapshots, extent, in_centres, periodic

VELOCITY = {"x": "u", "y": "v", "z": "w"}  # names of the velocity in every system of equations
SPEED = "speed"
MOST = 400  # values along a side


@dataclass(frozen=True)
class CutPlane:
    """Plane at `position` along the axis `normal`. A picture shows the two other axes, `across` and `up`."""

    normal: str
    position: float

    @property
    def across(self) -> str:
        """Axis to the right: the first of the other two."""
        return "xyz".replace(self.normal, "")[0]

    @property
    def up(self) -> str:
        """Axis upwards."""
        return "xyz".replace(self.normal, "")[1]

    def __str__(self) -> str:
        return f"{self.normal} = {self.position:.4g}"


def plane_of(ds: xr.Dataset, text: str | None) -> CutPlane:
    """Return the plane named "y" (the centre) or "y=0.3", by default across the direction of fewest cells.

    Of several such directions it is the shortest. Raises BadInput if the text is neither, or outside the domain.
    """
    if text is None:
        thickness = {a: (ds.sizes[f"{a}_c"], extent(ds, a)[1] - extent(ds, a)[0]) for a in "yzx"}
        text = min(thickness, key=lambda axis: thickness[axis])
    return plane_between(text, lambda axis: extent(ds, axis))


def plane_between(text: str, extents: Callable[[str], tuple[float, float]]) -> CutPlane:
    """Return the plane named by a text, in a domain of these extents. Raises BadInput as `plane_of` does."""
    match = re.fullmatch(r"\s*([xyz])\s*(?:=\s*(\S+)\s*)?", text)
    if match is None:
        raise BadInput(f"plane = {text!r}: not a plane; write x, y or z, or a position such as y=0.3")
    low, high = extents(match[1])
    try:
        position = (low + high) / 2 if match[2] is None else float(match[2])
    except ValueError:
        raise BadInput(f"plane = {text!r}: {match[2]!r} is not a number; write, say, {match[1]}={low:g}") from None
    if not low <= position <= high:
        raise BadInput(f"plane = {text!r}: outside the domain, where {match[1]} goes from {low:g} to {high:g}")
    return CutPlane(match[1], position)


def interpolate(ds: xr.Dataset, field: xr.DataArray, axis: str, position: float) -> xr.DataArray:
    """Return the field at a position along an axis, linear between its two neighbouring points, which alone are read.

    Periodic directions wrap around. In the half cell at a boundary it is linear up to a known wall value. Otherwise
    advected fields and p are extrapolated linearly from the two nearest points, and other fields keep the last value.
    """
    dim = next(d for d in map(str, field.dims) if d[0] == axis)
    places, numbers = ds[dim].values, np.arange(field.sizes[dim])
    if not periodic(ds, axis) and not places[0] <= position <= places[-1]:
        return _at_boundary(ds, field, axis, position)
    if periodic(ds, axis):
        low, high = extent(ds, axis)
        places = np.concatenate([places[-1:] - (high - low), places, places[:1] + (high - low)])
        numbers = np.concatenate([numbers[-1:], numbers, numbers[:1]])
    if len(places) == 1:
        return field.isel({dim: 0}, drop=True)
    below = int(np.clip(np.searchsorted(places, position, "right") - 1, 0, len(places) - 2))
    weight = float(np.clip((position - places[below]) / (places[below + 1] - places[below]), 0.0, 1.0))
    left, right = (field.isel({dim: numbers[n]}, drop=True) for n in (below, below + 1))
    return left if weight == 0.0 else (1.0 - weight) * left + weight * right


def _at_boundary(ds: xr.Dataset, field: xr.DataArray, axis: str, position: float) -> xr.DataArray:
    """Return a centred field at a position between a boundary and the nearest centre."""
    dim = f"{axis}_c"
    places, high = ds[dim].values, bool(position > ds[dim].values[-1])
    near, next_ = (-1, -2) if high else (0, 1)
    last, name = field.isel({dim: near}, drop=True), str(field.name)
    on_wall = boundary_value(ds, name, f"{axis}_{'max' if high else 'min'}")
    if isinstance(on_wall, float):
        share = (position - places[near]) / (extent(ds, axis)[high] - places[near])
        return (1.0 - share) * last + share * on_wall
    known = known_conditions(ds)
    linear = {*VELOCITY.values(), "p", "T", "phi", *(known.diffusivities if known else ())}
    if on_wall == "no gradient" or name not in linear or len(places) < 2:
        return last
    share = (position - places[near]) / (places[next_] - places[near])
    return (1.0 - share) * last + share * field.isel({dim: next_}, drop=True)


def on_cells(ds: xr.Dataset) -> list[str]:
    """Return the names of the fields with a value in each cell, or on its faces."""
    return [str(name) for name, field in ds.data_vars.items() if {"x", "y", "z"} <= {str(dim)[0] for dim in field.dims}]


def on_plane(ds: xr.Dataset, field: str, plane: CutPlane) -> np.ndarray:
    """Return the field's values [up, across] at the cell centres of the plane."""
    cut = interpolate(ds, ds[field], plane.normal, plane.position)
    return in_centres(ds, np.asarray(cut.values, dtype="f8"), cut.dims)


def choices(directory: str | Path) -> dict[str, Any]:
    """Return the choices for views of a run: names of `fields`, `times` of snapshots, and the default axis to cut
    across.
    """
    ds = box_snapshots(directory)
    return {"fields": shown_fields(ds), "times": ds["time"].values.tolist(), "plane": plane_of(ds, None).normal}


def plane_values(directory: str | Path, field: str, plane: str, snapshot: int) -> dict[str, Any]:
    """Return the values of a field or the `speed` on a plane ("y", or "y=0.3") of a snapshot.

    Snapshots are counted from 0, or below 0 from the last. Values are in base64: single precision, little-endian, row
    by row upwards, NaN in bodies. Raises BadInput if a requested item does not exist.
    """
    ds = box_snapshots(directory)
    count = ds.sizes["time"]
    if not -count <= snapshot < count:
        raise BadInput(f"snapshot {snapshot}: the run has {count}")
    if field not in shown_fields(ds):
        raise BadInput(f"field = {field!r}: unknown field; choose one of {', '.join(shown_fields(ds))}")
    ds = ds.isel(time=snapshot)
    cut = plane_of(ds, plane)
    columns, rows = (_even(ds[f"{axis}_c"].values, *extent(ds, axis)) for axis in (cut.across, cut.up))
    values = fluid_on_plane(ds, field, cut)[np.ix_(rows, columns)]
    return {
        "field": field,
        "plane": str(cut),
        "axes": [cut.across, cut.up],
        "extents": [extent(ds, cut.across), extent(ds, cut.up)],
        "time": float(ds["time"]),
        "shape": values.shape,
        "values": b64encode(values.astype("<f4").tobytes()).decode("ascii"),
    }


def _even(centres: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the cells that contain evenly spaced points, enough to show the smallest cell, at most MOST."""
    narrowest = np.diff(centres).min() if len(centres) > 1 else high - low
    count = min(MOST, max(len(centres), ceil((high - low) / narrowest * (1 - 1e-9))))
    points = low + (np.arange(count) + 0.5) * (high - low) / count
    return np.searchsorted((centres[1:] + centres[:-1]) / 2, points)


def shown_fields(ds: xr.Dataset) -> list[str]:
    """Return the names of the fields that can be shown, with the speed first if velocities exist."""
    names = [str(name) for name, array in ds.data_vars.items() if "time" in array.dims and name != SOLID]
    return [SPEED, *names] if set(VELOCITY.values()) <= set(names) else names


def fluid_on_plane(ds: xr.Dataset, field: str, plane: CutPlane) -> np.ndarray:
    """Return values [up, across] of a field or the speed on a plane of a snapshot, NaN in bodies."""
    if field == SPEED:
        values = np.sqrt(sum(on_plane(ds, name, plane) ** 2 for name in VELOCITY.values()))
    else:
        values = on_plane(ds, field, plane)
    return np.where(on_plane(ds, SOLID, plane) >= 0.5, np.nan, values) if SOLID in ds else values
