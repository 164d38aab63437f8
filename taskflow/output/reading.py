"""The store as xarray reads it, of a run that is finished or not; and the cells of such a dataset."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from pathlib import Path

import numpy as np
import xarray as xr

from taskflow.errors import BadInput
from taskflow.output.damage import RESTORE, Damaged
from taskflow.output.groups import checked
from taskflow.output.metadata import SOLID
from taskflow.output.names import STORE

LISTED = 8  # times in a message


def dataset(path: str | Path, group: str = "") -> xr.Dataset:
    """Return the complete records in a group of a store, by default the snapshots, as lazy arrays; with `solid`, which
    is stored once, where they are of all cells.

    Raises BadInput where there is none, or it is damaged; and so does reading values, whenever that happens.
    """
    slots = _opened(Path(path), group)
    ds = slots.isel(time=slice(int(np.isfinite(slots["time"].values).sum())))
    return _with_bodies(ds, Path(path)) if group else ds


def _opened(path: Path, group: str) -> xr.Dataset:
    """Return all records of a group. Raises BadInput where it cannot be read."""
    try:
        ds = xr.open_zarr(checked(path, group), group=group, consolidated=True, chunks=None)
        ds["time"].values  # noqa: B018  where time is something else, nothing here is what a run has written
        return ds
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
    """Return a group with the cells that bodies take, where it has all cells and there are some."""
    whole = _opened(path, "")
    if SOLID not in whole or "time" in whole[SOLID].dims:
        return ds
    sizes = whole[SOLID].sizes.items()
    return ds.assign({SOLID: whole[SOLID]}) if all(ds.sizes.get(dim) == size for dim, size in sizes) else ds


def snapshot(directory: str | Path, time: float | None) -> xr.Dataset:
    """Return the snapshot of a run at a time, or its last one. Raises BadInput where there is none."""
    ds = dataset(Path(directory) / STORE)
    of_a_box(ds, directory)
    times = ds["time"].values
    if not len(times):
        raise BadInput(f"{directory}: no snapshot is complete yet; wait for the first one")
    return ds.isel(time=-1) if time is None else at_time(ds, time).isel(time=0)


def of_a_box(ds: xr.Dataset, directory: str | Path) -> None:
    """Raises BadInput where a dataset of snapshots is that of a run on charts, which has its fields in groups."""
    if "x_c" not in ds:
        raise BadInput(f"{directory}: the run is on charts, of which this is not available; taskflow plot draws them")


def at_time(ds: xr.Dataset, time: float) -> xr.Dataset:
    """Return the one record of a time. Raises BadInput where there is none."""
    times = ds["time"].values
    nearest = int(np.abs(times - time).argmin()) if len(times) else 0
    if not len(times) or abs(times[nearest] - time) > 1e-6 * max(1.0, abs(time)):
        listed = [f"{t:g}" for t in times]
        if len(listed) > LISTED:
            listed[LISTED // 2 : -LISTED // 2] = ["..."]
        raise BadInput(f"time = {time:g}: no snapshot was written then; choose one of {', '.join(listed) or 'none'}")
    return ds.isel(time=[nearest])


def edges(ds: xr.Dataset, axis: str) -> np.ndarray:
    """Return where cells begin, and the last one ends, along an axis."""
    faces, centres = ds[f"{axis}_f"].values, ds[f"{axis}_c"].values
    return faces if len(faces) > len(centres) else np.append(faces, 2 * centres[-1] - faces[-1])


def uniform(ds: xr.Dataset, axis: str) -> bool:
    """Return whether all cells along an axis have one size."""
    widths = np.diff(edges(ds, axis))
    return bool(np.ptp(widths) <= 1e-9 * widths.max())


def extent(ds: xr.Dataset, axis: str) -> tuple[float, float]:
    """Return where the domain begins and ends along an axis."""
    ends = edges(ds, axis)
    return float(ends[0]), float(ends[-1])


def widths(ds: xr.Dataset, axis: str) -> xr.DataArray:
    """Return the size of each cell along an axis: twice the way from its low face to its centre."""
    centres, faces = ds[f"{axis}_c"], ds[f"{axis}_f"]
    return centres.copy(data=2 * (centres.values - faces.values[: centres.size]))


def periodic(ds: xr.Dataset, axis: str) -> bool:
    """Return whether a direction is periodic: then there is no last face."""
    return bool(ds.sizes[f"{axis}_f"] == ds.sizes[f"{axis}_c"])


def in_centres(ds: xr.Dataset, values: np.ndarray, dims: Sequence[Hashable]) -> np.ndarray:
    """Return values along `dims` in cell centres: where they live on faces, the mean of both faces of a cell."""
    for number, dim in enumerate(map(str, dims)):
        if dim.endswith("_f"):
            sums = values + np.roll(values, -1, axis=number)
            values = (sums if periodic(ds, dim[0]) else np.delete(sums, -1, axis=number)) / 2
    return values
