"""Open the store with xarray, of a finished or active run: a dataset for a box of cells, a tree for charts."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.output.disk.damage import RESTORE, Damaged
from taskflow.output.disk.disk import CHARTS, STORE, has_charts
from taskflow.output.store.chart_store import CHART, PATCHES, from_json
from taskflow.output.store.groups import checked
from taskflow.output.store.metadata import FIRST, SOLID
from taskflow.output.store.units import labelled
from taskflow.runtime.regions import Patch, Triple, triple

LISTED = 8  # times in a message
NEAR = 1e-6  # of the latest time: tolerance of times

Records = TypeVar("Records", xr.Dataset, xr.DataTree)


def dataset(path: str | Path, group: str = "") -> xr.Dataset:
    """Return the complete records in a group of a store, by default the snapshots, as lazy arrays.

    `solid`, which is stored once, is included if the group covers all cells. Raises BadInput if the group is missing or
    damaged, also when values are read later.
    """
    slots = _opened(Path(path), group)
    ds = slots.isel(time=slice(int(np.isfinite(slots["time"].values).sum())))
    return _with_bodies(ds, Path(path)) if group else ds


def _opened(path: Path, group: str) -> xr.Dataset:
    """Return all records of a group. Raises BadInput if it cannot be read."""
    with _reading(path, group):
        ds = xr.open_zarr(checked(path, group), group=group, consolidated=True, chunks=None)
        labelled(ds, ds.attrs)
        ds["time"].values  # noqa: B018  where time is something else, nothing here is what a run has written
        return ds


@contextmanager
def _reading(path: Path, group: str) -> Iterator[None]:
    """Raise BadInput if a group cannot be read."""
    try:
        yield
    except BadInput:
        raise
    except OSError as error:
        raise BadInput(
            f"{path}: no {group or 'snapshots'} to read; give the folder that `taskflow run` wrote"
            f"{f', of a case with {group}' if group else ''}"
        ) from error
    except Exception as error:  # any error of Zarr and xarray for damaged metadata
        about = path / group / "zarr.json"
        raise Damaged(f"{about}: it is not as it was written ({type(error).__name__}: {error}); {RESTORE}") from None


def _with_bodies(ds: xr.Dataset, path: Path) -> xr.Dataset:
    """Return a group with the cells inside bodies, if it has all cells and bodies exist."""
    whole = _opened(path, "")
    if SOLID not in whole or "time" in whole[SOLID].dims:
        return ds
    sizes = whole[SOLID].sizes.items()
    return ds.assign({SOLID: whole[SOLID]}) if all(ds.sizes.get(dim) == size for dim, size in sizes) else ds


def snapshot(directory: str | Path, time: float | None) -> xr.Dataset:
    """Return the snapshot of a run at a time, or its last one. Raises BadInput if it does not exist."""
    return _one(box_snapshots(directory), directory, time, "snapshot")


def _one(records: Records, directory: str | Path, time: float | None, kind: str) -> Records:
    """Return the record of a time, or the last one."""
    if not records.sizes["time"]:
        raise BadInput(f"{directory}: no {kind} is complete yet; wait for the first one")
    return records.isel(time=-1) if time is None else at_time(records, time).isel(time=0)


def box_snapshots(directory: str | Path) -> xr.Dataset:
    """Return the snapshots of a run. Raises BadInput if they do not exist, or are on charts, which have groups."""
    ds = dataset(Path(directory) / STORE)
    if "x_c" not in ds:
        raise BadInput(f"{directory}: the run is on charts, for which this is not available; taskflow plot draws them")
    return ds


def at_time(records: Records, time: float) -> Records:
    """Return the one record of a time. Raises BadInput if it does not exist."""
    times = np.asarray(records["time"])
    if not isinstance(time, Real):
        raise BadInput(f"time = {time!r}; give a number, one of {listed(times)}")
    nearest = int(np.abs(times - time).argmin()) if len(times) else 0
    if not len(times) or not abs(times[nearest] - time) <= NEAR * np.abs(times).max():  # also excludes NaN
        raise BadInput(f"time = {time:.10g}: no snapshot was written then; choose one of {listed(times)}")
    return records.isel(time=[nearest])


def listed(times: Iterable[float]) -> str:
    """Return times as text with distinguishing digits, only the first and last if they are many."""
    words = [f"{time:.10g}" for time in times]
    if len(words) > LISTED:
        words[LISTED // 2 : -LISTED // 2] = ["..."]
    return ", ".join(words) or "none"


def edges(ds: xr.Dataset, axis: str) -> np.ndarray:
    """Return the faces of cells along an axis, including the last."""
    return ended(ds[f"{axis}_f"].values, ds[f"{axis}_c"].values)


def ended(faces: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the faces of cells with these centres, including the last, which periodic directions lack."""
    return faces if len(faces) > len(centres) else np.append(faces, 2 * centres[-1] - faces[-1])


def uniform(ds: xr.Dataset, axis: str) -> bool:
    """Return True if all cells along an axis have the same size."""
    widths = np.diff(edges(ds, axis))
    return bool(np.ptp(widths) <= 1e-9 * widths.max())


def extent(ds: xr.Dataset, axis: str) -> tuple[float, float]:
    """Return the ends of the domain along an axis."""
    ends = edges(ds, axis)
    return float(ends[0]), float(ends[-1])


def widths(ds: xr.Dataset, axis: str) -> xr.DataArray:
    """Return the size of each cell along an axis: twice the distance from its low face to its centre."""
    centres, faces = ds[f"{axis}_c"], ds[f"{axis}_f"]
    return centres.copy(data=2 * (centres.values - faces.values[: centres.size]))


def periodic(ds: xr.Dataset, axis: str) -> bool:
    """Return True if a direction is periodic, so that it has no last face."""
    return bool(ds.sizes[f"{axis}_f"] == ds.sizes[f"{axis}_c"])


def in_centres(ds: xr.Dataset, values: np.ndarray, dims: Sequence[Hashable]) -> np.ndarray:
    """Return values along `dims` in cell centres: for values on faces, the mean of both faces of a cell."""
    for number, dim in enumerate(map(str, dims)):
        if dim.endswith("_f"):
            sums = values + np.roll(values, -1, axis=number)
            values = (sums if periodic(ds, dim[0]) else np.delete(sums, -1, axis=number)) / 2
    return values


def tree(path: str | Path, group: str = "") -> xr.DataTree:
    """Return the complete records in a group of a store of charts, by default the snapshots, as lazy arrays.

    Each chart is a child "charts/0", ..., with fields (time, k, j, i) in its cells, coordinates x, y, z of its vertices
    (k_vertex, j_vertex, i_vertex), and x_c, y_c, z_c of its centres (k, j, i). Raises BadInput if the group is missing
    or damaged, also when values are read later.
    """
    where = Path(path)
    with _reading(where, group):
        store: Any = checked(where, group)
        groups = xr.open_groups(store, engine="zarr", group=group or None, consolidated=True, chunks=None)
        # other groups, such as statistics, have separate times, which one tree cannot hold
        within = {path.removeprefix(f"/{group}").lstrip("/."): part for path, part in groups.items()}
        own = {path or "/": part for path, part in within.items() if path.split("/")[0] in ("", CHARTS)}
        for part in own.values():
            labelled(part, own["/"].attrs)
        opened = xr.DataTree.from_dict(own)
        slots = opened.coords["time"].values
        if not has_charts(where, group):
            raise BadInput(f"{where}: it has no charts; read it by taskflow.output.dataset")
        return opened.isel(time=slice(int(np.isfinite(slots).sum())))


def charts(records: xr.DataTree) -> Iterator[tuple[int, xr.Dataset]]:
    """Yield number and dataset, with the time, of each chart in order. Raises BadInput without charts."""
    if CHARTS not in records.children:
        raise BadInput("the tree has no charts; give the whole tree of a run on charts, as run.dataset() returns it")
    for number in sorted(records[CHARTS].children, key=int):
        chart = records[f"{CHARTS}/{number}"].to_dataset()
        yield int(number), chart.assign_coords(records.coords)  # of one record the time is not inherited


def patches(records: xr.DataTree) -> dict[str, list[Patch]]:
    """Return the patches of all sides by name. Raises Damaged if they are invalid."""
    sides: dict[str, list[Patch]] = {}
    for number, chart in charts(records):
        try:
            own = from_json(number, str(chart.attrs[PATCHES]))
        except (KeyError, TypeError, ValueError) as error:
            raise Damaged(f"{CHARTS}/{number}: its sides are not as they were written ({error}); {RESTORE}") from None
        for name, some in own.items():
            sides.setdefault(name, []).extend(some)
    return sides


def place_of(number: int, chart: xr.Dataset) -> tuple[int, Triple]:
    """Return the number of a chart in the whole grid, and its first cell there along i, j and k.

    They differ for charts of a recorded plane. Raises Damaged if their attributes have changed.
    """
    if CHART not in chart.attrs:
        return number, (0, 0, 0)
    try:
        return int(chart.attrs[CHART]), triple(map(int, json.loads(chart.attrs[FIRST])))
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(f"{CHARTS}/{number}: it lacks the box of its cells ({error}); {RESTORE}") from None


def snapshot_of(directory: str | Path, time: float | None, group: str = "") -> xr.DataTree:
    """Return a run's record on charts at a time, by default the last snapshot. Raises BadInput if it is missing."""
    return _one(tree(Path(directory) / STORE, group), directory, time, f"record of {group}" if group else "snapshot")
