"""The records of runs as a type for editors and type checkers, which do not see the accessors of xarray."""

from __future__ import annotations

import xarray as xr

from taskflow.accessor.charts import ChartsAccessor
from taskflow.accessor.flow import FlowAccessor


class AnyFlowAccessor(FlowAccessor, ChartsAccessor):  # type: ignore[misc]  # methods of one name differ
    """Methods of `ds.flow` on a box and of `tree.flow` on a body-fitted grid."""


class FlowRecords(xr.Dataset):  # type: ignore[no-untyped-call]  # xarray leaves __init_subclass__ untyped
    """A dataset with `flow`. At run time it is an `xarray.Dataset`, on body-fitted grids an `xarray.DataTree`."""

    __slots__ = ()
    flow: AnyFlowAccessor
