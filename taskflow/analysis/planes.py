"""Cuts through a snapshot: staggered fields interpolated to the cell centres of a plane, or to a line in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import xarray as xr

from taskflow.analysis.conditions import boundary_values, known_conditions, on_parts
from taskflow.common.errors import BadInput
from taskflow.output.store.reading import extent, in_centres, periodic

VELOCITY = {"x": "u", "y": "v", "z": "w"}  # names of the velocity in every system of equations


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
    match = re.fullmatch(r"\s*([xyz])\s*(?:=\s*(\S+)\s*)?", text) if isinstance(text, str) else None
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
    known = known_conditions(ds)
    linear = {*VELOCITY.values(), "p", "T", "phi", *(known.diffusivities if known else ())}

    def up_to(value: float | str | None) -> xr.DataArray:
        if isinstance(value, float):
            share = (position - places[near]) / (extent(ds, axis)[high] - places[near])
            return (1.0 - share) * last + share * value
        if value == "no gradient" or name not in linear or len(places) < 2:
            return last
        share = (position - places[near]) / (places[next_] - places[near])
        return (1.0 - share) * last + share * field.isel({dim: next_}, drop=True)

    return on_parts(boundary_values(ds, name, f"{axis}_{'max' if high else 'min'}", map(str, last.dims)), up_to)


def on_cells(ds: xr.Dataset) -> list[str]:
    """Return the names of the fields with a value in each cell, or on its faces."""
    return [str(name) for name, field in ds.data_vars.items() if {"x", "y", "z"} <= {str(dim)[0] for dim in field.dims}]


def on_plane(ds: xr.Dataset, field: str, plane: CutPlane) -> np.ndarray:
    """Return the field's values [up, across] at the cell centres of the plane."""
    cut = interpolate(ds, ds[field], plane.normal, plane.position)
    return in_centres(ds, np.asarray(cut.values, dtype="f8"), cut.dims)
