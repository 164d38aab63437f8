"""The beginning of a run on one block, with initial fields or a checkpoint; and its checkpoints, which are copied out
of the fields between two steps and written while the run goes on.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.output import CHECKPOINTS, Checkpoint, Checkpoints, Guard, Writer, unguarded
from taskflow.runs.block.profiling import Window
from taskflow.runs.block.savepoint import Held, held
from taskflow.runs.state.restart import RestartPoint
from taskflow.runs.state.setup import BlockSpec, SimulationSetup
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Cells
from taskflow.systems.initial.fields import InitialFields

Counts = Mapping[str, int]  # of records, by group of the store
Values = tuple[str, Box, np.ndarray]  # a role, cells, and values of these


@dataclass(frozen=True)
class CheckpointPolicy:
    """The folder of a run's checkpoints, what they hold, and how many stay; `token` is a name for this run alone.

    `cells` are those that decide all that the model will do, by role. Besides what the clock says one is due after so
    many `minutes`. `guard` is called before anything is written. `added` are scalars that a state of an earlier build
    lacks, with their values.
    """

    folder: Path
    token: str
    cells: Cells
    keep: int
    minutes: float | None = None
    guard: Guard = unguarded
    added: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, sim: SimulationSetup, directory: Path, run: str, guard: Guard = unguarded) -> CheckpointPolicy:
        """The policy of a case. `run` ends in the name that no other run has, behind a hyphen."""
        table = sim.case.checkpoint
        minutes = table.every.minutes if table.every else None
        folder = directory.absolute() / CHECKPOINTS
        return cls(folder, run.rpartition("-")[2], sim.carried, table.keep, minutes, guard, sim.model.added)

    @property
    def checkpoints(self) -> Checkpoints:
        return Checkpoints(self.folder, self.token)


class CheckpointWriter:
    """The part of one block. One checkpoint at most is being written: where the next one is due, the run waits."""

    def __init__(self, policy: CheckpointPolicy, shard: Shard) -> None:
        self._policy, self._shard = policy, shard
        self.writer = Writer(depth=1, before=policy.guard)
        self._taken: list[tuple[int, Counts]] = []  # step, and how many records of each group belong to it
        self._committed = 0
        self._last = time.perf_counter()

    @property
    def due(self) -> bool:
        """Return whether the wall clock wants one now."""
        minutes = self._policy.minutes
        return minutes is not None and time.perf_counter() - self._last >= 60 * minutes

    @property
    def last(self) -> int | None:
        """The step of the last checkpoint that was taken; None before the first one."""
        return self._taken[-1][0] if self._taken else None

    @property
    def status(self) -> dict[str, Any]:
        """The status from which the client commits what is left at the end."""
        return {"taken": tuple(self._taken), "saved": self.writer.written, "committed": self._committed}

    def take(
        self, step: int, records: Counts, state: Mapping[str, Any], stored: Callable[[], Mapping[str, Any]] = dict,
        beside: Callable[[], Iterable[Values]] = tuple,
    ) -> None:  # fmt: skip
        """Hand the present state over to be written, with what is held `beside` fields, and what `stored` tells when it
        is called: that the disk has all records of this block. Waits while the last one is written. All blocks have to
        call it.
        """
        policy, shard = self._policy, self._shard
        self._last = time.perf_counter()
        if policy.keep == 0:
            return
        self.writer.reserve()
        values = deque(held(shard, policy.cells, replicas=False))
        values.extend((role, box, partial(np.asarray, state)) for role, box, state in beside() if box)
        shard.meet(self.writer.patience)  # who allocates may have to wait for all GPUs of a process: none goes on
        self._taken.append((step, records))

        def write() -> None:
            mine = {**state, "store": stored()}
            policy.checkpoints.write(step, shard.block, _fetched(values), mine if shard.block == 0 else None)

        self.writer.submit(write)

    def commit(self, saved: int, visible: Counts, sync: Callable[[], None]) -> None:
        """Commit the checkpoints that all blocks have written, once all records of before are visible, and `sync` has
        made the disk have what makes them so.
        """
        for step, needed in self._taken[self._committed : saved]:
            if not _covered(needed, visible):
                return
            self._policy.guard()
            sync()
            self._policy.checkpoints.commit(step, self._policy.keep)
            self._committed += 1


def _fetched(values: deque[Held]) -> Iterator[Values]:
    """Fetch the parts one after the other into host memory, which has no room for all."""
    while values:
        role, part, fetch = values.popleft()
        yield role, part, fetch()


def finish(policy: CheckpointPolicy, blocks: Sequence[Mapping[str, Any]], visible: Counts) -> None:
    """Commit what all blocks have written and none committed, from what they told last."""
    taken, committed = blocks[0].get("taken", ()), blocks[0].get("committed", 0)
    saved = min(block.get("saved", 0) for block in blocks)
    for step, needed in taken[committed:saved]:
        if _covered(needed, visible):
            policy.checkpoints.commit(step, policy.keep)


def _covered(needed: Counts, visible: Counts) -> bool:
    """Return whether as many records as needed are visible in every group."""
    return all(count <= visible[group] for group, count in needed.items())


def restore(checkpoint: Checkpoint, policy: CheckpointPolicy, shard: Shard) -> None:
    """Give fields and scalars the values of a checkpoint. Cells beyond the domain that it does not have stay as they
    are: whoever wrote it had no use for them.
    """
    for role in policy.cells:
        owned = shard.partition.homes[role].own_of(shard.block, role)
        shard.write_parts([role], ((box, {role: _restored(checkpoint, shard, role, box)}) for box in owned))
    shard.scalars.set({**policy.added, **checkpoint.state["scalars"]})


def _restored(checkpoint: Checkpoint, shard: Shard, role: str, box: Box) -> np.ndarray:
    values = shard.read(role, box)
    checkpoint.fill(role, values, box)
    return values


@dataclass(frozen=True)
class Beginning:
    """The beginning of a run, with its initial fields or a checkpoint, in the directory of its checkpoints. Picklable;
    every block gets the same one. `cautioned`: it has been said that its steps may be too long.
    """

    spec: BlockSpec
    initial: InitialFields
    policy: CheckpointPolicy
    resumed: RestartPoint | None = None
    profile: Window | None = None
    cautioned: bool = False

    def fill(self, shard: Shard) -> None:
        """Write initial fields, where the run begins with them, and constant ones, while its kernels are compiled; on
        resumption also those that follow from constant ones.
        """
        with ThreadPoolExecutor(1, "taskflow-prepare") as pool:
            prepared = pool.submit(shard.prepare, self.spec.programs)
            if self.resumed is None:
                self.initial.fill(shard)
            if self.spec.constants is not None:
                self.spec.constants.fill(shard)
            prepared.result()
        if self.resumed is not None:
            shard.run(self.spec.model.prepare)

    def take_over(self, shard: Shard) -> float:
        """Have a state that is taken from elsewhere to the bit, or sums of it, once the program of the start, which
        projects the velocity, has run; the length of the step before, 0 where there is none.
        """
        initial = self.initial
        if initial.checkpoint is not None:
            restore(initial.checkpoint, self.policy, shard)
            return float(initial.checkpoint.state["dt"])
        if initial.kept:
            initial.fill(shard)
            shard.run(self.spec.model.taken)
        elif initial.sums:
            initial.fill(shard, initial.sums)
            shard.run(self.spec.model.summed)
        return 0.0
