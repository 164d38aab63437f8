"""Spectra of a run: what the case asks for, and its records in the store."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.spectra import LineSpectra, ShellSpectra, Spectra
from taskflow.output import TimeSeries, of_waves
from taskflow.regions import Partition
from taskflow.simulation.averaging import COLUMNS, Averages
from taskflow.simulation.case import Case, Spectrum
from taskflow.simulation.numbering import SeriesRecording
from taskflow.simulation.recording import Place


@dataclass(frozen=True, eq=False)
class Waves:
    """Spectra that are averaged over time, and their group of the store."""

    series: TimeSeries
    averages: Averages[Spectra]


def waves(case: Case, table: Spectrum, grid: StaggeredGrid, main: Partition) -> Waves:
    """What a table asks for, on blocks as those of `main`."""
    found: Spectra
    wanted = table.name, table.fields or case.fields, grid, main
    if table.along == "all":
        found = ShellSpectra(*wanted, pairs=table.pairs)
    else:
        axis = "xyz".index(table.along)
        found = LineSpectra(*wanted, axis, alike(case, axis), pairs=table.pairs)
    places = {axis: (grid.coordinates("c", axis), grid.faces(axis)[: grid.cells[axis]]) for axis in found.resolved}
    about = table.along, places, found.wavenumbers
    series = of_waves(table.name, found.fields, found.crossed, *about, case.output.precision, COLUMNS)
    return Waves(series, Averages(found, table.start, table.every, table.write, afresh=True))


def alike(case: Case, axis: int) -> tuple[int, ...]:
    """The directions across an axis over which spectra along it are averaged: where the flow is the same everywhere."""
    grid = case.staggered
    if case.obstacles:
        return ()
    return tuple(other for other in range(3) if other != axis and case.periodic[other] and grid.uniform[other])


class WaveRecording(SeriesRecording):
    """The mean power is gathered from all slabs; what comes of it does not depend on their number."""

    def __init__(self, place: Place, waves: Waves) -> None:
        super().__init__(place, waves.series)
        self._spectra = waves.averages.statistics

    def _found(self) -> np.ndarray:
        return np.array([self._spectra.density(self._gathered(role)) for role in self._spectra.roles])

    def _gathered(self, role: str) -> np.ndarray:
        """The mean power of all modes [z, y, x]."""
        home, mine = self.shard.partition.homes[role], self.shard.read(role)
        row = np.zeros(max(block.volume for block in home.blocks), mine.dtype)
        row[: mine.size] = mine.ravel()
        whole = np.empty(home.region.cells.shape[::-1])
        for block, values in zip(home.blocks, self.shard.gather(row), strict=True):
            whole[block.slices((0, 0, 0))] = values[: block.volume].reshape(block.shape[::-1])
        return whole[self._spectra.modes.slices((0, 0, 0))]
