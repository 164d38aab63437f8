"""What is measured of a run's states, on one block: a line of the log, which block 0 writes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from taskflow.machine import Shard
from taskflow.output import Guard, RunLog, unguarded
from taskflow.simulation.build.projection import Measures
from taskflow.simulation.schedule import Tick


class StateLog:
    """The log at `path`, which is written after a call of `guard`."""

    def __init__(self, measures: Measures, shard: Shard, path: Path, guard: Guard = unguarded) -> None:
        self._measures, self._shard = measures, shard
        self._log = RunLog(path, guard) if shard.block == 0 else None
        self._unplanned = 0

    def take(self, tick: Tick, wall: float, stopped: Tick | None) -> dict[str, Any]:
        """The numbers of the present state, so many seconds after the first one; a line of the log where one is due.
        `stopped` is what would have been due where the run ends because somebody asked for it. All blocks have to call.
        """
        self._shard.run(self._measures.monitor)
        numbers = self._measures.line(self._shard.scalars, tick, wall)
        if self._log is not None and tick.monitor:
            self._log.write(numbers)
            self._unplanned = int(stopped is not None and not stopped.monitor)
        return numbers

    def insane(self, numbers: Mapping[str, Any]) -> str | None:
        """The name of one of these numbers that has to be finite and is not."""
        return next((name for name in self._measures.finite if not math.isfinite(numbers[name])), None)

    @property
    def planned(self) -> int:
        """How many lines there are without one that is only there because the run was stopped."""
        return self._log.lines - self._unplanned if self._log is not None else 0

    @property
    def checksum(self) -> int:
        """Of these lines."""
        return self._log.checksum(self.planned) if self._log is not None else 0
