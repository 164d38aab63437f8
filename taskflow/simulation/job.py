"""The run loop, as every block runs it: step, look, write, until the clock says that it is over.

All blocks come to the same decisions, because what they decide on is folded over all of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from taskflow.errors import RunFailed
from taskflow.flow import Monitor, NavierStokes
from taskflow.flow.poisson import NotConverged, relative_residual
from taskflow.machine import Control, Shard, copy_bandwidth
from taskflow.machine.profile import Timeline
from taskflow.output import RunLog, Writer
from taskflow.simulation.averaging import Averages, Averaging
from taskflow.simulation.bodies import Masks
from taskflow.simulation.inflow.inflow import Entering
from taskflow.simulation.initial.initial import InitialFields
from taskflow.simulation.probing import Layer, PointRecording, Probe
from taskflow.simulation.profiling import Profiling, Window
from taskflow.simulation.recording import SNAPSHOTS, STATISTICS, STORE, FieldRecording, Place, Recording
from taskflow.simulation.resuming import Beginning
from taskflow.simulation.saving import Keeping, Saving, restore
from taskflow.simulation.schedule import Clock, Tick
from taskflow.simulation.setup import Setup

# stop asked for, writing failed, checkpoints written, checkpoint due; then records written, by group
FOLDED = ("max", "max", "min", "max")


@dataclass(frozen=True)
class FlowJob:
    """The control program of a case. Picklable; every block gets the same one."""

    model: NavierStokes
    clock: Clock
    initial: InitialFields
    entering: Entering
    directory: Path
    case: str
    keeping: Keeping
    resumed: Beginning | None = None
    steady: float | None = None
    profile: Window | None = None
    counted: tuple[str, ...] = ()
    masks: Masks | None = None
    averages: Averages | None = None
    probes: tuple[Probe, ...] = ()
    layers: tuple[Layer, ...] = ()

    @classmethod
    def of(
        cls,
        setup: Setup,
        initial: InitialFields,
        keeping: Keeping,
        resumed: Beginning | None = None,
        profile: Window | None = None,
    ) -> FlowJob:
        """That of a case on its blocks, from its initial fields or a checkpoint."""
        case = setup.case
        return cls(
            setup.model,
            case.clock(),
            initial,
            setup.entering,
            keeping.folder.parent,
            case.to_toml(),
            keeping,
            resumed,
            case.time.steady,
            profile,
            setup.counted,
            setup.masks,
            setup.averages,
            setup.probes,
            setup.layers,
        )

    def __call__(self, shard: Shard, control: Control) -> Timeline | None:
        """Run the case on one block; what was profiled of it, if anything.

        Raises RunFailed where the flow diverges or the output cannot be written.
        """
        loop = Loop(self, shard, control)
        try:
            loop.run()
        finally:
            loop.close()
        return loop.profiling.timeline


@dataclass(eq=False)
class Loop:
    """A run in progress on one block; block 0 keeps the log and makes snapshots visible."""

    job: FlowJob
    shard: Shard
    control: Control

    def __post_init__(self) -> None:
        job, first = self.job, self.shard.block == 0
        self.model, self.monitor, self.clock = job.model, Monitor(job.model), job.clock
        self.log = RunLog(job.directory / "log.jsonl") if first else None
        self.writer = Writer()
        self.saving = Saving(job.keeping, self.shard)
        self.recordings: dict[str, Recording] = {SNAPSHOTS: FieldRecording(self._place(SNAPSHOTS))}
        self.averaging: Averaging | None = None
        if job.averages:
            self.recordings[STATISTICS] = FieldRecording(self._place(STATISTICS))
            self.averaging = Averaging(job.averages, self.shard, self.recordings[STATISTICS])
        for layer in job.layers:
            self.recordings[layer.group] = FieldRecording(self._place(layer.group))
        for probe in job.probes:
            group = probe.points.group
            self.recordings[group] = PointRecording(self._place(group), probe, self.model.staggered)
        followed = {layer.group: layer.every for layer in job.layers}
        self.followed = followed | {probe.points.group: probe.every for probe in job.probes}
        self.planned, self.unplanned = True, 0  # snapshot, and lines, that are only there because the run was stopped
        self.profiling = Profiling(job.profile, self.shard)
        self.began = time.perf_counter()
        self.ended = "end"  # or steady, or interrupted
        self.rounds = dict.fromkeys(job.counted, 0.0)  # of all steps, by the scalar that counts those of a step

    def _place(self, group: str) -> Place:
        """That of a group of the store."""
        times = self.job.resumed.times.get(group, ()) if self.job.resumed else ()
        return Place(self.job.directory / STORE, group, self.shard, self.writer, times)

    def run(self) -> None:
        """From the initial fields, or a checkpoint, to the end."""
        shard, model = self.shard, self.model
        tick = self._started() if self.job.resumed is None else self._resumed(self.job.resumed)
        while not tick.finished:
            self.profiling.at(tick.step)
            before, tick = tick, self.clock.advance(tick, shard.scalars["rate"], model.spreads(shard.scalars))
            numbers = self.job.entering.advance(shard, before.time, tick.dt)
            with explained(f"step {tick.step}, time {tick.time:g}"):
                shard.run(model.step, **model.scalars(tick.dt, tick.ratio), **numbers)
            for name in self.rounds:
                self.rounds[name] += shard.scalars[name]
            tick = self._look(self._agreed(tick), before)
            if tick.checkpoint or tick.finished:
                self._checkpoint(tick)
        self.profiling.end()
        shard.synchronize()
        seconds = time.perf_counter() - self.began
        rounds = {name: total / max(tick.step, 1) for name, total in self.rounds.items()}
        self.control.report(**{**self.control.progress, "seconds": seconds, "ended": self.ended, "rounds": rounds})
        self.writer.drain()
        self.saving.writer.drain()
        shard.meet()  # blocks that share a memory measure together what they can have together
        bandwidth = copy_bandwidth(shard.device)
        self.control.report(**{**self.control.progress, "copy_bandwidth": bandwidth, "overlap": shard.overlap})

    def close(self) -> None:
        """End writing, and say how much is there."""
        self.writer.close()
        self.saving.writer.close()
        self.control.report(**{**self.control.progress, **self._written()})

    def _started(self) -> Tick:
        """The first tick, with the initial fields."""
        self.job.initial.fill(self.shard)
        numbers = self._given()
        with explained("the projection of the initial velocity"):
            self.shard.run(self.model.start, dt=1.0, **numbers)
        if self.averaging is not None:
            self.averaging.begin(0.0)
        self.began = time.perf_counter()
        first = self.clock.start()
        return self._look(first, first)

    def _resumed(self, resumed: Beginning) -> Tick:
        """The tick of a checkpoint, with its fields."""
        self._given()
        restore(resumed.checkpoint, self.job.keeping, self.shard)
        state = resumed.checkpoint.state
        if self.averaging is not None and resumed.statistics is not None:
            self.averaging.go_on(resumed.statistics)
        elif self.averaging is not None:
            self.averaging.begin(resumed.tick.time)
        self.began = time.perf_counter() - state["seconds"]
        self.rounds |= {name: total for name, total in state["rounds"].items() if name in self.rounds}
        self.ended = state["ended"] or "end"
        self.control.report(resumed=resumed.tick.step)
        self._report(resumed.tick, {})
        return resumed.tick

    def _given(self) -> dict[str, float]:
        """Write what the case gives besides initial fields; the scalars that the first step needs."""
        if self.job.masks is not None:
            self.job.masks.fill(self.shard)
        return self.job.entering.begin(self.shard)

    def _agreed(self, tick: Tick) -> Tick:
        """The tick, made the last one where somebody asked for it, or one with a checkpoint where the wall clock does;
        records and checkpoints that all have written become visible.

        Raises RunFailed where a block cannot write.
        """
        saving, failure = self.saving, self.writer.failure or self.saving.writer.failure
        mine = (self.control.stop, failure is not None, saving.writer.written, saving.due)
        complete = [recording.complete for recording in self.recordings.values()]
        folded = self.shard.allreduce((*mine, *complete), (*FOLDED, *("min" for _ in complete)))
        stop, failed, saved, due, *written = folded
        if failed:
            raise RunFailed(f"writing the output failed: {failure or 'on another block'}")
        for recording, count in zip(self.recordings.values(), written, strict=True):
            recording.commit(int(count))
        if self.shard.block == 0:
            saving.commit(int(saved), {group: each.visible for group, each in self.recordings.items()})
        if stop and not tick.finished:
            self.ended = "interrupted"
            self.planned = tick.output
            self.unplanned = int(not tick.monitor)
            tick = tick.last()
        return replace(tick, checkpoint=tick.checkpoint or bool(due))

    def _look(self, tick: Tick, before: Tick) -> Tick:
        """What is due now, and was not `before`: a line in the log, a snapshot, a sample. The tick becomes the last one
        in a steady state.
        """
        numbers: dict[str, Any] = {}
        if tick.monitor or tick.checkpoint:  # a state that is not finite is no checkpoint
            numbers = self._numbers(tick)
            if self.log is not None and tick.monitor:
                self.log.write(numbers)
            self._check(numbers)
        wanted = self.job.steady if tick.monitor and tick.step and self.ended != "interrupted" else None
        if wanted is not None and numbers["change"] < wanted:
            self.ended = "steady"
            tick = tick.last()
        if tick.output:
            self.recordings[SNAPSHOTS].take(planned=self.planned, time=tick.time)
        for group, every in self.followed.items():
            if tick.step == 0 or every.due(before, tick.step, tick.time):
                self.recordings[group].take(time=tick.time)
        if self.averaging is not None:
            self.averaging.look(before, tick, interrupted=self.ended == "interrupted")
        self._report(tick, numbers)
        return tick

    def _numbers(self, tick: Tick) -> dict[str, Any]:
        """A line of the log: see CASE in the reference. `change` is max |du| / dt relative to the largest speed."""
        self.shard.run(self.monitor)
        found, cells = self.shard.scalars, self.shard.region.cells.volume
        numbers: dict[str, Any] = {
            "step": tick.step,
            "time": tick.time,
            "dt": tick.dt,
            "cfl": tick.dt * found["rate"],
            "divergence": found["divergence"],
            "residual": relative_residual(found),
            "iterations": self.model.pressure.taken(found) if tick.step else 0,
            "kinetic_energy": found["energy"] / cells,
            "wall": time.perf_counter() - self.began,
            "change": self.monitor.change(found, tick.dt),
        }
        numbers |= self.model.driving.forces(found, self.model.scheme, tick.dt, cells)
        if self.model.turbulence:
            numbers["eddy_viscosity"] = found["eddy"]
        if self.model.heat:
            numbers |= {f"nusselt_{face}": value for face, value in self.monitor.nusselt(found).items()}
        if self.model.obstacles:
            numbers["bodies"] = self.model.obstacles.found(found)
        return numbers | self.monitor.integrals(found)

    def _check(self, numbers: dict[str, Any]) -> None:
        """Raises RunFailed where a number is not finite: all blocks see the same ones."""
        for name in ("kinetic_energy", "divergence", "residual", *self.monitor.integrals(self.shard.scalars)):
            if not math.isfinite(numbers[name]):
                raise RunFailed(
                    f"the run diverged: at step {numbers['step']}, time {numbers['time']:g}, {name} is {numbers[name]};"
                    f" {self.clock.remedy}"
                )

    def _checkpoint(self, tick: Tick) -> None:
        """Hand over the state from which a run goes on as if it had never stopped here."""
        for recording in self.recordings.values():
            recording.flush()
        planned = {group: recording.planned for group, recording in self.recordings.items()}
        state = {
            "time": tick.time,
            "dt": tick.dt,
            "scalars": {name: value for name, value in self.shard.scalars.items() if math.isfinite(value)},
            "records": planned,
            "statistics": self.averaging.state if self.averaging is not None else None,
            "lines": self.log.lines - self.unplanned if self.log is not None else 0,
            "seconds": time.perf_counter() - self.began,
            "rounds": dict(self.rounds),
            "ended": self.ended if tick.finished and self.ended != "interrupted" else None,
            "steady": self.job.steady,
            "blocks": self.shard.partition.shape,
            "case": self.job.case,
        }
        self.saving.take(tick.step, planned, state)
        self._report(tick, {})

    def _written(self) -> dict[str, Any]:
        """What there is on disk of this block, or will be."""
        records = {group: recording.told for group, recording in self.recordings.items()}
        return {"records": records, **self.saving.told}

    def _report(self, tick: Tick, numbers: dict[str, Any]) -> None:
        """Tell the client how far the run is."""
        told = {**self.control.progress, **numbers}
        told |= {"step": tick.step, "time": tick.time, "dt": tick.dt, "share": self.clock.progress(tick)}
        told |= {**self._written(), "seconds": time.perf_counter() - self.began}
        self.control.report(**told)


@contextmanager
def explained(where: str) -> Iterator[None]:
    """Adds to the error of a solver that did not converge where that was, and what to change in the case."""
    try:
        yield
    except NotConverged as error:
        raise RunFailed(
            f"in {where}, {error}; give a larger pressure.tolerance or pressure.max_iterations, another"
            ' pressure.solver, or, where it stopped falling, machine.precision = "double"'
        ) from None
