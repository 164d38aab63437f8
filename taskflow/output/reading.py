"""A run's snapshots as xarray sees them, finished or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from taskflow.errors import BadInput


def dataset(path: str | Path) -> xr.Dataset:
    """The complete snapshots in a store, as lazy arrays. Raises BadInput where there is no store."""
    try:
        ds = xr.open_dataset(path, engine="zarr", consolidated=True)
    except (FileNotFoundError, ValueError) as error:
        raise BadInput(f"{path}: no snapshots to read; give the folder that `taskflow run` wrote") from error
    return ds.isel(time=slice(int(np.isfinite(ds["time"].values).sum())))
