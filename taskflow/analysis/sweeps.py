"""Results of runs with different parameters, with these as dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr

from taskflow.common.errors import BadInput

Combination = xr.Dataset | xr.DataArray | xr.DataTree


def combined(parameters: Mapping[str, Sequence[Any]], results: Sequence[Any]) -> Combination:
    """Return results, in the order of the product of the parameters, as one object with the parameters as dimensions.

    A result is a number, an array, a DataArray, a Dataset or, for runs on charts, a DataTree. Variables of a Dataset
    without time are taken from the first result, unless none has a time. Raises BadInput if results differ in kind or
    coordinates.
    """
    merged: list[Combination] = [_as_xarray(result) for result in results]
    concat = _concat_trees if isinstance(merged[0], xr.DataTree) else _concat_arrays
    for name, values in reversed(list(parameters.items())):
        along, count = _coordinate(name, values), len(values)
        merged = [concat(merged[first : first + count], along) for first in range(0, len(merged), count)]
    return merged[0]


def _as_xarray(result: Any) -> Combination:
    if isinstance(result, Combination):
        return result
    try:
        if result is None:
            raise TypeError
        return xr.DataArray(np.asarray(result, np.float64))
    except (TypeError, ValueError):
        raise BadInput(f"measure(run) returned {type(result).__name__}; give numbers, or arrays of xarray") from None


def _coordinate(name: str, values: Sequence[Any]) -> xr.Variable:
    plain = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    return xr.Variable((name,), np.array(values) if plain else np.array([str(value) for value in values]))


def _concat_trees(some: list[Any], along: xr.Variable) -> xr.DataTree:
    """Concatenate node by node. Cells have the same positions in all runs, but records may have different times."""
    if any(not isinstance(tree, xr.DataTree) or tree.groups != some[0].groups for tree in some):
        raise BadInput(f"the runs along {along.dims[0]} differ in their charts; give measure=, a function of a run")
    nodes: dict[str, Any] = {}
    for path in some[0].groups:
        parts = [tree[path].to_dataset(inherit=False) for tree in some]
        alike = [part if "time" in part.dims else part.drop_vars("time", errors="ignore") for part in parts]
        nodes[path] = _concat_arrays(alike, along, "equals") if alike[0].variables else parts[0]
    return xr.DataTree.from_dict(nodes)


def _concat_arrays(some: list[Any], along: xr.Variable, compat: str = "override") -> xr.Dataset | xr.DataArray:
    name = str(along.dims[0])
    how: dict[str, Any] = {"join": "exact", "coords": "minimal", "compat": compat}
    how["combine_attrs"] = "drop_conflicts"
    try:
        if isinstance(some[0], xr.DataArray):
            joined: xr.Dataset | xr.DataArray = xr.concat(some, name, **how)
        else:
            timed = [str(key) for key in some[0].data_vars if "time" in some[0][key].dims]
            joined = xr.concat(some, name, data_vars=timed or "all", **how)
    except (ValueError, TypeError) as error:  # the latter of different kinds
        raise BadInput(
            f"the runs along {name} differ in more than numbers ({error}); give measure=, a function of a run that"
            " returns a quantity of each"
        ) from None
    return joined.assign_coords({name: along})
