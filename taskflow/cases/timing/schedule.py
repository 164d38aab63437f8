"""Schedule of a run: intervals, the next step, and the end.

Every block of a run asks its own `Clock` and gets the same answer: no I/O, no state, no time of day. A `Pause` alone
may be due by the wall clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from taskflow.cases.timing.intervals import MEETS, QUIET, ROUNDING, Every, Quiet, Tick, intervals
from taskflow.common.errors import RunFailed
from taskflow.flow.stability import NO_EDDIES, StepLimit, finite
from taskflow.flow.time.schemes import DiffusiveRates

FITS = 9e-13  # relative excess over the longest step that is rounding, not a reason for one more step


@dataclass(frozen=True)
class Clock:
    """Leads a run from `start` to `end` (a time) or for a number of `steps`, exactly to the end and times of `output`.

    Steps are as long as `limit` allows, but the way to the next such time is divided evenly: no step is shorter than
    half of that unless the whole way is. `monitor` and `checkpoint` are due at the first step that reaches their time:
    they cut no step. `motion` finds the length of a step from a time, given dt at most, that bodies allow which move.
    """

    limit: StepLimit
    end: float | None = None
    steps: int | None = None
    output: Every | None = None
    monitor: Every | None = None
    checkpoint: Every | None = None
    motion: Callable[[float, float], float] | None = None

    def start(self) -> Tick:
        """The initial state: written and logged."""
        return Tick()

    def advance(
        self, now: Tick, advection: float, eddies: DiffusiveRates = NO_EDDIES, most: float = math.inf
    ) -> Tick:
        """The tick to which the step from `now` leads; `advection` = max(|u|/dx + |v|/dy + |w|/dz) at `now`, `eddies`
        as in `StepLimit`. A step that is not fixed is at most as long as `most`, what time.cfl allows a flow that
        accelerates.

        `RunFailed` if the velocity is no longer finite, or demands steps that are too short to advance.
        """
        advection = float(advection)
        if not 0 <= advection < math.inf:
            raise RunFailed(
                f"the run diverged: at step {now.step}, time {now.time:g}, the velocity is not finite; {self.remedy}"
            )
        bounds = self.limit.bounds(advection, eddies)
        if most < bounds.get("cfl", 0.0):
            bounds["cfl"] = most
        if self.motion is not None:
            bounds = {**bounds, "motion": self._slow_enough(now, min(*bounds.values(), self.target(now) - now.time))}
        dt, time, cut = self._stride(now, min(bounds.values()))
        step = now.step + 1
        finished = time == self.end or step == self.steps
        due = self.output is not None and (
            step % self.output.steps == 0 if self.output.steps else time == self.output.after(now.time)
        )
        monitor = finished or (self.monitor is not None and self.monitor.due(now, step, time))
        checkpoint = self.checkpoint is not None and self.checkpoint.due(now, step, time)
        ratio, limit = dt / now.dt if now.dt else 0.0, "end" if cut else min(bounds, key=bounds.__getitem__)
        return Tick(step, time, dt, ratio, finished or due, monitor, finished, checkpoint, limit, bounds)

    def quiet(self, now: Tick) -> Quiet:
        """Return steps and a time after `now` without an event. Times that steps hit are excluded: see `target`."""
        quiet = QUIET if self.steps is None else Quiet(steps=self.steps - 1 - now.step)
        for every in (self.monitor, self.checkpoint, self.output if self.output and self.output.steps else None):
            quiet = quiet & every.quiet(now) if every else quiet
        return quiet

    def target(self, now: Tick) -> float:
        """Return the next time that a step has to hit, or infinity."""
        target = self.output.after(now.time) if self.output else math.inf
        return self.end if self.end is not None and self._is_end(target) else target

    def over(self, now: Tick) -> bool:
        """Return whether a run that stands here has nothing left to do."""
        ended = self.end is not None and now.time >= self.end
        return ended or (self.steps is not None and now.step >= self.steps)

    def progress(self, now: Tick) -> float:
        """Share of the run that is done, 0 to 1."""
        return min(1.0, max(now.step / self.steps if self.steps else 0.0, now.time / self.end if self.end else 0.0))

    def snapshots(self) -> int | None:
        """The number of states that are written unless the run is stopped, first and last included; None: not known."""
        if self.output is None:
            return 2
        if self.steps is not None and self.output.steps is not None:
            return 2 + (self.steps - 1) // self.output.steps
        if self.end is None or self.output.time is None:
            return None
        between = intervals(self.end, self.output.time) + 1
        while between and self._is_end(between * self.output.time):
            between -= 1
        return 2 + between

    def _slow_enough(self, now: Tick, dt: float) -> float:
        """The length of a step that bodies allow. `RunFailed` where it is not that which is fixed."""
        assert self.motion is not None
        allowed = self.motion(now.time, dt)
        if self.limit.fixed is not None and allowed < dt:
            raise RunFailed(
                f"at step {now.step}, time {now.time:g}, a body moves more than half a spacing in time.step ="
                f" {self.limit.fixed:g}; give one of {allowed:g} or less, or time.cfl instead"
            )
        return allowed

    def _stride(self, now: Tick, longest: float) -> tuple[float, float, bool]:
        """Length of the step from `now`, the time it reaches, and whether that cuts it short."""
        target, cut = self.target(now), False
        if target == math.inf:
            dt = finite(longest)
            time = now.time + dt
        else:
            way = target - now.time
            if longest <= 4 * ROUNDING * target and longest < way:
                raise self._too_short(now, longest)
            count = max(1, math.ceil(way / longest * self.fits))
            dt = way / count
            time = now.time + dt if count > 1 else target
            cut = count == 1 and way < longest * (1 - MEETS)
        if not now.time < time < math.inf:
            raise self._too_short(now, dt)
        return dt, time, cut

    @property
    def fits(self) -> float:
        """The part of the way to a target that counts: one step more for the rest would be rounding."""
        return 1 - (FITS if self.limit.fixed is None else MEETS)

    def _is_end(self, time: float) -> bool:
        """Return whether an output at `time` would be the final state, or later."""
        if self.end is None:
            return False
        interval = self.output.time if self.output and self.output.time else 0.0
        return time > self.end - max(MEETS * interval, 4 * ROUNDING * self.end)

    def _too_short(self, now: Tick, dt: float) -> RunFailed:
        where = f"at step {now.step}, time {now.time:g}, a step of {dt:g} gets nowhere"
        if self.limit.fixed is not None:
            return RunFailed(f"{where}; give a larger time.step")
        return RunFailed(f"the run diverged: {where}; {self.remedy}")

    @property
    def remedy(self) -> str:
        """The remedy for a case whose steps are too long or too short."""
        limit = self.limit
        if limit.fixed is not None:
            now = f"time.step (now {limit.fixed:g})"
        else:
            cfl, diffusion = f"time.cfl (now {limit.cfl:g})", f"time.diffusion (now {limit.diffusion:g})"
            beyond = [cfl] * (limit.cfl > limit.scheme.cfl) + [diffusion] * (limit.diffusion > limit.scheme.diffusion)
            now = " and ".join(beyond or [cfl])
        return f"give a smaller {now}, or more cells"


@dataclass(frozen=True)
class Pause:
    """The first tick at `step` or later, at `time` or later, or after a number of seconds of the `wall` clock.

    The first of these counts. `deadline` is the end of these seconds, by `time.perf_counter` of the counting block.

    A run that `stays` pauses where it is asked to stop; other runs end there.
    """

    step: float = math.inf
    time: float = math.inf
    wall: float = math.inf
    stays: bool = True
    deadline: float = math.inf

    def started(self) -> Pause:
        return replace(self, deadline=time.perf_counter() + self.wall)

    def reached(self, tick: Tick) -> bool:
        """Return True if the run pauses at a tick, the same on all blocks."""
        return tick.step >= self.step or tick.time >= self.time

    @property
    def late(self) -> bool:
        """Return whether the wall clock of this block wants a pause."""
        return time.perf_counter() >= self.deadline


NEVER = Pause(stays=False)
HERE = Pause(step=0)
