"""Numbers in time in the store: written by one process, many records at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from taskflow.output.arrays import add_column, add_places
from taskflow.output.disk import on_disk
from taskflow.output.metadata import TIME, global_attributes
from taskflow.output.store import array_of, consolidate
from taskflow.output.time_series import TimeSeries


def create_time_series(path: str | Path, series: TimeSeries, attributes: Mapping[str, Any]) -> None:
    """Create the group in a store. Raises OSError where it cannot be written."""
    about = {**global_attributes(attributes), **series.about}
    group = zarr.create_group(str(path), path=series.group, zarr_format=3, attributes=about)
    for name, (values, described) in series.places.items():
        add_places(group, name, values, (series.along(name),), described)
    for name, described in {"time": TIME, **series.columns}.items():
        add_column(group, name, 0, described)
    for name, described in series.fields.items():
        group.create_array(
            name,
            shape=(0, *series.shape),
            chunks=(series.batch, *series.shape),
            dtype=series.dtype,
            fill_value=np.nan,
            compressors=None,
            dimension_names=("time", *series.dims_of(name)),
            attributes=dict(described),
        )
    consolidate(group)


def write_time_series(path: str | Path, group: str, first: int, values: Mapping[str, np.ndarray]) -> None:
    """Write records [record, ...] of each field, from number `first` on. Raises RunFailed where the disk is full."""
    arrays = zarr.open_group(str(path), path=group, mode="r+", use_consolidated=False)
    with on_disk(f"{group} in {path}"), np.errstate(over="ignore"):
        for name, records in values.items():
            array = array_of(arrays, name)
            array[first : first + len(records)] = records.astype(array.dtype)
