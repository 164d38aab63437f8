"""The fields of a simulation that pauses, as lazy arrays of xarray."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from taskflow.output import live
from taskflow.runtime.regions import Box
from taskflow.simulation.build.simulation import Simulation as Setup

if TYPE_CHECKING:
    import xarray as xr


def present(setup: Setup, store: Path, time: float, read: Callable[[str, Box], np.ndarray]) -> xr.Dataset | xr.DataTree:
    """All fields of the case at a time: `read` gives the values of a field in a box of the region's cells."""
    charts = setup.partition.region.charts

    def fetch(name: str, chart: int, box: Box) -> np.ndarray:
        return read(name, box.shift(charts[chart].lo))

    fields = {name: setup.system.metadata[name] for name in setup.case.fields}
    return live(store, fields, np.dtype(setup.dtype), time, fetch, setup.domain.placed(time))
