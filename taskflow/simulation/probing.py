"""Values at points while a run goes on: only the cells around the points leave the device, and block 0 writes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.interpolation import corners
from taskflow.output import TimeSeries
from taskflow.regions import Location
from taskflow.simulation.numbering import SeriesRecording
from taskflow.simulation.recording import Place
from taskflow.simulation.schedule import Every


@dataclass(frozen=True, eq=False)
class Probe:
    """A group of points [point, axis], and which fields are recorded there, each with its location, how often."""

    series: TimeSeries
    points: np.ndarray
    locations: tuple[Location, ...]
    every: Every


@dataclass(frozen=True)
class Layer:
    """A layer of cells that is recorded in a group of the store, how often."""

    group: str
    every: Every


class PointRecording(SeriesRecording):
    """Values at points, linear between the cells around each. Whoever has one of these passes its value on: exactly, so
    that the bits do not depend on the blocks.
    """

    def __init__(self, place: Place, probe: Probe, grid: StaggeredGrid) -> None:
        super().__init__(place, probe.series)
        self._corners = [corners(grid, location, probe.points) for location in probe.locations]
        owned = place.shard.partition.owned[place.shard.block]
        cells = [each.cells.reshape(-1, 3) for each in self._corners]
        self._mine = [np.all((each >= owned.lo) & (each < owned.hi), axis=1) for each in cells]
        self._cells = [each[mine] for each, mine in zip(cells, self._mine, strict=True)]

    def _found(self) -> np.ndarray:
        values = np.zeros((len(self._corners), self._corners[0].weights.size))
        for row, name, mine, cells in zip(values, self._series.fields, self._mine, self._cells, strict=True):
            row[mine] = self.shard.pick(name, cells)
        found = self.shard.allreduce(values.ravel(), "sum").reshape(values.shape)
        shape = self._corners[0].weights.shape
        weighted = [row.reshape(shape) * each.weights for row, each in zip(found, self._corners, strict=True)]
        return np.array([each.sum(axis=1) for each in weighted])
