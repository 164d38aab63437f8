"""The fields of a simulation that pauses, as lazy arrays of xarray."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from taskflow.output import live
from taskflow.runtime.machine import Control, Shard
from taskflow.runtime.regions import Box
from taskflow.simulation.build.simulation import Simulation as Setup
from taskflow.simulation.drive import Drive

if TYPE_CHECKING:
    import xarray as xr


@dataclass(frozen=True)
class DeriveJob:
    """Compute what follows from the present fields and is recorded of this case, on all blocks."""

    def __call__(self, shard: Shard, control: Control) -> None:
        loop = Drive.of(control).taken(control)
        if (computed := loop.spec.computed) is not None:
            shard.run(computed, **computed.scalars(loop.now.time))


def derived_names(setup: Setup) -> tuple[str, ...]:
    """The expressions that this case records, and Q where it does."""
    computed = setup.system.computed
    return tuple(name for name in computed.names if name in setup.system.metadata) if computed else ()


def present(
    setup: Setup, names: Sequence[str], store: Path, time: float, read: Callable[[str, Box], np.ndarray]
) -> xr.Dataset | xr.DataTree:  # fmt: skip
    """Some fields of the case at a time: `read` gives the values of a field in a box of the region's cells."""
    charts = setup.partition.region.charts

    def fetch(name: str, chart: int, box: Box) -> np.ndarray:
        return read(name, box.shift(charts[chart].lo))

    fields = {name: setup.system.metadata[name] for name in names}
    return live(store, fields, np.dtype(setup.dtype), time, fetch, setup.domain.placed(time))
