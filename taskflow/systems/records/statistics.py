"""Averages over a run: the times and weights of samples, and the writing of means, covariances and spectra."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from taskflow.cases import Case, SpectrumTable
from taskflow.cases.timing.intervals import QUIET, Every, Quiet, Tick
from taskflow.common.rows import Row
from taskflow.common.units import plural
from taskflow.flow import StaggeredGrid
from taskflow.flow.measures.spectra import LineSpectra, ShellSpectra, Spectra
from taskflow.flow.measures.statistics import SHARE, Statistics
from taskflow.output import FieldMetadata, TimeSeries
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, Partition
from taskflow.systems.records.fields import Recording

Averaged = TypeVar("Averaged", bound=Statistics | Spectra, covariant=True)
COLUMNS = {
    "since": {"long_name": "time from which on samples count", "units": "1"},
    "samples": {"long_name": "number of samples", "units": "1"},
}


@dataclass(frozen=True)
class TimeAverages(Generic[Averaged]):
    """Statistics of samples taken at the interval `every` from the time `start`; written at the end, and at the
    interval `write`. With `afresh` each record averages the samples since the previous one.
    """

    statistics: Averaged
    start: float
    every: Every
    write: Every | None = None
    afresh: bool = False

    @property
    def single(self) -> bool:
        """True if each record has a single sample, an instantaneous one."""
        return self.afresh and self.write == self.every

    def row(self, name: str, cells: int, nbytes: int, step: float) -> Row:
        """Return the row of `taskflow check`: the bytes moved by a sample, next to the bytes of a `step`."""
        every = self.every
        often = plural(every.steps, "step") if every.steps else f"{every.time:g} of time"
        part = f", {nbytes / step / every.steps:.1%} of what the steps move" if every.steps else ""
        fields = plural(len(self.statistics.roles), "field")
        text = f"{name} of {fields}, sampled every {often}: {nbytes / cells:.0f} bytes per cell and sample{part}"
        return Row("", text, "detail")


class AverageRecorder:
    """The statistics of a run, on one block, by the trapezoidal rule.

    The first sample is the first state at or after the start, with half the interval to the next one as weight. Each
    other sample has the weight of the interval before it: half of it as its end, and as much for the following
    interval, of unknown length. A record removes that half from its last sample. With equal intervals this is the
    trapezoidal rule, otherwise of second order. The total weight is the time from `since` to `until`. `derive` computes
    averaged derived fields.
    """

    def __init__(
        self, averages: TimeAverages[Statistics | Spectra], shard: Shard, recording: Recording,
        derive: Callable[[Tick], None] = lambda now: None,
    ) -> None:  # fmt: skip
        self._averages, self._shard, self._recording, self._derive = averages, shard, recording, derive
        self.since = self.until = averages.start
        self.samples = 0
        self._weight = self._ahead = 0.0  # of all samples, and its part after the last sample

    def begin(self, now: float) -> None:
        """Start without samples at the time `now`."""
        self._shard.run(self._averages.statistics.begin)
        self.since, self.samples = max(self._averages.start, now), 0
        self.until = self.since

    def resume(self, state: Mapping[str, Any]) -> None:
        """Resume from a checkpoint, after its fields are restored. Checkpoints of earlier builds imply the weight."""
        self.since, self.until, self.samples = state["since"], state["until"], state["samples"]
        self._weight, self._ahead = state.get("weight", self.until - self.since), state.get("ahead", 0.0)

    def look(self, before: Tick, now: Tick, *, interrupted: bool) -> None:
        """Take a scheduled sample and write a scheduled record, which includes it unless `interrupted`."""
        averages = self._averages
        due = averages.write is not None and averages.write.due(before, now.step, now.time)
        ending = due or (now.finished and not interrupted)
        sampled, interval = averages.every.due(before, now.step, now.time), now.time - self.until
        if not self.samples:
            if (sampled and interval > 0) if averages.single else interval >= 0:
                self._sample(now, interval, 0.0)
        elif interval > 0 and (ending or sampled):
            self._weight += 0.0 if self._ahead else interval / 2  # of the first sample
            self._sample(now, interval, interval / 2)
        if (due or now.finished) and self.until > self.since and self._recording.last != self.until:
            behind = self._ahead if ending else 0.0
            self._add(-behind)
            self._recording.take(planned=ending, time=self.until, since=self.since, samples=self.samples)
            self._add(behind)
            if averages.afresh and ending:
                self.begin(self.until)
                if not averages.single:
                    self._sample(now, 0.0, 0.0)

    def quiet(self, now: Tick) -> Quiet:
        """Return steps and a time after `now` without a sample or a record."""
        averages = self._averages
        first = QUIET if self.samples or averages.single else Quiet(time=self.until)
        return first & averages.every.quiet(now) & (averages.write.quiet(now) if averages.write else QUIET)

    def _sample(self, now: Tick, weight: float, ahead: float) -> None:
        """Add the present state with a weight, of which `ahead` is for the following interval."""
        self._derive(now)
        if self.samples:
            self._add(weight)
        else:
            self._shard.run(self._averages.statistics.sample, **{SHARE: 1.0})
            self._weight = weight
        self._ahead, self.until, self.samples = ahead, now.time, self.samples + 1

    def _add(self, weight: float) -> None:
        """Add the present state with a weight, possibly negative."""
        if weight:
            self._weight += weight
            self._shard.run(self._averages.statistics.sample, **{SHARE: weight / self._weight})

    @property
    def state(self) -> dict[str, Any]:
        """The state for a checkpoint, without fields."""
        known = {"since": self.since, "until": self.until, "samples": self.samples}
        return {**known, "weight": self._weight, "ahead": self._ahead}


@dataclass(frozen=True, eq=False)
class AveragedSpectra:
    """Time-averaged spectra, and their group of the store."""

    series: TimeSeries
    averages: TimeAverages[Spectra]

    def values(self, shard: Shard) -> np.ndarray:
        """Return the mean power, gathered from all slabs, independent of their number."""
        spectra = self.averages.statistics
        return np.array([spectra.density(_gathered(shard, role, spectra.modes)) for role in spectra.roles])


def _gathered(shard: Shard, role: str, modes: Box) -> np.ndarray:
    """The mean power of all modes [z, y, x]."""
    home, mine = shard.partition.homes[role], shard.read(role)
    row = np.zeros(max(block.volume for block in home.blocks), mine.dtype)
    row[: mine.size] = mine.ravel()
    whole = np.empty(home.region.cells.shape[::-1])
    for block, values in zip(home.blocks, shard.gather(row), strict=True):
        whole[block.slices((0, 0, 0))] = values[: block.volume].reshape(block.shape[::-1])
    return whole[modes.slices((0, 0, 0))]


def averaged_spectra(
    case: Case, table: SpectrumTable, grid: StaggeredGrid, main: Partition, metadata: Mapping[str, FieldMetadata]
) -> AveragedSpectra:
    """Return the spectra of a table, on the blocks of `main`; `metadata` describes all fields by name."""
    spectra: Spectra
    common = table.name, table.fields or case.fields, grid, main
    if table.along == "all":
        spectra = ShellSpectra(*common, pairs=table.pairs)
    else:
        axis = "xyz".index(table.along)
        spectra = LineSpectra(*common, axis, alike(case, axis), pairs=table.pairs)
    places = {axis: (grid.coordinates("c", axis), grid.faces(axis)[: grid.cells[axis]]) for axis in spectra.resolved}
    about = table.along, places, spectra.wavenumbers
    series = TimeSeries.of_waves(
        table.name, metadata, spectra.fields, spectra.crossed, *about, case.output.precision, COLUMNS
    )
    return AveragedSpectra(series, TimeAverages(spectra, table.start, table.every, table.write, afresh=True))


def alike(case: Case, axis: int) -> tuple[int, ...]:
    """Return the homogeneous directions across an axis, over which spectra along it are averaged."""
    grid = case.staggered
    if case.obstacles:
        return ()
    return tuple(other for other in range(3) if other != axis and case.periodic[other] and grid.uniform[other])
