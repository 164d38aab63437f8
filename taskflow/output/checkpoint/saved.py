"""Saved states: a snapshot or a checkpoint of a run, or a file of another program.

Also the fields of an active run, whose values are fetched on access.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from taskflow.common.errors import BadInput, quiet
from taskflow.common.files import bounded
from taskflow.common.foreign import STATE, foreign
from taskflow.common.hdf5 import engine
from taskflow.output.checkpoint.checkpoint import Checkpoint, Checkpoints, manifest, newest
from taskflow.output.disk.damage import Damaged
from taskflow.output.disk.disk import CASE, CHARTS, CHECKPOINTS, STORE, has_charts
from taskflow.output.store.chart_layout import CELLS
from taskflow.output.store.foreign_store import opened as open_store
from taskflow.output.store.layout import FieldMetadata
from taskflow.output.store.metadata import field_attributes
from taskflow.output.store.reading import charts, dataset, listed, tree
from taskflow.output.store.rigid_motion import POSE, places_now
from taskflow.runtime.regions import Box, Location, Triple, triple

Fetch = Callable[[str, int, Box], np.ndarray]
"""Function for the values [z, y, x] of a field in a box of cells of a chart, counted from its first cell."""


class LazyArray(indexing.LazilyIndexedArray):
    """Part of a live array, with its own token, because Dask would otherwise fetch it to compute one."""

    def __dask_tokenize__(self) -> object:
        return uuid4().hex


class LiveArray(BackendArray):
    """Field on a chart of which only accessed parts are fetched. Pickling, as Dask does, fetches all values."""

    def __reduce__(self) -> tuple[Any, ...]:
        return indexing.NumpyIndexingAdapter, (self._part(tuple(slice(None) for _ in self.shape)),)

    def __init__(self, name: str, chart: int, shape: tuple[int, ...], dtype: np.dtype, fetch: Fetch) -> None:
        self._name, self._chart, self.shape, self.dtype, self._fetch = name, chart, shape, dtype, fetch

    def __getitem__(self, key: indexing.ExplicitIndexer) -> np.typing.ArrayLike:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._part)

    def _part(self, key: tuple[int | slice, ...]) -> np.ndarray:
        """Return the values for integers and ranges, forward or backward, with steps."""
        ranges = [
            range(index, index + 1) if isinstance(index, int) else range(*index.indices(size))
            for index, size in zip(key, self.shape, strict=True)
        ]
        within = tuple(0 if isinstance(index, int) else slice(None) for index in key)
        if not all(ranges):
            return np.empty([len(along) for along in ranges], self.dtype)[within]
        low = [min(along) for along in ranges]
        box = Box(triple(low[::-1]), triple(max(along) + 1 for along in ranges[::-1]))
        values = self._fetch(self._name, self._chart, box)
        return values[np.ix_(*([at - first for at in along] for along, first in zip(ranges, low, strict=True)))][within]


def live(
    path: str | Path,
    fields: Mapping[str, FieldMetadata],
    dtype: np.dtype,
    time: float,
    fetch: Fetch,
    columns: Mapping[str, float],
) -> xr.Dataset | xr.DataTree:
    """Return fields of a run at a time as lazy arrays without a time dimension: a Dataset or, for charts, a DataTree.

    The store of the run is at `path`. Coordinates, locations, units and attributes are taken from its snapshots.
    `columns` are the numbers of a record, for moving charts their position.
    """

    def filled(ds: xr.Dataset, chart: int, dims: Mapping[str, tuple[str, ...]]) -> xr.Dataset:
        arrays: dict[str, Any] = {}
        for name, field in fields.items():
            shape = tuple(ds.sizes[dim] for dim in dims[name])
            values = LazyArray(LiveArray(name, chart, shape, dtype, fetch))
            arrays[name] = xr.Variable(dims[name], values, field_attributes(field))
        return ds.assign(arrays)

    records = tree(path) if has_charts(path) else dataset(path)
    when = xr.Variable((), time, records.coords["time"].attrs)
    if isinstance(records, xr.Dataset):
        dims = {name: tuple(map(field.dim, "zyx")) for name, field in fields.items()}
        return filled(records.drop_dims("time"), 0, dims).assign_coords(time=when)
    parts = {"/": xr.Dataset(dict(columns), {"time": when}, records.attrs)}
    for number, chart in charts(records):
        places = {name: (*now, chart[name].attrs) for name, now in places_now(chart, columns).items()}
        one = filled(chart.drop_dims("time"), number, dict.fromkeys(fields, CELLS))
        parts[f"{CHARTS}/{number}"] = one.assign_coords({"time": when, **places})
    return xr.DataTree.from_dict(parts)


LOCATIONS: dict[str, Location] = {"u": "fx", "v": "fy", "w": "fz"}  # others: centres
SAME = 1e-9  # of a time: relative error of its text
NETCDF = (".nc", ".nc4", ".cdf")


@dataclass(frozen=True, eq=False)
class SavedState:
    """Fields of a state as lazy arrays without a time dimension, its time, and a description of its origin (`where`).

    Fields on `charts` are a tree. A run has the text of its `case`, and a `checkpoint` if the state is one.
    """

    fields: xr.Dataset | None
    time: float
    where: str
    case: str | None = None
    checkpoint: Checkpoint | None = None
    charts: xr.DataTree | None = None


def saved_state(source: str | Path | xr.Dataset | xr.DataTree, time: float | None) -> SavedState:
    """Return the state at a time, by default the last, of a run directory, NetCDF file, Zarr store or dataset.

    A checkpoint is preferred to a snapshot of the same time, because it has all digits. Raises BadInput if no state
    exists.
    """
    if isinstance(source, xr.Dataset | xr.DataTree):
        return _at(source, time, "the dataset" if isinstance(source, xr.Dataset) else "the tree")
    path = Path(source)
    if (path / STORE).is_dir():
        return _of_run(path, time)
    return _at(tree(path) if has_charts(path) else _opened(path), time, f"{path}")


def _of_run(path: Path, time: float | None) -> SavedState:
    store = path / STORE
    records = tree(store) if has_charts(store) else dataset(store)
    snapshots = [float(t) for t in np.atleast_1d(records.coords["time"].values) if np.isfinite(t)]
    checkpoint = _checkpoint(path, time, max(snapshots, default=-np.inf))
    if checkpoint is not None:
        at = checkpoint.state["time"]
        whole = _of_checkpoint(store, checkpoint, records if isinstance(records, xr.DataTree) else None)
        where = f"the checkpoint of step {checkpoint.step} in {path}"
        state = SavedState(None, at, where, checkpoint.state["case"], checkpoint)
        return replace(state, fields=whole) if isinstance(whole, xr.Dataset) else replace(state, charts=whole)
    return replace(_at(records, time, f"{path}", [at for _, at in _times(path)]), case=_text(path / CASE))


def _checkpoint(path: Path, time: float | None, latest: float) -> Checkpoint | None:
    """Return the intact checkpoint of a time or, without one, the newest if it is as late as the `latest` snapshot."""
    if time is None:
        checkpoint, _ = newest(Checkpoints(path / CHECKPOINTS, ""))
        return checkpoint if checkpoint and checkpoint.state["time"] >= latest * (1 - SAME) else None
    for folder, at in _times(path):
        with suppress(Damaged):
            if _is(at, time):
                return Checkpoint.load(folder)
    return None


def _times(path: Path) -> Iterator[tuple[Path, float]]:
    for folder in Checkpoints(path / CHECKPOINTS, "").paths():
        with suppress(Damaged):
            yield folder, float(manifest(folder)["state"]["time"])


def _of_checkpoint(
    store: Path, checkpoint: Checkpoint, records: xr.DataTree | None
) -> xr.Dataset | xr.DataTree | None:  # fmt: skip
    """Return all fields of a checkpoint as lazy arrays with the coordinates of the store.

    It lacks the position of moving charts: for these, return the snapshot of its time from the `records`, or None.
    """
    if records is not None and POSE[0] in records.data_vars:
        with suppress(BadInput):
            return _at(records, checkpoint.state["time"], f"{store}").charts
        return None
    roles = sorted({piece["role"] for file in checkpoint.files for piece in file["pieces"]})
    fields = {role: FieldMetadata("", location=LOCATIONS.get(role, "c")) for role in roles}
    first = [(0, 0, 0)] if records is None else _places(checkpoint, records)

    def fetch(name: str, chart: int, box: Box) -> np.ndarray:
        values = np.zeros(box.shape[::-1])
        checkpoint.fill(name, values, box.shift(first[chart]))
        return values

    return live(store, fields, np.dtype("f8"), checkpoint.state["time"], fetch, {})


def _places(checkpoint: Checkpoint, records: xr.DataTree) -> list[Triple]:
    """Return the first cells of charts in the index space of a checkpoint: consecutive along x, with gaps."""
    lows, places, behind = sorted(box.lo[0] for box in checkpoint.boxes("u")), list[Triple](), 0
    for _, chart in charts(records):
        at = next(low for low in lows if low >= behind)
        places.append((at, 0, 0))
        behind = at + chart.sizes["i"]
    return places


def _at(
    records: xr.Dataset | xr.DataTree, time: float | None, where: str, others: list[float] | None = None
) -> SavedState:
    """Return the state at a time in a dataset, or in a tree of charts. A time dimension is called "time"."""
    ds = records if isinstance(records, xr.Dataset) else records.to_dataset()
    times = ds["time"].values if "time" in ds.coords or "time" in ds.dims else np.array(0.0)
    if times.dtype.kind not in "fiu":
        raise BadInput(f"{where}: its times are of type {times.dtype}; give numbers, or one state without a time")
    if "time" not in ds.dims:
        if times.ndim:
            dims = ", ".join(map(str, ds["time"].dims))
            raise BadInput(f"{where}: its time lies along {dims}; give one number, or a dimension that is called time")
        if time is not None and not ("time" in ds.coords and _is(float(times), time)):
            raise BadInput(f"time = {time:g}: {where} has no times to choose from; omit it")
        state = SavedState(ds, float(times), where)
    else:
        known = [float(t) for t in times]
        if not known:
            raise BadInput(f"{where}: no state is complete yet; wait for the first one")
        nearest = len(known) - 1 if time is None else int(np.abs(times - time).argmin())
        if time is not None and not _is(known[nearest], time):
            known = sorted({*known, *(others or [])})
            raise BadInput(f"time = {time:.10g}: {where} has no state of it; choose one of {listed(known)}")
        state = SavedState(ds.isel(time=nearest), known[nearest], f"time {known[nearest]:g} of {where}")
        records = records.isel(time=nearest)
    if isinstance(records, xr.DataTree):
        return replace(state, fields=None, charts=records)
    return replace(state, fields=state.fields.isel(_falling(state.fields)) if state.fields is not None else None)


def _falling(ds: xr.Dataset) -> dict[Hashable, slice]:
    """Return reversing slices for dimensions with decreasing coordinates, which files of other programs may have."""
    lines = {dim: ds[dim].values for dim in ds.dims if dim in ds.coords and ds[dim].dtype.kind in "fiu"}
    return {dim: slice(None, None, -1) for dim, at in lines.items() if at.size > 1 and (at[1:] < at[:-1]).all()}


@quiet()
def _opened(path: Path) -> xr.Dataset | xr.DataTree:
    """Return the content of a file or folder, as a tree for charts. Raises BadInput if it cannot be read."""
    if not path.exists():
        raise BadInput(f"{path}: this source does not exist; give a run directory, a NetCDF file or a store")
    if words := foreign(path, STATE):
        raise BadInput(f"{path}: {words}")
    try:
        if path.is_dir():
            return open_store(path)
        if path.suffix in NETCDF:
            reader = engine(path, "give a NetCDF file")
            with bounded(path.stat().st_size):
                whole = xr.open_dataset(path, chunks=None, engine=reader)
            return whole if "u" in whole else _tree_in(path, reader) or whole
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
    except Exception as error:  # any error of a reader for another format
        raise BadInput(f"{path}: it cannot be read ({type(error).__name__}: {str(error)[:200]})") from None
    raise BadInput(f"{path}: it is neither a run, nor NetCDF ({', '.join(NETCDF)}), nor Zarr; give one of these")


def _tree_in(path: Path, reader: str) -> xr.DataTree | None:
    """Return the charts in a NetCDF file, or None."""
    with suppress(OSError, ValueError):  # formats without groups
        whole = xr.open_datatree(path, chunks=None, engine=reader)
        return whole if CHARTS in whole.children else None
    return None


def _is(one: float, other: float) -> bool:
    return abs(one - other) <= SAME * max(1.0, abs(other))


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return None


def described(fields: Mapping[Any, Any]) -> str:
    return ", ".join(map(str, fields)) or "nothing"
