"""Averages over a run: when samples are taken, what each weighs, when means, covariances and spectra are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from taskflow.flow.spectra import Spectra
from taskflow.flow.statistics import SHARE, Statistics
from taskflow.machine import Shard
from taskflow.simulation.recording import Recording
from taskflow.simulation.schedule import Every, Tick

Averaged = TypeVar("Averaged", bound=Statistics | Spectra, covariant=True)
COLUMNS = {
    "since": {"long_name": "time from which on samples count", "units": "1"},
    "samples": {"long_name": "number of samples", "units": "1"},
}


@dataclass(frozen=True)
class Averages(Generic[Averaged]):
    """Statistics of samples that are taken `every` so often from the time `start` on; written at the end, and whenever
    `write` says. With `afresh` each record is of the samples since the one before.
    """

    statistics: Averaged
    start: float
    every: Every
    write: Every | None = None
    afresh: bool = False


class Averaging:
    """The statistics of a run, on one block.

    A sample stands for the time since the one before, the first one for that since the averaging began: so the weight
    of all is the time from `since` to `until`.
    """

    def __init__(self, averages: Averages[Statistics | Spectra], shard: Shard, recording: Recording) -> None:
        self._averages, self._shard, self._recording = averages, shard, recording
        self.since = self.until = averages.start
        self.samples = 0

    def begin(self, now: float) -> None:
        """Without samples, at the time `now`."""
        self._shard.run(self._averages.statistics.begin)
        self.since, self.samples = max(self._averages.start, now), 0
        self.until = self.since

    def go_on(self, state: Mapping[str, Any]) -> None:
        """From the state of a checkpoint, whose fields are there already."""
        self.since, self.until, self.samples = state["since"], state["until"], state["samples"]

    def look(self, before: Tick, now: Tick, *, interrupted: bool) -> None:
        """Take a sample and write a record where they are due."""
        averages = self._averages
        if now.time > self.since and averages.every.due(before, now.step, now.time):
            share = (now.time - self.until) / (now.time - self.since)
            self._shard.run(averages.statistics.sample, **{SHARE: share})
            self.until, self.samples = now.time, self.samples + 1
        due = averages.write is not None and averages.write.due(before, now.step, now.time)
        if (due or now.finished) and self.samples and self._recording.last != self.until:
            planned = due or not interrupted
            self._recording.take(planned=planned, time=self.until, since=self.since, samples=self.samples)
            if averages.afresh and planned:
                self.begin(self.until)

    @property
    def state(self) -> dict[str, Any]:
        """What a checkpoint has to hold besides fields."""
        return {"since": self.since, "until": self.until, "samples": self.samples}
