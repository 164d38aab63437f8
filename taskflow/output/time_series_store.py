"""Numbers in time in the store: written by one process, many records at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from taskflow.output.arrays import WHOLE, add_column, add_places
from taskflow.output.disk import on_disk
from taskflow.output.groups import array_of, consolidate
from taskflow.output.metadata import TIME, global_attributes
from taskflow.output.packing import codecs
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
            compressors=codecs(),
            dimension_names=("time", *series.dims_of(name)),
            attributes=dict(described),
        )
    consolidate(group)


def write_time_series(path: str | Path, group: str, first: int, values: Mapping[str, np.ndarray]) -> list[Path]:
    """Write records [record, ...] of each field, from number `first` on; the files. Raises RunFailed where the disk is
    full.
    """
    arrays, written = zarr.open_group(str(path), path=group, mode="r+", use_consolidated=False), list[Path]()
    with on_disk(f"{group} in {path}"), np.errstate(over="ignore"):
        for name, records in values.items():
            array, end = array_of(arrays, name).with_config(WHOLE), first + len(records)
            array[first:end] = records.astype(array.dtype)
            long = array.chunks[0]
            chunks = ((number, *(0 for _ in array.shape[1:])) for number in range(first // long, -(-end // long)))
            written += [Path(path, group, name, array.metadata.encode_chunk_key(chunk)) for chunk in chunks]
    return written
