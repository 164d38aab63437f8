"""Records of a run, such as snapshots, on one block: copied out of the fields between two steps, and written meanwhile.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np

from taskflow.cases.timing.intervals import Every
from taskflow.common.caching import cached_property
from taskflow.output import BlockStore, Guard, Store, Writer, sum_of_group, sum_of_times, unguarded
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box

Computed = Callable[[float, Box], np.ndarray]
SNAPSHOTS, STATISTICS = "", "statistics"  # groups of the store


@dataclass(frozen=True)
class WriteStatus:
    """Records of a block, for the client: the numbers of each, with its time, and the count of written ones."""

    records: tuple[Mapping[str, float], ...]
    complete: int


@dataclass(frozen=True)
class PlaneLayers:
    """The layers of cells of a plane, in the index space of all cells, and their recording interval."""

    cells: tuple[Box, ...]
    every: Every


@dataclass(frozen=True)
class GroupPlace:
    """A group of the store, for records after `times`. `guard` is called before the store is changed, `token` is unique
    to this run.
    """

    path: Path
    group: str
    shard: Shard
    writer: Writer
    times: Iterable[float] = ()
    guard: Guard = unguarded
    token: str = ""


class Recording(ABC):
    """One block's part of a group of the store. Block 0 makes records visible."""

    def __init__(self, place: GroupPlace) -> None:
        self.place, self.shard = place, place.shard
        self._store = Store(place.path, place.group) if place.shard.block == 0 else None
        self._records: list[Mapping[str, float]] = [{"time": time} for time in place.times]
        self._unplanned = 0
        self._summed = 0, 0  # records, and the checksum of their times
        self.complete = len(self._records)

    def take(self, *, planned: bool = True, **about: float) -> None:
        """Copy the present fields to be written, with their numbers, including the time. Waits while two records are
        unwritten. Collective.

        A record that is not `planned` is the last one, taken only because the run was stopped.
        """
        index = len(self._records)
        if self._store is not None:
            self.place.guard()
            if index + 1 > self._store.capacity:
                self.place.writer.settle()  # growing changes chunks that it may be writing
                self._store.grow(index + 1)
        self._records.append(about)
        self._copy(index)
        self._unplanned = 0 if planned else 1

    @abstractmethod
    def _copy(self, index: int) -> None:
        """Copy the block's part of record `index` out of the fields, to be written soon."""

    def flush(self) -> None:  # noqa: B027  copies may be written immediately
        """Write all copied records."""

    def _submit(self, write: Callable[[], None], count: int) -> None:

        def job() -> None:
            write()
            self.complete += count

        self.place.writer.submit(job)

    def commit(self, complete: int) -> None:
        """Make the first `complete` records visible, which all blocks have written."""
        if self._store is not None:
            for index in range(len(self._store.times), complete):
                self.place.guard()
                self._store.commit(index, **self._records[index])

    def sync(self) -> None:
        """Flush the index of visible records to disk, without the records."""
        if self._store is not None:
            self._store.sync()

    @property
    def planned(self) -> int:
        """The number of records, except one taken only because the run was stopped."""
        return len(self._records) - self._unplanned

    @property
    def sum_of_times(self) -> int:
        """The checksum of the times of planned records."""
        known, crc = self._summed
        crc = sum_of_times((record["time"] for record in self._records[known : self.planned]), crc)
        self._summed = self.planned, crc
        return crc

    @cached_property
    def fixed(self) -> int:
        """The checksum of the constant part of the group."""
        return sum_of_group(self.place.path, self.place.group)

    @property
    def visible(self) -> int:
        """The number of visible records known to this block."""
        return len(self._store.times) if self._store is not None else 0

    @property
    def last(self) -> float | None:
        """The time of the last record, or None."""
        return self._records[-1]["time"] if self._records else None

    @property
    def status(self) -> WriteStatus:
        return WriteStatus(tuple(self._records), self.complete)


class FieldRecording(Recording):
    """Fields in all cells or in `layers`. Every block writes its part. Some are `computed` from the time."""

    def __init__(
        self, place: GroupPlace, layers: Sequence[Box] = (), computed: Mapping[str, Computed] = MappingProxyType({})
    ) -> None:
        super().__init__(place)
        partition, files = place.shard.partition, place.writer.files
        charts, cells = layers or partition.region.charts, partition.cells_of(place.shard.block)
        self._computed = computed
        self._output = BlockStore(
            place.path, charts, cells, place.group, files=files, guard=place.guard, token=place.token
        )

    def _copy(self, index: int) -> None:
        self.place.writer.reserve()
        time, output = self._records[index]["time"], self._output
        held = {part: self._held(part.field, part.box, time) for part in output.parts}
        # An allocation may have to wait for all GPUs of a process: none continues.
        self.shard.meet(self.place.writer.patience)
        self._submit(lambda: output.write(index, held), 1)

    def _held(self, field: str, box: Box, time: float) -> Callable[[], np.ndarray]:
        """Return a function for the present values of a field in a box."""
        if field in self._computed:
            return partial(self._computed[field], time, box)
        return self.shard.hold(field, box)


def complete(store: Store, statuses: Sequence[WriteStatus]) -> int:
    """Make the records of a group visible that every block has written; return their number."""
    records = max((status.records for status in statuses), key=len, default=())
    written = min((status.complete for status in statuses), default=0)
    for index in range(len(store.times), min(written, len(records))):
        store.commit(index, **records[index])
    store.sync()
    return len(store.times)
