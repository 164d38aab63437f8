"""Fields on a plane of a snapshot, recorded or derived, also as numbers for a screen, at most one per pixel."""

from __future__ import annotations

from base64 import b64encode
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from taskflow.analysis.derived import DERIVED, field, known_fields
from taskflow.analysis.planes import VELOCITY, CutPlane, interpolate, on_plane, plane_of
from taskflow.common.derived_names import SPEED
from taskflow.common.errors import BadInput
from taskflow.output.store.metadata import SOLID
from taskflow.output.store.reading import box_snapshots, extent, in_centres

MOST = 400  # values along a side


def shown_on_plane(ds: xr.Dataset, name: str, plane: CutPlane) -> np.ndarray:
    """Return values [up, across] on a plane of a recorded field, or of a derived one, which is NaN in bodies."""
    if name == SPEED and name not in ds:
        return np.asarray(np.sqrt(sum(on_plane(ds, component, plane) ** 2 for component in VELOCITY.values())))
    if name not in DERIVED or name in ds:
        return on_plane(ds, name, plane)
    cut = interpolate(ds, field(ds, name), plane.normal, plane.position)
    return in_centres(ds, np.asarray(cut.values, dtype="f8"), cut.dims)


def solid_on_plane(ds: xr.Dataset, plane: CutPlane) -> np.ndarray:
    """Return a mask [up, across] of solid cells."""
    shape = (ds.sizes[f"{plane.up}_c"], ds.sizes[f"{plane.across}_c"])
    return on_plane(ds, SOLID, plane) >= 0.5 if SOLID in ds else np.zeros(shape, dtype=bool)


def in_fluid(ds: xr.Dataset, plane: CutPlane, values: np.ndarray) -> np.ndarray:
    """Return values [up, across] of a plane, NaN in bodies."""
    return np.where(solid_on_plane(ds, plane), np.nan, values) if SOLID in ds else values


def continued(values: np.ndarray) -> np.ndarray:
    """Return values [up, across] with the nearest one instead of NaN, such as in bodies."""
    unknown = ~np.isfinite(values)
    if not unknown.any() or unknown.all():
        return values
    from scipy.ndimage import distance_transform_edt

    nearest = distance_transform_edt(unknown, return_distances=False, return_indices=True)
    return np.asarray(values[tuple(nearest)])


def choices(directory: str | Path) -> dict[str, Any]:
    """Return the choices for views of a run: `fields`, `times` of snapshots, and the default axis of a plane."""
    ds = box_snapshots(directory)
    return {"fields": known_fields(ds), "times": ds["time"].values.tolist(), "plane": plane_of(ds, None).normal}


def plane_values(directory: str | Path, field: str, plane: str, snapshot: int) -> dict[str, Any]:
    """Return the values of a field, recorded or derived, on a plane ("y", or "y=0.3") of a snapshot.

    Snapshots are counted from 0, or below 0 from the last. Values are in base64: single precision, little-endian, row
    by row upwards, NaN in bodies. Raises BadInput if a requested item does not exist.
    """
    ds = box_snapshots(directory)
    count = ds.sizes["time"]
    if not -count <= snapshot < count:
        raise BadInput(f"snapshot {snapshot}: the run has {count}")
    if field not in known_fields(ds):
        raise BadInput(f"field = {field!r}: unknown field; choose one of {', '.join(known_fields(ds))}")
    ds = ds.isel(time=snapshot)
    cut = plane_of(ds, plane)
    columns, rows = (_even(ds[f"{axis}_c"].values, *extent(ds, axis)) for axis in (cut.across, cut.up))
    values = in_fluid(ds, cut, shown_on_plane(ds, field, cut))[np.ix_(rows, columns)]
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
