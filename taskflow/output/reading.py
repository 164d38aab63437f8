"""A run's snapshots as xarray sees them, finished or not; and what is stored beside them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.checked import checked
from taskflow.output.damage import RESTORE, Damaged
from taskflow.output.solid import SOLID


def dataset(path: str | Path, group: str = "") -> xr.Dataset:
    """The complete records in a group of a store, by default the snapshots, as lazy arrays; with `solid`, which is
    stored once, where they are of all cells.

    Raises BadInput where there is none, or it is damaged; and so does reading values, whenever that happens.
    """
    whole = _opened(Path(path), group)
    found = whole.isel(time=slice(int(np.isfinite(whole["time"].values).sum())))
    return _with_bodies(found, Path(path)) if group else found


def _opened(path: Path, group: str) -> xr.Dataset:
    """All records of a group. Raises BadInput where it cannot be read."""
    try:
        found = xr.open_zarr(checked(path, group), group=group, consolidated=True, chunks=None)
        found["time"].values  # noqa: B018  where time is something else, nothing here is what a run has written
        return found
    except BadInput:
        raise
    except OSError as error:
        raise BadInput(
            f"{path}: no {group or 'snapshots'} to read; give the folder that `taskflow run` wrote"
            f"{f', of a case with {group}' if group else ''}"
        ) from error
    except Exception as error:  # whatever Zarr and xarray make of metadata that nobody wrote
        about = path / group / "zarr.json"
        raise Damaged(f"{about}: it is not as it was written ({type(error).__name__}: {error}); {RESTORE}") from None


def _with_bodies(ds: xr.Dataset, path: Path) -> xr.Dataset:
    """A group with the cells that bodies take, where it has all cells and there are some."""
    whole = _opened(path, "")
    if SOLID in whole and all(ds.sizes.get(dim) == size for dim, size in whole[SOLID].sizes.items()):
        return ds.assign({SOLID: whole[SOLID]})
    return ds
