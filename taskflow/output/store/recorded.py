"""Arrays that a script records during a run: a group of the store for each, with one record per time."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from taskflow.common.errors import BadInput
from taskflow.output.disk.damage import Damaged
from taskflow.output.store.groups import array_of, metadata
from taskflow.output.store.store import Store
from taskflow.output.store.time_series import TimeSeries, create_time_series, write_time_series

MARK = "recorded_by"  # an attribute of these groups
NAME = re.compile(r"[A-Za-z_]\w{0,99}", re.ASCII)


class RecordedArray:
    """Group of an array called `name` in the store at `path`, created if absent.

    The array is numeric. For an xarray array, names and coordinates of dimensions, and attributes, are kept from the
    first record. Raises BadInput if the name is invalid or in use.
    """

    def __init__(self, path: Path, name: str, first: Any) -> None:
        self._path, self.name = path, name
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise BadInput(f"record({name!r}, ...): give a name of letters, digits and _, not beginning with a digit")
        if not (path / name).exists():
            create_time_series(path, _series(name, first), {})
        elif MARK not in _attributes(path, name):
            raise BadInput(f"record({name!r}, ...): the run writes {name} itself; give another name")
        self._store = Store(path, name)
        group = zarr.open_group(str(path), path=name, mode="r", use_consolidated=False, zarr_format=3)
        self._shape = array_of(group, name).shape[1:]

    def add(self, time: float, array: Any) -> None:
        """Add the record of a time. Raises BadInput if its shape differs, or the time is not the latest."""
        values, times = _numbers(self.name, array), self._store.times
        if values.shape != self._shape:
            raise BadInput(
                f"record({self.name!r}, array of shape {values.shape}): it was {self._shape} before; keep it"
            )
        if times and time <= times[-1]:
            raise BadInput(f"record({self.name!r}, ...): there is one of time {times[-1]:g}; give one a step")
        index = len(times)
        self._store.grow(index + 1)
        write_time_series(self._path, self.name, index, {self.name: values[None]})
        self._store.commit(index, time)

    def finish(self) -> None:
        """Drop unused slots, and wait until all records are on disk."""
        self._store.finish()
        self._store.sync()


def cut_recorded(path: Path, time: float) -> None:
    """Drop the records of all such arrays after the time of a restart."""
    for about in path.glob("*/zarr.json"):
        name = about.parent.name
        if NAME.fullmatch(name) and MARK in _attributes(path, name):
            store = Store(path, name)
            store.cut(sum(t <= time for t in store.times))
            store.sync()


def _attributes(path: Path, name: str) -> Mapping[str, Any]:
    """Return the attributes of a group or array, empty if damaged."""
    try:
        return dict(metadata(path / name / "zarr.json").get("attributes", {}))
    except (Damaged, TypeError, ValueError):
        return {}


def _numbers(name: str, array: Any) -> np.ndarray:
    try:
        return np.asarray(array, np.float64)
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"record({name!r}, {type(array).__name__}): {error}; give a number or an array of numbers"
        ) from None


def _series(name: str, first: Any) -> TimeSeries:
    """Return the group of an array like the first one."""
    values = _numbers(name, first)
    dims = tuple(str(dim) for dim in getattr(first, "dims", [f"{name}_{n}" for n in range(values.ndim)]))
    coords = getattr(first, "coords", {})
    places = {}
    for dim, size in zip(dims, values.shape, strict=True):
        if dim in coords:
            places[dim] = np.asarray(coords[dim], np.float64), dict(coords[dim].attrs)
        else:
            places[dim] = np.arange(size, dtype=np.float64), {"long_name": f"index along {dim}"}
    about = {
        str(key): value for key, value in getattr(first, "attrs", {}).items() if isinstance(value, str | int | float)
    }
    return TimeSeries(name, {name: about}, dims, places, "double", {MARK: "simulation.record"})
