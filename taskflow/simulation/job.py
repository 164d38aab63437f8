"""The run loop, as every block runs it: step, write, log, until the clock says that it is over.

All blocks come to the same decisions, because what they decide on is folded over all of them.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.errors import RunFailed
from taskflow.flow import NavierStokes
from taskflow.machine import Control, Shard
from taskflow.output import BlockStore, RunLog, Store, Writer
from taskflow.simulation.initial import InitialFields
from taskflow.simulation.schedule import Clock, Tick

FOLDED = ("max", "min", "max")  # stop asked for, snapshots written, a block failed to write


@dataclass(frozen=True)
class FlowJob:
    """The control program of a case. Picklable; every block gets the same one."""

    model: NavierStokes
    clock: Clock
    initial: InitialFields
    fields: tuple[str, ...]
    directory: Path
    steady: float | None = None

    def __call__(self, shard: Shard, control: Control) -> None:
        """Run the case on one block. Raises RunFailed where the flow diverges or the output cannot be written."""
        loop = Loop(self, shard, control)
        try:
            loop.run()
        finally:
            loop.close()


@dataclass(eq=False)
class Loop:
    """A run in progress on one block; block 0 keeps the log and makes snapshots visible."""

    job: FlowJob
    shard: Shard
    control: Control
    times: list[float] = field(default_factory=list)  # of the snapshots handed to the writer

    def __post_init__(self) -> None:
        job, first = self.job, self.shard.block == 0
        self.model, self.clock = job.model, job.clock
        self.output = BlockStore(job.directory / "fields.zarr", self.shard.cells)
        self.store = Store(job.directory / "fields.zarr") if first else None
        self.log = RunLog(job.directory / "log.jsonl") if first else None
        self.writer = Writer()
        self.numbers: dict[str, Any] = {}

    def run(self) -> None:
        """From the initial fields to the end."""
        shard, model = self.shard, self.model
        self.job.initial.fill(shard, model)
        shard.run(model.start, dt=1.0)
        tick = self.clock.start()
        shard.run(model.limits)
        began = time.perf_counter()
        self._after(tick, 0.0)
        while not tick.finished:
            tick = self.clock.advance(tick, shard.scalars["rate"])
            shard.run(model.step, dt=tick.dt, ratio=tick.ratio)
            tick = self._stopped(tick)
            self._after(tick, time.perf_counter() - began)
        shard.synchronize()
        self._report(tick, time.perf_counter() - began)
        self.writer.drain()

    def close(self) -> None:
        """Write what was handed over, and say how much that is."""
        self.writer.close()
        self.control.report(**{**self.control.progress, "written": self.writer.written, "times": tuple(self.times)})

    def _stopped(self, tick: Tick) -> Tick:
        """The tick, made the last one where somebody asked for it; snapshots that all blocks have written become visible."""
        stop, written, failed = self.shard.allreduce(
            [self.control.stop, self.writer.written, self.writer.failure is not None], FOLDED
        )
        if failed:
            raise RunFailed(f"writing the output failed: {self.writer.failure or 'on another block'}")
        if self.store is not None:
            while len(self.store.times) < written:
                self.store.commit(len(self.store.times), self.times[len(self.store.times)])
        return tick.last() if stop else tick

    def _after(self, tick: Tick, wall: float) -> None:
        """What is due at a moment: a look at the flow, a line in the log, a snapshot."""
        if tick.monitor:
            tick = self._monitor(tick, wall)
        if tick.output:
            self._snapshot(tick.time)
        self._report(tick, wall)
