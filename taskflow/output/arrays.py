"""Arrays that every group of a store has: where values are, and a number for each record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import zarr

from taskflow.output.packing import codecs

WHOLE: Any = {"write_empty_chunks": True}  # a chunk that is not there is damage, not one without values
TIME_CHUNK = 1024  # times that one commit rewrites


def add_places(
    group: zarr.Group, name: str, values: np.ndarray, dims: Sequence[str], attributes: Mapping[str, Any]
) -> None:
    """Coordinates, in double precision."""
    array = group.create_array(
        name,
        shape=values.shape,
        chunks=values.shape,
        dtype="f8",
        compressors=codecs(),
        dimension_names=tuple(dims),
        config=WHOLE,
        attributes=dict(attributes),
    )
    array[:] = values


def add_column(group: zarr.Group, name: str, slots: int, attributes: Mapping[str, Any]) -> None:
    """A number for each record, such as its time; NaN where there is none yet."""
    array = group.create_array(
        name,
        shape=(slots,),
        chunks=(TIME_CHUNK,),
        dtype="f8",
        fill_value=np.nan,
        compressors=codecs(),
        dimension_names=("time",),
        config=WHOLE,
        attributes=dict(attributes),
    )
    array[:] = np.nan
