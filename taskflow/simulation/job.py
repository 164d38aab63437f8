"""The run loop, as every block runs it: step, look, write, until the clock says that it is over.

All blocks come to the same decisions, because what they decide on is folded over all of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from taskflow.errors import RunFailed
from taskflow.flow import NavierStokes
from taskflow.flow.poisson import NotConverged, relative_residual
from taskflow.machine import Control, Shard, copy_bandwidth
from taskflow.machine.profile import Timeline
from taskflow.output import BlockStore, RunLog, Store, Writer
from taskflow.simulation.bodies import Masks
from taskflow.simulation.inflow import Entering
from taskflow.simulation.initial import InitialFields
from taskflow.simulation.profiling import Profiling, Window
from taskflow.simulation.schedule import Clock, Tick

FOLDED = ("max", "min", "max")  # stop asked for, snapshots written, writing failed


@dataclass(frozen=True)
class FlowJob:
    """The control program of a case. Picklable; every block gets the same one."""

    model: NavierStokes
    clock: Clock
    initial: InitialFields
    entering: Entering
    directory: Path
    steady: float | None = None
    profile: Window | None = None
    counted: tuple[str, ...] = ()
    masks: Masks | None = None

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
    times: list[float] = field(default_factory=list)  # of the snapshots handed to the writer

    def __post_init__(self) -> None:
        job, first = self.job, self.shard.block == 0
        self.model, self.clock = job.model, job.clock
        self.output = BlockStore(job.directory / "fields.zarr", self.shard.cells)
        self.store = Store(job.directory / "fields.zarr") if first else None
        self.log = RunLog(job.directory / "log.jsonl") if first else None
        self.writer = Writer()
        self.profiling = Profiling(job.profile, self.shard)
        self.began = time.perf_counter()
        self.ended = "end"  # or steady, or interrupted
        self.rounds = dict.fromkeys(job.counted, 0.0)  # of all steps, by the scalar that counts those of a step

    def run(self) -> None:
        """From the initial fields to the end."""
        shard, model = self.shard, self.model
        self.job.initial.fill(shard)
        if self.job.masks is not None:
            self.job.masks.fill(shard)
        numbers = self.job.entering.begin(shard)
        with explained("the projection of the initial velocity"):
            shard.run(model.start, dt=1.0, **numbers)
        tick = self.clock.start()
        self.began = time.perf_counter()
        tick = self._look(tick)
        while not tick.finished:
            self.profiling.at(tick.step)
            before, tick = tick.time, self.clock.advance(tick, shard.scalars["rate"])
            numbers = self.job.entering.advance(shard, before, tick.dt)
            with explained(f"step {tick.step}, time {tick.time:g}"):
                shard.run(model.step, **model.scalars(tick.dt, tick.ratio), **numbers)
            for name in self.rounds:
                self.rounds[name] += shard.scalars[name]
            tick = self._look(self._agreed(tick))
        self.profiling.end()
        shard.synchronize()
        seconds = time.perf_counter() - self.began
        rounds = {name: total / max(tick.step, 1) for name, total in self.rounds.items()}
        self.control.report(**{**self.control.progress, "seconds": seconds, "ended": self.ended, "rounds": rounds})
        self.writer.drain()
        shard.meet()  # blocks that share a memory measure together what they can have together
        bandwidth = copy_bandwidth(shard.device)
        self.control.report(**{**self.control.progress, "copy_bandwidth": bandwidth, "overlap": shard.overlap})

    def close(self) -> None:
        """End writing, and say how much is there."""
        self.writer.close()
        self.control.report(**{**self.control.progress, "written": self.writer.written, "times": tuple(self.times)})

    def _agreed(self, tick: Tick) -> Tick:
        """The tick, made the last one where somebody asked for it; snapshots that all have written become visible.

        Raises RunFailed where a block cannot write.
        """
        mine = (self.control.stop, self.writer.written, self.writer.failure is not None)
        stop, written, failed = self.shard.allreduce(mine, FOLDED)
        if failed:
            raise RunFailed(f"writing the output failed: {self.writer.failure or 'on another block'}")
        if self.store is not None:
            for index in range(len(self.store.times), int(written)):
                self.store.commit(index, self.times[index])
        if stop:
            self.ended = "interrupted"
        return tick.last() if stop else tick

    def _look(self, tick: Tick) -> Tick:
        """What is due now: a line in the log, a snapshot. The tick becomes the last one in a steady state."""
        numbers: dict[str, Any] = {}
        if tick.monitor:
            numbers = self._numbers(tick)
            if self.log is not None:
                self.log.write(numbers)
            self._check(numbers)
            if self.job.steady is not None and tick.step and numbers["change"] < self.job.steady:
                self.ended = "steady"
                tick = tick.last()
        if tick.output:
            self._snapshot(tick.time)
        self._report(tick, numbers)
        return tick

    def _numbers(self, tick: Tick) -> dict[str, Any]:
        """A line of the log: see CASE in the reference. `change` is max |du| / dt relative to the largest speed."""
        self.shard.run(self.model.monitor)
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
            "change": self.model.change(found, tick.dt),
        }
        numbers |= self.model.driving.forces(found, self.model.scheme, tick.dt, cells)
        if self.model.heat:
            numbers |= {f"nusselt_{face}": value for face, value in self.model.nusselt(found).items()}
        if self.model.obstacles:
            numbers["bodies"] = self.model.obstacles.found(found)
        return numbers | self.model.integrals(found)

    def _check(self, numbers: dict[str, Any]) -> None:
        """Raises RunFailed where a number is not finite: all blocks see the same ones."""
        for name in ("kinetic_energy", "divergence", "residual", *self.model.integrals(self.shard.scalars)):
            if not math.isfinite(numbers[name]):
                raise RunFailed(
                    f"the run diverged: at step {numbers['step']}, time {numbers['time']:g}, {name} is {numbers[name]};"
                    f" {self.clock.remedy}"
                )

    def _snapshot(self, now: float) -> None:
        """Hand the present state to the writer; waits while two snapshots are still being written."""
        index = len(self.times)
        self.writer.reserve()
        if self.store is not None:
            self.store.grow(index + 1)
        values = {name: self.shard.read(name, box) for name, box in self.output.boxes.items()}
        self.shard.meet()  # who allocates may have to wait for all GPUs of a process: none goes on
        self.times.append(now)
        self.writer.submit(lambda: self.output.write(index, values))

    def _report(self, tick: Tick, numbers: dict[str, Any]) -> None:
        """Tell the client how far the run is."""
        told = {**self.control.progress, **numbers}
        told |= {"step": tick.step, "time": tick.time, "dt": tick.dt, "share": self.clock.progress(tick)}
        told |= {"times": tuple(self.times), "written": self.writer.written}
        told |= {"seconds": time.perf_counter() - self.began}
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
