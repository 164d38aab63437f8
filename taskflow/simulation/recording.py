"""Records of a run, such as snapshots, on one block: copied out of the fields between two steps, written meanwhile."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from taskflow.machine import Shard
from taskflow.output import BlockStore, Store, Writer

STORE = "fields.zarr"
SNAPSHOTS, STATISTICS = "", "statistics"  # groups of the store


@dataclass(frozen=True)
class Told:
    """What the client has to know of a block's records to make visible what is left at the end: the numbers of each,
    its time among them, and how many the block has written.
    """

    records: tuple[Mapping[str, float], ...]
    complete: int


class Recording:
    """The part of one block in a group of the store; block 0 makes records visible. `times` are those of the records of
    before.
    """

    def __init__(self, path: Path, group: str, shard: Shard, writer: Writer, times: Iterable[float] = ()) -> None:
        self._shard, self._writer = shard, writer
        self._output = BlockStore(path, shard.cells, group)
        self._store = Store(path, group) if shard.block == 0 else None
        self._records: list[Mapping[str, float]] = [{"time": time} for time in times]
        self._unplanned = 0
        self.complete = len(self._records)

    def take(self, *, planned: bool = True, **about: float) -> None:
        """Hand the present fields over to be written, with numbers that belong to them, their time among them. Waits
        while two records are still being written. All blocks have to call it.

        A record that is not `planned` is only there because the run was stopped, and is the last one.
        """
        index = len(self._records)
        self._writer.reserve()
        if self._store is not None:
            self._store.grow(index + 1)
        values = {name: self._shard.read(name, box) for name, box in self._output.boxes.items()}
        self._shard.meet()  # who allocates may have to wait for all GPUs of a process: none goes on
        self._records.append(about)
        self._unplanned = 0 if planned else 1

        def write() -> None:
            self._output.write(index, values)
            self.complete += 1

        self._writer.submit(write)

    def commit(self, complete: int) -> None:
        """Make visible what all blocks have written: so many records."""
        if self._store is not None:
            for index in range(len(self._store.times), complete):
                self._store.commit(index, **self._records[index])

    @property
    def planned(self) -> int:
        """How many there are without one that is only there because the run was stopped."""
        return len(self._records) - self._unplanned

    @property
    def visible(self) -> int:
        """How many are visible, as far as this block knows."""
        return len(self._store.times) if self._store is not None else 0

    @property
    def last(self) -> float | None:
        """The time of the last one."""
        return self._records[-1]["time"] if self._records else None

    @property
    def told(self) -> Told:
        """What the client has to know."""
        return Told(tuple(self._records), self.complete)


def finish(path: Path, group: str, blocks: Iterable[Told]) -> int:
    """Make the records of a group visible that every block has written, and drop the room for others; how many there
    are then.
    """
    store, told = Store(path, group), list(blocks)
    records = max((each.records for each in told), key=len, default=())
    complete = min((each.complete for each in told), default=0)
    for index in range(len(store.times), min(complete, len(records))):
        store.commit(index, **records[index])
    store.finish()
    return len(store.times)
