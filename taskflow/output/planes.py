"""Cuts through a snapshot: staggered fields brought to the cell centres of a plane, or to a line in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.files import STORE
from taskflow.output.reading import dataset

SHOWN = 8  # times listed in a message


@dataclass(frozen=True)
class Plane:
    """The plane at `position` along the axis `normal`; a picture shows the two other axes, `across` and `up`."""

    normal: str
    position: float

    @property
    def across(self) -> str:
        """The axis to the right: the first of x, y, z that is left."""
        return "xyz".replace(self.normal, "")[0]

    @property
    def up(self) -> str:
        """The axis upwards."""
        return "xyz".replace(self.normal, "")[1]

    def __str__(self) -> str:
        return f"{self.normal} = {self.position:.4g}"


def snapshot(directory: str | Path, time: float | None) -> xr.Dataset:
    """The snapshot of a run at a time, or its last one. Raises BadInput where there is no run or no such snapshot."""
    ds = dataset(Path(directory) / STORE)
    times = ds["time"].values
    if not len(times):
        raise BadInput(f"{directory}: no snapshot is complete yet; wait for the first one")
    return ds.isel(time=-1) if time is None else at_time(ds, time).isel(time=0)


def at_time(ds: xr.Dataset, time: float) -> xr.Dataset:
    """The one record of a time. Raises BadInput where there is none."""
    times = ds["time"].values
    nearest = int(np.abs(times - time).argmin()) if len(times) else 0
    if not len(times) or abs(times[nearest] - time) > 1e-6 * max(1.0, abs(time)):
        shown = [f"{t:g}" for t in times]
        if len(shown) > SHOWN:
            shown[SHOWN // 2 : -SHOWN // 2] = ["..."]
        raise BadInput(f"time = {time:g}: no snapshot was written then; choose one of {', '.join(shown) or 'none'}")
    return ds.isel(time=[nearest])


def edges(ds: xr.Dataset, axis: str) -> np.ndarray:
    """Where cells begin, and the last one ends, along an axis."""
    faces, centres = ds[f"{axis}_f"].values, ds[f"{axis}_c"].values
    return faces if len(faces) > len(centres) else np.append(faces, 2 * centres[-1] - faces[-1])


def uniform(ds: xr.Dataset, axis: str) -> bool:
    """Whether all cells along an axis have one size."""
    widths = np.diff(edges(ds, axis))
    return bool(np.ptp(widths) <= 1e-9 * widths.max())


def extent(ds: xr.Dataset, axis: str) -> tuple[float, float]:
    """Where the domain begins and ends along an axis."""
    ends = edges(ds, axis)
    return float(ends[0]), float(ends[-1])


def plane_of(ds: xr.Dataset, text: str | None) -> Plane:
    """The plane that "y" (the middle) or "y=0.3" names; by default across the direction of fewest cells, then shortest.

    Raises BadInput where the text is neither, or the position lies outside the domain.
    """
    if text is None:
        thickness = {a: (ds.sizes[f"{a}_c"], extent(ds, a)[1] - extent(ds, a)[0]) for a in "yzx"}
        text = min(thickness, key=lambda axis: thickness[axis])
    match = re.fullmatch(r"\s*([xyz])\s*(?:=\s*(\S+)\s*)?", text)
    if match is None:
        raise BadInput(f"plane = {text!r}: not a plane; write x, y or z, or a position such as y=0.3")
    low, high = extent(ds, match[1])
    try:
        position = (low + high) / 2 if match[2] is None else float(match[2])
    except ValueError:
        raise BadInput(f"plane = {text!r}: {match[2]!r} is not a number; write, say, {match[1]}={low:g}") from None
    if not low <= position <= high:
        raise BadInput(f"plane = {text!r}: outside the domain, where {match[1]} goes from {low:g} to {high:g}")
    return Plane(match[1], position)


def interpolate(ds: xr.Dataset, field: xr.DataArray, axis: str, position: float) -> xr.DataArray:
    """The field at a position along an axis, linear between its two neighbouring points, which alone are read.

    Half a cell from a wall a field in centres keeps its last value; across a periodic face it goes round.
    """
    dim = next(d for d in map(str, field.dims) if d[0] == axis)
    places, numbers = ds[dim].values, np.arange(field.sizes[dim])
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


def periodic(ds: xr.Dataset, axis: str) -> bool:
    """Whether the direction closes on itself: then there is no last face."""
    return bool(ds.sizes[f"{axis}_f"] == ds.sizes[f"{axis}_c"])


def on_cells(ds: xr.Dataset) -> list[str]:
    """Names of what has a value in, or beside, each cell."""
    return [str(name) for name, each in ds.data_vars.items() if {"x", "y", "z"} <= {str(dim)[0] for dim in each.dims}]


def on_plane(ds: xr.Dataset, field: str, plane: Plane) -> np.ndarray:
    """The field's values [up, across] at the cell centres of the plane."""
    cut = interpolate(ds, ds[field], plane.normal, plane.position)
    values = np.asarray(cut.values, dtype="f8")
    for number, dim in enumerate(map(str, cut.dims)):
        if dim.endswith("_f"):
            right = np.roll(values, -1, axis=number)
            values = (values + right) / 2
            if not periodic(ds, dim[0]):
                values = np.delete(values, -1, axis=number)
    return values
