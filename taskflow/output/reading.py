"""A run's snapshots as xarray sees them, finished or not; and what is stored beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.solid import SOLID


def dataset(path: str | Path, group: str = "") -> xr.Dataset:
    """The complete records in a group of a store, by default the snapshots, as lazy arrays; with `solid`, which is
    stored once, where they are of all cells.

    Raises BadInput where there is none.
    """
    try:
        ds = xr.open_dataset(path, engine="zarr", consolidated=True, group=group)
    except (FileNotFoundError, KeyError, ValueError) as error:
        raise BadInput(
            f"{path}: no {group or 'snapshots'} to read; give the folder that `taskflow run` wrote"
            f"{f', of a case with {group}' if group else ''}"
        ) from error
    found = ds.isel(time=slice(int(np.isfinite(ds["time"].values).sum())))
    return _with_bodies(found, path) if group else found


def _with_bodies(ds: xr.Dataset, path: str | Path) -> xr.Dataset:
    """A group with the cells that bodies take, where it has all cells and there are some."""
    whole = xr.open_dataset(path, engine="zarr", consolidated=True)
    if SOLID in whole and all(ds.sizes.get(dim) == size for dim, size in whole[SOLID].sizes.items()):
        return ds.assign({SOLID: whole[SOLID]})
    return ds
