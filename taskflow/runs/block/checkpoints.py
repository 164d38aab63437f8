"""The start of a run on one block, from initial fields or a checkpoint; and its checkpoints, which are copied out of
the fields between two steps and written while the run continues.
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
from taskflow.runs.state.setup import BlockSpec, RunSetup
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Cells
from taskflow.systems.initial.fields import InitialFields

Counts = Mapping[str, int]  # of records, by group of the store
Values = tuple[str, Box, np.ndarray]  # a role, cells, and values of these


@dataclass(frozen=True)
class CheckpointPolicy:
    """The folder of a run's checkpoints, their content and number.

    - `token`: a name unique to this run
    - `hosts`: the number of the host of each block, empty if each is alone
    - `cells`: the cells that determine the further run, by role
    - `keep`: the number of checkpoints kept
    - `minutes`: wall-clock interval, in addition to the clock's schedule
    - `guard`: called before anything is written
    - `checkpoint_defaults`: scalars that states of earlier builds lack, with their values
    """

    folder: Path
    token: str
    cells: Cells
    keep: int
    minutes: float | None = None
    guard: Guard = unguarded
    checkpoint_defaults: Mapping[str, float] = field(default_factory=dict)
    hosts: tuple[int, ...] = ()

    @classmethod
    def of(cls, sim: RunSetup, directory: Path, run: str, guard: Guard = unguarded) -> CheckpointPolicy:
        """Return the policy of a case. `run` ends in a unique name after a hyphen."""
        table = sim.case.checkpoint
        minutes = table.every.minutes if table.every else None
        folder = directory.absolute() / CHECKPOINTS
        defaults = sim.model.checkpoint_defaults
        return cls(folder, run.rpartition("-")[2], sim.carried, table.keep, minutes, guard, defaults, sim.hosts)

    @property
    def checkpoints(self) -> Checkpoints:
        return Checkpoints(self.folder, self.token, self.hosts)


class CheckpointWriter:
    """Checkpoints of one block. At most one is being written: the run waits if the next is scheduled before."""

    def __init__(self, policy: CheckpointPolicy, shard: Shard) -> None:
        self._policy, self._shard = policy, shard
        self.writer = Writer(depth=1, before=policy.guard)
        self._taken: list[tuple[int, Counts]] = []  # step, and its number of records in each group
        self._committed = 0
        self._last = time.perf_counter()

    @property
    def due(self) -> bool:
        """True if the wall clock schedules a checkpoint."""
        minutes = self._policy.minutes
        return minutes is not None and time.perf_counter() - self._last >= 60 * minutes

    @property
    def last(self) -> int | None:
        """The step of the last checkpoint taken, or None."""
        return self._taken[-1][0] if self._taken else None

    @property
    def status(self) -> dict[str, Any]:
        """The status from which the client commits remaining checkpoints at the end."""
        return {"taken": tuple(self._taken), "saved": self.writer.written, "committed": self._committed}

    def take(
        self, step: int, records: Counts, state: Mapping[str, Any], stored: Callable[[], Mapping[str, Any]] = dict,
        beside: Callable[[], Iterable[Values]] = tuple,
    ) -> None:  # fmt: skip
        """Copy the present state to be written, with values held `beside` fields, and the result of `stored`, which is
        called after all records of this block are on disk. Waits while the last one is written. Collective.
        """
        policy, shard = self._policy, self._shard
        self._last = time.perf_counter()
        if policy.keep == 0:
            return
        self.writer.reserve()
        values = deque(held(shard, policy.cells, replicas=False))
        values.extend((role, box, partial(np.asarray, state)) for role, box, state in beside() if box)
        shard.meet(self.writer.patience)  # an allocation may have to wait for all GPUs of a process: none continues
        self._taken.append((step, records))

        def write() -> None:
            mine = {**state, "store": stored()}
            policy.checkpoints.write(step, shard.block, _fetched(values), mine if shard.block == 0 else None)

        self.writer.submit(write)

    def commit(self, saved: int, visible: Counts, sync: Callable[[], None]) -> None:
        """Commit checkpoints written by all blocks, once earlier records are visible and `sync` has flushed them."""
        for step, needed in self._taken[self._committed : saved]:
            if not _covered(needed, visible):
                return
            self._policy.guard()
            sync()
            self._policy.checkpoints.commit(step, self._policy.keep)
            self._committed += 1


def _fetched(values: deque[Held]) -> Iterator[Values]:
    """Fetch the parts sequentially into host memory, which cannot hold all."""
    while values:
        role, part, fetch = values.popleft()
        yield role, part, fetch()


def finish(policy: CheckpointPolicy, blocks: Sequence[Mapping[str, Any]], visible: Counts) -> None:
    """Commit checkpoints written by all blocks but not committed, from their last status."""
    taken, committed = blocks[0].get("taken", ()), blocks[0].get("committed", 0)
    saved = min(block.get("saved", 0) for block in blocks)
    for step, needed in taken[committed:saved]:
        if _covered(needed, visible):
            policy.checkpoints.commit(step, policy.keep)


def _covered(needed: Counts, visible: Counts) -> bool:
    return all(count <= visible[group] for group, count in needed.items())


def restore(checkpoint: Checkpoint, policy: CheckpointPolicy, shard: Shard) -> None:
    """Set fields and scalars to a checkpoint's values. Cells that it lacks, outside the domain, are unchanged."""
    for role in policy.cells:
        owned = shard.partition.homes[role].own_of(shard.block, role)
        shard.write_parts([role], ((box, {role: _restored(checkpoint, shard, role, box)}) for box in owned))
    shard.scalars.set({**policy.checkpoint_defaults, **checkpoint.state["scalars"]})


def _restored(checkpoint: Checkpoint, shard: Shard, role: str, box: Box) -> np.ndarray:
    values = shard.read(role, box)
    checkpoint.fill(role, values, box)
    return values


@dataclass(frozen=True)
class RunStart:
    """The start of a run, from its initial fields or a checkpoint, with its checkpoint policy. Picklable; identical on
    every block.

    - `cautioned`: a warning that steps may be too long was already given
    - `copying`: the blocks that measure the copy bandwidth, with the cores that they use for it
    """

    spec: BlockSpec
    initial: InitialFields
    policy: CheckpointPolicy
    resumed: RestartPoint | None = None
    profile: Window | None = None
    cautioned: bool = False
    copying: Mapping[int, int] = field(default_factory=dict)

    def fill(self, shard: Shard) -> None:
        """Write constant fields, and initial fields or, on restart, `Model.prepare`, while kernels are compiled."""
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
        """Restore another run's state or sums after the start program. Returns the last step's length, 0 if none."""
        initial = self.initial
        if initial.checkpoint is not None:
            restore(initial.checkpoint, self.policy, shard)
            return float(initial.checkpoint.state["dt"])
        if initial.unchanged:
            initial.fill(shard)
            shard.run(self.spec.model.after_overwrite)
        elif initial.sums:
            initial.fill(shard, initial.sums)
            shard.run(self.spec.model.restore_sums)
        return 0.0
