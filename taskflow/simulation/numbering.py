"""Records of numbers in time, on one block: all blocks find them, block 0 writes many at once."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from taskflow.output import TimeSeries, write_time_series
from taskflow.simulation.recording import Place, Recording


class SeriesRecording(Recording):
    """Numbers that are the same on all blocks."""

    def __init__(self, place: Place, series: TimeSeries) -> None:
        super().__init__(place)
        self._series = series
        self._waiting: list[np.ndarray] = []  # of block 0: records [field, ...]

    @abstractmethod
    def _found(self) -> np.ndarray:
        """The numbers [field, ...] now. All blocks have to call it."""

    def _copy(self, index: int) -> None:
        found = self._found()
        if self.shard.block > 0:
            self.complete += 1
            return
        self._waiting.append(found)
        if len(self._waiting) >= self._series.batch:
            self.flush()

    def flush(self) -> None:
        """Have everything written that was copied."""
        if not self._waiting:
            return
        records, self._waiting = np.array(self._waiting), []
        first = len(self._records) - len(records)
        values = {name: records[:, n] for n, name in enumerate(self._series.fields)}
        place = self.place

        def write() -> None:
            place.writer.files.note(place.path.parent, write_time_series(place.path, place.group, first, values))

        self._submit(write, len(records))
