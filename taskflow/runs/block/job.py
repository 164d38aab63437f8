"""The run loop on every block: step, look, write, until the end of the clock.

All blocks decide identically, as decisions use values reduced over all of them. A paused loop stays on its block,
between a step and its records, which include changes made during the pause.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any

from taskflow.cases.timing.schedule import HERE, NEVER, Quiet, Tick
from taskflow.common.errors import RunFailed
from taskflow.flow.time.step_clock import of_clock
from taskflow.output import LOG, STORE
from taskflow.runs.block.batch import StepBatches
from taskflow.runs.block.checkpoints import CheckpointWriter, RunStart, restore
from taskflow.runs.block.profiling import Profiling
from taskflow.runs.block.recording import Records, StateLog
from taskflow.runs.block.sanity import SanityChecks
from taskflow.runs.block.stepping import Stepping
from taskflow.runs.state.closed_faces import CLOSING
from taskflow.runs.state.restart import RestartPoint
from taskflow.runs.state.settings import Settings
from taskflow.runtime.machine import Control, Shard, known_copy_bandwidth
from taskflow.runtime.machine.device import open_device
from taskflow.systems.base.pressure import explained
from taskflow.systems.bodies import Movement
from taskflow.systems.records.particles import Clouds

# stop asked for, writing failed, checkpoints written, checkpoint due, seconds of steps; then records written, by group
FOLDED = ("max", "max", "min", "max", "max")
WORTH = 10.0  # seconds of a loop whose speed is compared with the copy bandwidth


@dataclass(eq=False)
class RunLoop:
    """A run in progress on one block. Block 0 keeps the log and makes snapshots visible."""

    job: RunStart
    shard: Shard
    control: Control

    def __post_init__(self) -> None:
        job, shard, policy = self.job, self.shard, self.job.policy
        self.spec, directory = job.spec, policy.folder.parent
        self.directory = directory
        self.model, self.clock = self.spec.model, self.spec.clock
        self.settings = Settings(self.spec.timed, self.spec.inflows, self.spec.surroundings)
        self.timed, self.inflows = self.settings.timed, self.settings.inflows
        self.measuring = StateLog(self.spec.measures, shard, directory / LOG, policy.guard, self.spec.computed)
        self.doubts = SanityChecks(self.spec, shard, self.settings.values, cautioned=job.cautioned)
        self.sanity = self.doubts.sanity
        self.warnings: list[str] = []
        criterion = self.spec.steady_criterion
        self.settling = criterion.watch(shard, self.measuring.measure) if criterion else None
        self.movement = Movement(self.spec.surroundings.moving, shard) if self.spec.surroundings else None
        self.saving = CheckpointWriter(policy, shard)
        times = job.resumed.times if job.resumed else {}
        self.particles = Clouds(self.spec.particles, shard)
        self.records = Records(self.spec, directory / STORE, shard, times, policy.guard, self.particles)
        self.profiling = Profiling(job.profile, shard)
        self.stepping = Stepping(
            self.spec, shard, policy.cells, self.settings, self.movement, self.particles, self.sanity
        )
        self.batches = StepBatches(self.spec, shard, self.stepping, self.doubts, self.settings.values)
        self.began = time.perf_counter()
        self.ended = "end"  # or steady, or stalled, or interrupted
        self.stopped: Tick | None = None  # the tick scheduled before a request to stop
        self.pause = NEVER  # the end of the present advance
        self.now = self.clock.start()  # where it stands
        self.before: Tick | None = None  # the previous tick, if records scheduled now are pending
        self.rounds = dict.fromkeys(self.spec.counted, 0.0)  # of all steps, by the scalar that counts a step's

    @property
    def seconds(self) -> float:
        """The wall time of the run since its first state."""
        return time.perf_counter() - self.began

    def begin(self) -> None:
        """Set the first tick: from the initial fields, or from a checkpoint."""
        self.now = self._started() if self.job.resumed is None else self._resumed(self.job.resumed)

    def step(self) -> None:
        """Take a step, after a batch of steps between which nothing is due."""
        began, first = time.perf_counter(), self.now.step
        self.profiling.at(first)
        self.sanity.moves(self.now)
        if self.profiling.window is None and self.batches.ready():
            self._batch()
        before = self.now
        tick = self.stepping.planned(before)
        self.batches.agrees(tick)
        self._warn(*self.doubts.of_step(tick))
        tick = self._judged(self.stepping.take(before, tick), before)
        for name in self.rounds:
            self.rounds[name] += self.shard.scalars[name]
        self.now, self.before = self._agreed(tick, time.perf_counter() - began, tick.step - first), before

    def _batch(self) -> None:
        now, pause = self.now, self.pause
        quiet = self.clock.quiet(now) & self.records.quiet(now) & Quiet(pause.step - now.step - 1, pause.time)
        quiet = quiet & self.settling.quiet(now) if self.settling else quiet
        if count := self.batches.size(quiet, now):
            _, self.now, counted = self.batches.advance(now, count, quiet.time)
            for name, number in counted.items():
                self.rounds[name] += number
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
        shard = self.shard
        self._warn(*self.doubts.of_step(self.now))  # of a last step that is fixed and too long
        if self.settling is not None and self.ended == "end" and self.settling.shortfall is not None:
            self._warn(self.settling.shortfall)
        self.profiling.end()
        shard.synchronize()
        seconds = self.seconds
        rounds = {name: total / max(self.now.step, 1) for name, total in self.rounds.items()}
        rates = self.settling.rates if self.settling else {}
        self._warn(*self.records.warnings)
        self._tell(seconds=seconds, ended=self.ended, rounds=rounds, rates=rates)
        self.records.drain()
        self.saving.writer.drain()
        shard.meet(self.saving.writer.patience)
        self._tell(overlap=shard.overlap)
        (longest,) = shard.allreduce((seconds,), "max")
        if longest >= WORTH and (cores := self.job.copying.get(shard.block)):
            device = open_device("cpu", cores) if shard.device.kind == "cpu" else shard.device
            self._tell(copy_bandwidth=known_copy_bandwidth(device))

    def close(self) -> None:
        """End writing, and report the number of written records."""
        self.records.close()
        self.saving.writer.close()
        self._tell(**self._written())

    def _started(self) -> Tick:
        """Return the first tick, with the initial fields."""
        numbers = self._given(0.0)
        with explained("the projection of the initial velocity"):
            self.shard.run(self.model.start, dt=1.0, **numbers)
        first = replace(self.clock.start(), dt=self.job.take_over(self.shard))
        if self.settling is not None:
            self.settling.begin(0.0)
        self.records.begin(0.0, {})
        self.particles.release(0.0)
        self.began = time.perf_counter()
        self._look(first, first)
        return first

    def _resumed(self, resumed: RestartPoint) -> Tick:
        """Return the tick of a checkpoint, with its fields."""
        state = resumed.checkpoint.state
        self.settings.update(resumed.given)
        self._given(resumed.tick.time)
        restore(resumed.checkpoint, self.job.policy, self.shard)
        for cloud in self.particles.values():
            cloud.go_on(resumed.checkpoint, resumed.tick.time)
        if self.settling is not None and resumed.settling is not None:
            self.settling.go_on(resumed.settling)
        elif self.settling is not None:
            self.settling.begin(resumed.tick.time)
        self.records.begin(resumed.tick.time, resumed.averages)
        self.records.ranges.go_on(state.get("ranges"))
        self.began = time.perf_counter() - state["seconds"]
        pace = self.stepping.pace
        pace.previous, pace.begins = state.get("pace"), state.get("begins", False)
        if "sanity" in state:
            self.sanity.go_on(state["sanity"])
        else:
            self.sanity.begin(self.shard.scalars.get("speed", 0.0))
        self.rounds |= {name: total for name, total in state["rounds"].items() if name in self.rounds}
        self.ended = (resumed.tick.finished and state["ended"]) or "end"
        self.control.report(resumed=resumed.tick.step)
        self._report(resumed.tick)
        return replace(resumed.tick, output=True, monitor=True)  # as far as they were due they are there

    def _given(self, time: float) -> dict[str, float]:
        """Write the given fields, and return the scalars that the first step needs."""
        self.job.fill(self.shard)
        if self.movement is not None:
            self.movement.begin(time)
        entering = self.inflows.begin(self.shard) if self.inflows else {}
        return entering | self.timed.begin(time)

    def _judged(self, tick: Tick, before: Tick) -> Tick:
        """Return the tick, made the last one in a steady state."""
        ended = self.settling.look(before, tick) if self.settling else None
        if self.settling is not None and self.settling.insane is not None:
            why = self.sanity.failure(tick, f"the residual of {self.settling.insane} is not finite: ")
            kept = self.saving.last
            raise RunFailed(f"{why}; the last checkpoint is at step {kept}" if kept is not None else f"{why}")
        if self.settling is not None and self.settling.concern is not None:
            self._warn(self.settling.concern)
        if ended is None:
            return tick
        self.ended = ended
        return tick.last()

    def _agreed(self, tick: Tick, seconds: float, steps: int) -> Tick:
        """Return the tick after some `steps`, which took `seconds`.

        It is the last one on request, unless the run pauses then, and has a checkpoint if the wall clock schedules one.
        Makes records and checkpoints visible that all blocks have written. Raises RunFailed if a block cannot write.
        """
        saving, records = self.saving, self.records
        failure, complete = records.writer.failure or saving.writer.failure, records.complete
        late = self.control.stop or self.pause.late
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
            numbers = self.measuring.take(tick, self.seconds, self.stopped)
            self._warn(*self.doubts.of_numbers(tick, numbers, self.measuring.insane(numbers)))
        elif tick.output:
            self.sanity.moves(tick)
        self.records.take(before, tick, self.stopped)
        self._report(tick, **numbers)

    def _warn(self, *words: str) -> None:
        if words:
            self.warnings.extend(words)
            self._tell(warnings=tuple(self.warnings))

    def _checkpoint(self, tick: Tick) -> None:
        """Pass a state to be written, from which a restart is bitwise identical. Raises RunFailed if the state is
        insane.
        """
        self.sanity.carries(tick)
        self.records.flush()
        planned, scalars = self.records.planned, self.shard.scalars.items()
        state = {
            "time": tick.time,
            "dt": tick.dt,
            "scalars": {name: value for name, value in scalars if math.isfinite(value) and not of_clock(name)},
            "records": planned,
            "averages": self.records.averages,
            "ranges": self.records.ranges.state,
            "lines": self.measuring.planned,
            "log": self.measuring.checksum,
            "seconds": self.seconds,
            "rounds": dict(self.rounds),
            "ended": self.ended if tick.finished and self.stopped is None else None,
            "settling": self.settling.state if self.settling else None,
            "sanity": self.sanity.state,
            "pace": self.stepping.pace.previous,
            "begins": self.stepping.pace.begins,
            "given": self.settings.written(),
            "blocks": self.shard.partition.shape,
            "closing": CLOSING,
            "case": self.spec.case,
        }
        if self.shard.block == 0:
            self.records.writer.files.note(self.directory, [self.directory / LOG])
        stored, clouds = self.records.stored(), self.particles
        self.saving.take(tick.step, planned, state, stored, lambda: [cloud.held() for cloud in clouds.values()])
        self._report(tick)

    def _written(self) -> dict[str, Any]:
        """Return the records and checkpoints of this block that are on disk, or will be."""
        return {"records": self.records.status, **self.saving.status}

    def _report(self, tick: Tick, **numbers: Any) -> None:
        """Report the progress of the run to the client."""
        now = {"step": tick.step, "time": tick.time, "dt": tick.dt, "share": self.clock.progress(tick)}
        self._tell(**{**numbers, **now, **self._written(), "seconds": self.seconds})

    def _tell(self, **more: Any) -> None:
        """Add entries to the status for the client."""
        self.control.report(**{**self.control.progress, **more})
