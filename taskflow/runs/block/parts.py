"""The parts of a run on one block: their first state, from initial fields or a checkpoint, their saved state, and the
progress reported to the client.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from taskflow.cases.timing.intervals import Tick
from taskflow.flow.time.step_clock import of_clock
from taskflow.output import LOG, STORE
from taskflow.runs.block.checkpoints import CheckpointWriter, RunStart, restore
from taskflow.runs.block.profiling import Profiling
from taskflow.runs.block.recording import Records, StateLog
from taskflow.runs.block.sanity import SanityChecks
from taskflow.runs.block.stepping import Stepping
from taskflow.runs.state.closed_faces import CLOSING
from taskflow.runs.state.restart import RestartPoint
from taskflow.runs.state.setup import Settings
from taskflow.runtime.machine import Control, Shard
from taskflow.systems.base.pressure import explained
from taskflow.systems.records.particles import Clouds


class Progress:
    """Progress reports to the client through a control. `counted`: scalars of single steps, which are summed."""

    def __init__(self, control: Control, counted: Iterable[str]) -> None:
        self.control = control
        self.began = time.perf_counter()
        self.iterations = dict.fromkeys(counted, 0.0)
        self._warnings: list[str] = []

    @property
    def seconds(self) -> float:
        """The wall time of the run since its first state."""
        return time.perf_counter() - self.began

    def count(self, numbers: Mapping[str, float]) -> None:
        """Add the counted scalars of a step, or of a batch of steps."""
        for name in self.iterations:
            self.iterations[name] += numbers[name]

    def warn(self, *texts: str) -> None:
        """Report warnings, in addition to all before."""
        if texts:
            self._warnings.extend(texts)
            self.report(warnings=tuple(self._warnings))

    def report(self, **entries: Any) -> None:
        """Add entries to the status for the client."""
        self.control.report(**{**self.control.progress, **entries})

    def pass_to(self, control: Control, *without: str) -> None:
        """Report through another control from now on, with all entries so far except some."""
        if control is not self.control:
            control.report(**{name: entry for name, entry in self.control.progress.items() if name not in without})
            self.control = control


class RunParts:
    """Model, clock, schedules and records that a run loop drives, with the state that checkpoints keep of them."""

    def __init__(self, job: RunStart, shard: Shard, control: Control) -> None:
        self.job, self.shard, self.spec, policy = job, shard, job.spec, job.policy
        self.model, self.clock, self.directory = self.spec.model, self.spec.clock, policy.folder.parent
        self.progress = Progress(control, self.spec.counted)
        self.settings = Settings(self.spec.timed, self.spec.inflows, self.spec.surroundings)
        self.measuring = StateLog(self.spec.measures, shard, self.directory / LOG, policy.guard, self.spec.computed)
        self.checks = SanityChecks(self.spec, shard, self.settings.values, cautioned=job.cautioned)
        self.sanity = self.checks.sanity
        criterion = self.spec.steady_criterion
        self.settling = criterion.watch(shard, self.measuring.measure) if criterion else None
        self.movement = self.spec.surroundings.movement(shard) if self.spec.surroundings else None
        self.saving = CheckpointWriter(policy, shard)
        times = job.resumed.times if job.resumed else {}
        self.particles = Clouds(self.spec.particles, shard)
        place = self.directory / STORE, shard, times, policy.guard
        self.records = Records(self.spec, *place, self.particles, policy.token)
        self.profiling = Profiling(job.profile, shard)
        self.stepping = Stepping(
            self.spec, shard, policy.cells, self.settings, self.movement, self.particles, self.sanity
        )

    def start(self) -> Tick:
        """Set the initial fields and return the first tick."""
        numbers = self._fill(0.0)
        with explained("the projection of the initial velocity"):
            self.shard.run(self.model.start, dt=1.0, **numbers)
        dt = self.job.take_over(self.shard)
        if self.settling is not None:
            self.settling.begin(0.0)
        self.records.begin(0.0, {})
        self.particles.release(0.0)
        self.progress.began = time.perf_counter()
        return replace(self.clock.start(), dt=dt)

    def resume(self, resumed: RestartPoint) -> None:
        """Restore the fields and the saved state of a checkpoint."""
        state = resumed.checkpoint.state
        self.settings.update(resumed.given)
        self._fill(resumed.tick.time)
        self.model.restarted(self.shard.roles, resumed.tick.step)
        restore(resumed.checkpoint, self.job.policy, self.shard)
        for cloud in self.particles.values():
            cloud.resume(resumed.checkpoint, resumed.tick.time)
        if self.settling is not None and resumed.settling is not None:
            self.settling.resume(resumed.settling)
        elif self.settling is not None:
            self.settling.begin(resumed.tick.time)
        self.records.begin(resumed.tick.time, resumed.averages)
        self.records.ranges.resume(state.get("ranges"))
        self.records.ranges.replaced(resumed.given)
        pace = self.stepping.pace
        pace.previous, pace.begins = state.get("pace"), state.get("begins", False)
        if "sanity" in state:
            self.sanity.resume(state["sanity"])
        else:
            self.sanity.begin(self.shard.scalars.get("speed", 0.0))
        iterations = self.progress.iterations
        iterations |= {name: total for name, total in state["rounds"].items() if name in iterations}
        self.progress.began = time.perf_counter() - state["seconds"]
        self.progress.report(resumed=resumed.tick.step)

    def _fill(self, time: float) -> dict[str, float]:
        self.job.fill(self.shard)
        if self.movement is not None:
            self.movement.begin(time)
        inflows = self.settings.inflows
        entering = inflows.begin(self.shard, time) if inflows else {}
        return entering | self.settings.timed.begin(time)

    def save(self, tick: Tick, ended: str | None) -> None:
        """Pass the state to be written, for a bitwise restart. `ended`: how. Raises RunFailed if it is implausible."""
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
            "seconds": self.progress.seconds,
            "rounds": dict(self.progress.iterations),
            "ended": ended,
            "settling": self.settling.state if self.settling else None,
            "sanity": self.sanity.state,
            "pace": self.stepping.pace.previous,
            "begins": self.stepping.pace.begins,
            "given": self.settings.written(),
            "blocks": self.shard.partition.shape,
            "closing": CLOSING,
            "levels": self.spec.levels,
            "case": self.spec.case,
        }
        if self.shard.block == 0:
            self.records.writer.files.note(self.directory, [self.directory / LOG])
        stored, clouds = self.records.stored(), self.particles
        self.saving.take(tick.step, planned, state, stored, lambda: [cloud.held() for cloud in clouds.values()])

    @property
    def written(self) -> dict[str, Any]:
        """The records and checkpoints of this block that are on disk, or will be."""
        return {"records": self.records.status, **self.saving.status}
