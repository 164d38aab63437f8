"""`ds.flow`: what a dataset of a run can be asked. It is there once this module is imported."""

from __future__ import annotations

import xarray as xr

from taskflow.output import averages


@xr.register_dataset_accessor("flow")  # type: ignore[no-untyped-call]
class Flow:
    """Numbers of a flow, computed when they are needed: of snapshots, or of statistics."""

    def __init__(self, ds: xr.Dataset) -> None:
        self._ds = ds

    def profiles(self, axis: str) -> xr.Dataset:
        """Of statistics: means and covariances over time and over planes across `axis`; see `averages.profiles`."""
        return averages.profiles(self._ds, axis)
