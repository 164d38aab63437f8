"""Results of runs that differ in parameters, with these as dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from taskflow.errors import BadInput


def combined(parameters: Mapping[str, Sequence[Any]], results: Sequence[Any]) -> xr.Dataset | xr.DataArray:
    """Return results, in the order of the product of the parameters, as one object with the parameters as dimensions.

    A result is a number, an array, a DataArray or a Dataset; of a Dataset what has no time is that of the first one,
    unless nothing has a time. Raises BadInput where results differ in their coordinates.
    """
    kept: list[Any] = [_as_xarray(result) for result in results]
    for name, values in reversed(list(parameters.items())):
        along, count = _coordinate(name, values), len(values)
        kept = [_concat(kept[first : first + count], along) for first in range(0, len(kept), count)]
    combination: xr.Dataset | xr.DataArray = kept[0]
    return combination


def _as_xarray(result: Any) -> xr.Dataset | xr.DataArray:
    if isinstance(result, xr.DataTree):
        raise BadInput("the runs are on charts, whose fields are many arrays; give measure=, a function of a run")
    if isinstance(result, xr.Dataset | xr.DataArray):
        return result
    try:
        return xr.DataArray(np.asarray(result, np.float64))
    except (TypeError, ValueError):
        raise BadInput(f"measure(run) returned {type(result).__name__}; give numbers, or arrays of xarray") from None


def _coordinate(name: str, values: Sequence[Any]) -> xr.Variable:
    plain = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return xr.Variable((name,), np.array(values) if plain else np.array([str(value) for value in values]))


def _concat(some: list[Any], along: xr.Variable) -> xr.Dataset | xr.DataArray:
    name = str(along.dims[0])
    how: dict[str, Any] = {"join": "exact", "coords": "minimal", "compat": "override"}
    how["combine_attrs"] = "drop_conflicts"
    try:
        if isinstance(some[0], xr.DataArray):
            joined: Any = xr.concat(some, name, **how)
        else:
            timed = [str(key) for key in some[0].data_vars if "time" in some[0][key].dims]
            joined = xr.concat(some, name, data_vars=timed or "all", **how)
    except ValueError as error:
        raise BadInput(
            f"the runs along {name} differ in more than numbers ({error}); give measure=, a function of a run that"
            " returns what they have in common"
        ) from None
    named: xr.Dataset | xr.DataArray = joined.assign_coords({name: along})
    return named
