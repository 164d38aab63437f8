"""The run loop on every block: step, look, write, until the end of the clock.

All blocks decide identically, as decisions use values reduced over all of them. A paused loop stays on its block,
between a step and its records, which include changes made during the pause.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import reduce
from operator import and_
from typing import Any

from taskflow.cases.timing.intervals import Quiet, Tick
from taskflow.cases.timing.schedule import HERE, NEVER
from taskflow.common.errors import RunFailed
from taskflow.runs.block.batch import StepBatches
from taskflow.runs.block.checkpoints import RunStart
from taskflow.runs.block.parts import RunParts
from taskflow.runs.state.restart import RestartPoint
from taskflow.runtime.machine import Control, Shard, known_copy_bandwidth
from taskflow.runtime.machine.device import open_device

# stop asked for, writing failed, checkpoints written, checkpoint due, seconds of steps; then records written, by group
FOLDED = ("max", "max", "min", "max", "max")
# Clocks by which steps are judged. On cores waits do not count: they last longer the more blocks share a core.
BUSY = {"cpu": time.thread_time, "gpu": time.perf_counter}
WORTH = 10.0  # seconds of a loop whose speed is compared with the copy bandwidth


class RunLoop(RunParts):
    """A run in progress on one block. Block 0 keeps the log and makes snapshots visible."""

    def __init__(self, job: RunStart, shard: Shard, control: Control) -> None:
        super().__init__(job, shard, control)
        self._busy = BUSY[shard.device.kind]
        self.batches = StepBatches(self.spec, shard, self.stepping, self.checks, self.settings.values)
        self.ended = "end"  # or steady, or stalled, or interrupted
        self.stopped: Tick | None = None  # the tick scheduled before a request to stop
        self.pause = NEVER  # the end of the present advance
        self.now = self.clock.start()  # where it stands
        self.before: Tick | None = None  # the previous tick, if records scheduled now are pending

    def begin(self) -> None:
        """Set the first tick: from the initial fields, or from a checkpoint."""
        if self.job.resumed is not None:
            self.now = self._resumed(self.job.resumed)
        else:
            self.now = self.start()
            self._look(self.now, self.now)

    def _resumed(self, resumed: RestartPoint) -> Tick:
        self.resume(resumed)
        self.ended = (resumed.tick.finished and resumed.checkpoint.state["ended"]) or "end"
        self._report(resumed.tick)
        return replace(resumed.tick, output=True, monitor=True)  # as far as they were due they are there

    def step(self) -> None:
        """Take a step, after a batch of steps between which nothing is due."""
        began, first = self._busy(), self.now.step
        self.profiling.at(first)
        self.sanity.moves(self.now)
        if self.profiling.window is None and self.batches.ready():
            self._batch()
        before = self.now
        tick = self.stepping.planned(before)
        self.batches.agrees(tick)
        self.progress.warn(*self.checks.of_step(tick))
        tick = self._judged(self._corrected(self.stepping.take(before, tick), before), before)
        self.progress.count(self.shard.scalars)
        self.now, self.before = self._agreed(tick, self._busy() - began, tick.step - first), before

    def _batch(self) -> None:
        now, pause = self.now, self.pause
        quiet = self.clock.quiet(now) & self.records.quiet(now) & Quiet(pause.step - now.step - 1, pause.time)
        quiet = quiet & self.settling.quiet(now) if self.settling else quiet
        quiet = reduce(and_, (correction.every.quiet(now) for correction in self.spec.corrections), quiet)
        if size := self.batches.size(quiet, now):
            steps, self.now, counted = self.batches.advance(now, size, quiet.time)
            if steps:
                self.progress.count(counted)
            self.sanity.moves(self.now)

    def record(self) -> None:
        """Write the scheduled records and checkpoint, unless already done."""
        if self.before is not None:
            self._look(self.now, self.before)
            if self.now.checkpoint or self.now.finished:
                self._checkpoint(self.now)
            self.before = None

    def keep(self) -> None:
        """Write a checkpoint of the present state, after scheduled records; return when it is on disk."""
        if self.before is not None:
            self.now = replace(self.now, checkpoint=True)
            self.record()
        else:
            again = replace(self.now, output=False, monitor=False, checkpoint=True)
            self._look(again, self.now)
            self._checkpoint(again)
        self.records.writer.drain()
        self.saving.writer.drain()
        self._commit(*self.shard.allreduce((self.saving.writer.written, *self.records.complete), "min"))

    def end(self) -> None:
        """Make the present tick the last one, as after a request to stop."""
        now = self.now
        if now.finished:
            return
        self.ended, self.stopped, self.now = "interrupted", now, now.last()
        if self.before is None:  # scheduled records are already written
            self.before, self.stopped = now, replace(now, output=False, monitor=False)
            self.now = replace(self.now, output=not now.output, monitor=not now.monitor)

    def complete(self) -> None:
        """Finish the run: write all data and report the end."""
        shard, progress = self.shard, self.progress
        progress.warn(*self.checks.of_step(self.now))  # of a last step that is fixed and too long
        if self.settling is not None and self.ended == "end" and self.settling.shortfall is not None:
            progress.warn(self.settling.shortfall)
        self.profiling.end()
        shard.synchronize()
        seconds = progress.seconds
        rounds = {name: total / max(self.now.step, 1) for name, total in progress.iterations.items()}
        rates = self.settling.rates if self.settling else {}
        progress.warn(*self.records.warnings)
        progress.report(seconds=seconds, ended=self.ended, rounds=rounds, rates=rates)
        self.records.drain()
        self.saving.writer.drain()
        shard.meet(self.saving.writer.patience)
        progress.report(overlap=shard.overlap)
        (longest,) = shard.allreduce((seconds,), "max")
        if longest >= WORTH and (cores := self.job.copying.get(shard.block)):
            device = open_device("cpu", cores) if shard.device.kind == "cpu" else shard.device
            progress.report(copy_bandwidth=known_copy_bandwidth(device))

    def close(self) -> None:
        """End writing, and report the number of written records."""
        self.records.close()
        self.saving.writer.close()
        self.progress.report(**self.written)

    def _corrected(self, tick: Tick, before: Tick) -> Tick:
        """Return the tick, after the corrections that are due."""
        for correction in self.spec.corrections:
            if correction.every.due(before, tick.step, tick.time):
                correction.apply(self.shard)
        return tick

    def _judged(self, tick: Tick, before: Tick) -> Tick:
        """Return the tick, made the last one in a steady state."""
        ended = self.settling.look(before, tick) if self.settling else None
        if self.settling is not None and self.settling.not_finite is not None:
            why = self.sanity.failure(tick, f"the residual of {self.settling.not_finite} is not finite: ")
            kept = self.saving.last
            raise RunFailed(f"{why}; the last checkpoint is at step {kept}" if kept is not None else f"{why}")
        if self.settling is not None and self.settling.concern is not None:
            self.progress.warn(self.settling.concern)
        if ended is None:
            return tick
        self.ended = ended
        return tick.last()

    def _agreed(self, tick: Tick, seconds: float, steps: int) -> Tick:
        """Return the tick after some `steps`, which took `seconds` of this block.

        It is the last one on request, unless the run pauses then, and has a checkpoint if the wall clock schedules one.
        Makes records and checkpoints visible that all blocks have written. Raises RunFailed if a block cannot write.
        """
        saving, records = self.saving, self.records
        failure, complete = records.writer.failure or saving.writer.failure, records.complete
        late = self.progress.control.stop or self.pause.late
        mine = (late, failure is not None, saving.writer.written, saving.due, seconds)
        how = (*FOLDED, *("min" for _ in complete))
        stop, failed, saved, due, seconds, *written = self.shard.allreduce((*mine, *complete), how)
        if failed:
            while failure is None:  # wait until the failing block raises its error, which ends this
                self.shard.allreduce((0.0,), ("max",))
            raise RunFailed(f"writing the output failed: {failure}")
        self._commit(saved, *written)
        self.batches.note(seconds, steps)
        if stop and self.pause.stays:
            self.pause = HERE
        elif stop and not tick.finished:
            self.ended, self.stopped = "interrupted", tick
            tick = tick.last()
        return replace(tick, checkpoint=True) if due else tick

    def _commit(self, saved: float, *written: float) -> None:
        """Make visible the checkpoints and records of each group that all blocks have written."""
        self.records.commit(written)
        if self.shard.block == 0:
            self.saving.commit(int(saved), self.records.visible, self.records.sync)

    def _look(self, tick: Tick, before: Tick) -> None:
        """Do everything scheduled now and not at `before`: a line in the log, a snapshot, a sample."""
        numbers: dict[str, Any] = {}
        if tick.monitor or tick.checkpoint:  # a state that is not finite is no checkpoint
            numbers = self.measuring.take(tick, self.progress.seconds, self.stopped)
            self.progress.warn(*self.checks.of_numbers(tick, numbers, self.measuring.not_finite(numbers)))
        elif tick.output:
            self.sanity.moves(tick)
        self.records.take(before, tick, self.stopped)
        self._report(tick, **numbers)

    def _checkpoint(self, tick: Tick) -> None:
        self.save(tick, self.ended if tick.finished and self.stopped is None else None)
        self._report(tick)

    def _report(self, tick: Tick, **numbers: Any) -> None:
        now = {"step": tick.step, "time": tick.time, "dt": tick.dt, "share": self.clock.progress(tick)}
        self.progress.report(**{**numbers, **now, **self.written, "seconds": self.progress.seconds})
