"""Values at points while a run goes on: only the cells around the points leave the device, and block 0 writes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.interpolation import corners
from taskflow.output import Points, write_points
from taskflow.regions import Location
from taskflow.simulation.recording import Place, Recording
from taskflow.simulation.schedule import Every


@dataclass(frozen=True, eq=False)
class Probe:
    """A group of points, and which fields are recorded there, each with its location, how often."""

    points: Points
    locations: tuple[Location, ...]
    every: Every


@dataclass(frozen=True)
class Layer:
    """A layer of cells that is recorded in a group of the store, how often."""

    group: str
    every: Every


class PointRecording(Recording):
    """Values at points, linear between the cells around each. Whoever has one of these passes its value on: exactly, so
    that the bits do not depend on the blocks.
    """

    def __init__(self, place: Place, probe: Probe, grid: StaggeredGrid) -> None:
        super().__init__(place)
        self._probe = probe
        self._corners = [corners(grid, location, probe.points.places) for location in probe.locations]
        owned = place.shard.partition.owned[place.shard.block]
        cells = [each.cells.reshape(-1, 3) for each in self._corners]
        self._mine = [np.all((each >= owned.lo) & (each < owned.hi), axis=1) for each in cells]
        self._cells = [each[mine] for each, mine in zip(cells, self._mine, strict=True)]
        self._waiting: list[np.ndarray] = []  # of block 0: records [field, point]

    def _copy(self, index: int) -> None:
        values = np.zeros((len(self._corners), self._corners[0].weights.size))
        for row, name, mine, cells in zip(values, self._probe.points.fields, self._mine, self._cells, strict=True):
            row[mine] = self.shard.pick(name, cells)
        found = self.shard.allreduce(values.ravel(), "sum").reshape(values.shape)
        if self.shard.block > 0:
            self.complete += 1
            return
        shape = self._corners[0].weights.shape
        weighted = [row.reshape(shape) * each.weights for row, each in zip(found, self._corners, strict=True)]
        self._waiting.append(np.array([each.sum(axis=1) for each in weighted]))
        if len(self._waiting) >= self._probe.points.batch:
            self.flush()

    def flush(self) -> None:
        """Have everything written that was copied."""
        if not self._waiting:
            return
        records, self._waiting = np.array(self._waiting), []
        first = len(self._records) - len(records)
        values = {name: records[:, n] for n, name in enumerate(self._probe.points.fields)}
        self._submit(partial(write_points, self.place.path, self.place.group, first, values), len(records))
