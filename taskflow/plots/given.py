"""Prescribed ranges of temperature and scalars of a run, by which pictures mark values out of range."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import xarray as xr

from taskflow.output.store.metadata import GIVEN
from taskflow.output.store.reading import charts


def given_ranges(records: xr.Dataset | xr.DataTree) -> dict[str, tuple[float, float]]:
    """Return the ranges of prescribed values on sides, in bodies and at the start of a run, by field.

    Only fields in its snapshots are included. An end is infinite if sources can exceed it.
    """
    ranges = {}
    for key, text in records.attrs.items():
        name = str(key).removeprefix(GIVEN)
        first = list(_first(records, name)) if name != key else []
        if first:
            low, high = (side if end is None else float(end) for end, side in
                         zip(json.loads(text), (-math.inf, math.inf), strict=True))  # fmt: skip
            ranges[name] = min(low, *(float(x.min()) for x in first)), max(high, *(float(x.max()) for x in first))
    return ranges


def _first(records: xr.Dataset | xr.DataTree, name: str) -> Iterator[xr.DataArray]:
    parts = [records] if isinstance(records, xr.Dataset) else [chart for _, chart in charts(records)]
    for part in parts:
        if name in part and part.sizes.get("time", 0):
            yield part[name].isel(time=0)
