"""Statistics of a run: when samples are taken, what each weighs, when means and covariances are written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from taskflow.flow.statistics import SHARE, Statistics
from taskflow.machine import Shard
from taskflow.simulation.recording import Recording
from taskflow.simulation.schedule import Every, Tick

COLUMNS = {
    "since": {"long_name": "time from which on samples count", "units": "1"},
    "samples": {"long_name": "number of samples", "units": "1"},
}


@dataclass(frozen=True)
class Averages:
    """Statistics of samples that are taken `every` so often from the time `start` on; written at the end, and whenever
    `write` says.
    """

    statistics: Statistics
    start: float
    every: Every
    write: Every | None = None


class Averaging:
    """The statistics of a run, on one block.

    A sample stands for the time since the one before, the first one for that since the averaging began: so the weight
    of all is the time from `since` to `until`.
    """

    def __init__(self, averages: Averages, shard: Shard, recording: Recording) -> None:
        self._averages, self._shard, self._recording = averages, shard, recording
        self.since = self.until = averages.start
        self.samples = 0

    def begin(self, now: float) -> None:
        """Without samples, at the time `now`."""
        self._shard.run(self._averages.statistics.begin)
        self.since = self.until = max(self._averages.start, now)

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

    @property
    def state(self) -> dict[str, Any]:
        """What a checkpoint has to hold besides fields."""
        return {"since": self.since, "until": self.until, "samples": self.samples}
