"""A plane of a snapshot as numbers for a screen: no more of them than it has points."""

from __future__ import annotations

from base64 import b64encode
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.files import STORE
from taskflow.output.planes import Plane, extent, on_plane, plane_of
from taskflow.output.reading import dataset
from taskflow.output.solid import SOLID

SPEED = "speed"
VELOCITIES = ("u", "v", "w")
MOST = 400  # values along a side


def shown(directory: str | Path) -> dict[str, Any]:
    """What of a run can be shown: names of `fields`, `times` of snapshots, and across which axis a `plane` is best."""
    ds = dataset(Path(directory) / STORE)
    return {"fields": fields(ds), "times": ds["time"].values.tolist(), "plane": plane_of(ds, None).normal}


def plane_values(directory: str | Path, field: str, plane: str, snapshot: int) -> dict[str, Any]:
    """The values of a field, or of the `speed`, on a plane ("y", or "y=0.3") of a snapshot, counted from 0 or, below 0,
    from the last: single precision, little-endian, row by row upwards, in base64; NaN where a body is.

    Raises BadInput where something asked for is not there.
    """
    ds = dataset(Path(directory) / STORE)
    count = ds.sizes["time"]
    if not -count <= snapshot < count:
        raise BadInput(f"snapshot {snapshot}: the run has {count}")
    if field not in fields(ds):
        raise BadInput(f"field = {field!r}: the run has no such field; choose one of {', '.join(fields(ds))}")
    ds = ds.isel(time=snapshot)
    where = plane_of(ds, plane)
    columns, rows = (_even(ds[f"{axis}_c"].values, *extent(ds, axis)) for axis in (where.across, where.up))
    values = values_on(ds, field, where)[np.ix_(rows, columns)]
    return {
        "field": field,
        "plane": str(where),
        "axes": [where.across, where.up],
        "extents": [extent(ds, where.across), extent(ds, where.up)],
        "time": float(ds["time"]),
        "shape": values.shape,
        "values": b64encode(values.astype("<f4").tobytes()).decode("ascii"),
    }


def _even(centres: np.ndarray, low: float, high: float) -> np.ndarray:
    """The cells in which evenly spaced points lie, as many as show the smallest cell, MOST at most."""
    narrowest = np.diff(centres).min() if len(centres) > 1 else high - low
    count = min(MOST, max(len(centres), ceil((high - low) / narrowest * (1 - 1e-9))))
    points = low + (np.arange(count) + 0.5) * (high - low) / count
    return np.searchsorted((centres[1:] + centres[:-1]) / 2, points)


def fields(ds: xr.Dataset) -> list[str]:
    """Names of what can be shown."""
    names = [str(name) for name, array in ds.data_vars.items() if "time" in array.dims]
    return [SPEED, *names] if set(VELOCITIES) <= set(names) else names


def values_on(ds: xr.Dataset, field: str, where: Plane) -> np.ndarray:
    """Values [up, across] of a field, or of the speed, on a plane of a snapshot; NaN where a body is."""
    if field == SPEED:
        values = np.sqrt(sum(on_plane(ds, name, where) ** 2 for name in VELOCITIES))
    else:
        values = on_plane(ds, field, where)
    return np.where(on_plane(ds, SOLID, where) >= 0.5, np.nan, values) if SOLID in ds else values
