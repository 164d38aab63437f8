"""Values at points in the store: written by one process, many records at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zarr

from taskflow.output.disk import on_disk
from taskflow.output.metadata import TIME, coordinate_attributes, field_attributes, global_attributes
from taskflow.output.points import Points
from taskflow.output.store import TIME_CHUNK, array_of, consolidate


def create_points(path: str | Path, points: Points, attributes: Mapping[str, Any]) -> None:
    """Create the group in a store. Raises OSError where it cannot be written."""
    about = {**global_attributes(attributes), "featureType": "timeSeries"}
    group = zarr.create_group(str(path), path=points.group, zarr_format=3, attributes=about)
    count = len(points.places)
    for axis, name in enumerate("xyz"):
        described = {**coordinate_attributes(f"{name}_c"), "long_name": f"{name} of the point"}
        array = group.create_array(
            name,
            shape=(count,),
            chunks=(count,),
            dtype="f8",
            compressors=None,
            dimension_names=("point",),
            attributes={key: value for key, value in described.items() if key != "axis"},
        )
        array[:] = points.places[:, axis]
    group.create_array(
        "time",
        shape=(0,),
        chunks=(TIME_CHUNK,),
        dtype="f8",
        fill_value=np.nan,
        compressors=None,
        dimension_names=("time",),
        attributes=TIME,
    )
    for name in points.fields:
        told = field_attributes(name)
        group.create_array(
            name,
            shape=(0, count),
            chunks=(points.batch, count),
            dtype=points.dtype,
            fill_value=np.nan,
            compressors=None,
            dimension_names=("time", "point"),
            attributes={"long_name": told["long_name"], "units": told["units"], "coordinates": "x y z"},
        )
    consolidate(group)


def write_points(path: str | Path, group: str, first: int, values: Mapping[str, np.ndarray]) -> None:
    """Write records [record, point] of each field, from number `first` on. Raises RunFailed where the disk is full."""
    arrays = zarr.open_group(str(path), path=group, mode="r+", use_consolidated=False)
    with on_disk(f"{group} in {path}"), np.errstate(over="ignore"):
        for name, records in values.items():
            array = array_of(arrays, name)
            array[first : first + len(records)] = records.astype(array.dtype)
