"""The fields of a run that goes on as xarray reads them: where they are, what they mean, and values that are fetched
when they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from taskflow.output.charts.layout import CELLS
from taskflow.output.charts.reading import charts, has_charts, tree
from taskflow.output.groups import CHARTS
from taskflow.output.layout import FieldMetadata
from taskflow.output.metadata import TIME, field_attributes
from taskflow.output.moving import places_now
from taskflow.output.reading import dataset
from taskflow.runtime.regions import Box, triple

Fetch = Callable[[str, int, Box], np.ndarray]
"""The values [z, y, x] of a field in a box of cells of a chart, counted from its first one."""


class LazyArray(indexing.LazilyIndexedArray):
    """A part of a live array. Dask, which would fetch it to name what is made of it, has a name of its own."""

    def __dask_tokenize__(self) -> object:
        return uuid4().hex


class LiveArray(BackendArray):
    """A field on a chart, by name: a part of it is fetched where its values are asked for, and no more. What is
    pickled, as dask does for workers, are all values.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return indexing.NumpyIndexingAdapter, (self._part(tuple(slice(None) for _ in self.shape)),)

    def __init__(self, name: str, chart: int, shape: tuple[int, ...], dtype: np.dtype, fetch: Fetch) -> None:
        self._name, self._chart, self.shape, self.dtype, self._fetch = name, chart, shape, dtype, fetch

    def __getitem__(self, key: indexing.ExplicitIndexer) -> np.typing.ArrayLike:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._part)

    def _part(self, key: tuple[int | slice, ...]) -> np.ndarray:
        """The values of whole numbers and ranges, forwards or backwards, with steps."""
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
    """Return fields of a run at a time, whose store is at `path`, as lazy arrays without dimension of time: a Dataset,
    or, of charts, a DataTree. Coordinates, locations, units and attributes are those of its snapshots, and so are the
    `columns` of numbers of a record: of charts that move where they are.
    """
    when = xr.Variable((), time, TIME)
    if not has_charts(path):
        whole = dataset(path).drop_dims("time")
        return _with(whole, 0, {name: tuple(map(field.dim, "zyx")) for name, field in fields.items()}, fields, dtype,
                     fetch).assign_coords(time=when)  # fmt: skip
    records = tree(path)
    parts = {"/": xr.Dataset(dict(columns), {"time": when}, records.attrs)}
    for number, chart in charts(records):
        filled = _with(chart.drop_dims("time"), number, dict.fromkeys(fields, CELLS), fields, dtype, fetch)
        places = {name: (*now, chart[name].attrs) for name, now in places_now(chart, columns).items()}
        parts[f"{CHARTS}/{number}"] = filled.assign_coords({"time": when, **places})
    return xr.DataTree.from_dict(parts)


def _with(
    ds: xr.Dataset,
    chart: int,
    dims: Mapping[str, tuple[str, ...]],
    fields: Mapping[str, FieldMetadata],
    dtype: np.dtype,
    fetch: Fetch,
) -> xr.Dataset:
    """Return a dataset of what does not change with the fields."""
    variables: dict[str, Any] = {}
    for name, field in fields.items():
        shape = tuple(ds.sizes[dim] for dim in dims[name])
        values = LazyArray(LiveArray(name, chart, shape, dtype, fetch))
        variables[name] = xr.Variable(dims[name], values, field_attributes(field))
    return ds.assign(variables)
