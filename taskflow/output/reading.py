"""A run's snapshots as xarray sees them, finished or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from taskflow.errors import BadInput


def dataset(path: str | Path, group: str = "") -> xr.Dataset:
    """The complete records in a group of a store, by default the snapshots, as lazy arrays.

    Raises BadInput where there is none.
    """
    try:
        ds = xr.open_dataset(path, engine="zarr", consolidated=True, group=group)
    except (FileNotFoundError, KeyError, ValueError) as error:
        raise BadInput(
            f"{path}: no {group or 'snapshots'} to read; give the folder that `taskflow run` wrote"
            f"{f', of a case with {group}' if group else ''}"
        ) from error
    return ds.isel(time=slice(int(np.isfinite(ds["time"].values).sum())))
