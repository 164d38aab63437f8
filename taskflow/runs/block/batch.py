"""Batches of steps: between two states that the host has to see, the clock on the device leads from step to step.

The host enqueues the steps of a batch without waiting for any of them, and reads the state of the clock once. If a step
was too long, or the host has to take one, the state before the batch is restored and the good steps are repeated: so
results do not depend on batches. Decisions are identical on all blocks.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import repeat
from typing import NamedTuple

from taskflow.cases.timing.intervals import ROUNDING, Quiet, Tick
from taskflow.common.errors import RunFailed
from taskflow.flow.poisson import NotConverged
from taskflow.flow.scalars.transport import CROSSINGS, SPREADINGS
from taskflow.flow.stability import FASTER
from taskflow.flow.time.step_clock import STATE, STATE_NAMES, ClockedStep, limit_scalars, state_of, state_scalars
from taskflow.runs.block.pace import LARGEST, PLANNED, REST
from taskflow.runs.block.sanity import SanityChecks
from taskflow.runs.block.stepping import Stepping
from taskflow.runs.state.setup import BlockSpec
from taskflow.runtime.machine import Shard
from taskflow.runtime.tasks.numbers import numbered

LENGTH = 0.01  # seconds of work: the longest time without an answer to requests, if each block has a core
LEAST = 8  # steps: fewer do not pay for a savepoint
WARM = 0.1  # seconds of work before the first batch: short runs do not pay for another trace
# Steps that are recorded as one program. Two steps lead back to the same roles, so that a CPU repeats them in C.
SEVERAL = {"cpu": 2, "gpu": 4}
NEARLY = 0.8  # of the way to a time, as steps may grow
MOST_WAIT = 1024  # single steps between attempts that fail: looking for a batch costs as much as a small step
REPORT = "please report this"
NAMES = numbered(STATE, len(STATE_NAMES))
STOP = NAMES[STATE_NAMES.index("stop")]


class Batch(NamedTuple):
    """Steps that were accepted: their number, the last tick, and the sums of counted scalars."""

    steps: int
    last: Tick
    counted: Mapping[str, float]


class StepBatches:
    """The batches of a run on one block, with the values that the user has set so far."""

    def __init__(
        self, spec: BlockSpec, shard: Shard, stepping: Stepping, checks: SanityChecks, given: Mapping[str, object]
    ) -> None:  # fmt: skip
        self._spec, self._shard = spec, shard
        self._stepping, self._checks, self._given = stepping, checks, given
        step = spec.clocked_step
        self._steps = (step, replace(step, times=SEVERAL[shard.device.kind])) if step else None
        self._spent, self._seconds = 0.0, math.inf  # time of work of all steps, and of one
        self._most = math.inf  # steps of a batch, after one that was taken back
        self._wait, self._waited = 0, 1  # single steps until the next batch, and their number last time
        self._expected: tuple[float, float] | None = None  # dt and time that the clock on the device has planned

    def note(self, seconds: float, steps: int) -> None:
        """Note the time of work of some steps, the longest on any block."""
        self._spent += seconds
        self._seconds = seconds / steps

    def ready(self) -> bool:
        """Return whether the next steps may be a batch. Otherwise a step is taken alone. Collective."""
        if self._steps is None or self._given or self._spent < WARM or LEAST * self._seconds > LENGTH:
            return False
        if self._wait:
            self._wait -= 1
            return False
        return self._stepping.moves and self._stepping.keeper is not None

    def size(self, quiet: Quiet, now: Tick) -> int:
        """Return the number of steps of a batch from `now`, 0 if the next events are too near."""
        ahead = NEARLY * (min(quiet.time, self._spec.clock.target(now)) - now.time) / now.dt if now.dt else 0.0
        most = min(quiet.steps, ahead, LENGTH / self._seconds, self._most)
        if most < LEAST:
            self._postpone()
            return 0
        return int(most)

    def _postpone(self) -> None:
        """Take steps alone, twice as many as the last time unless a batch has succeeded since."""
        self._wait = self._waited = min(2 * self._waited, MOST_WAIT)

    def advance(self, now: Tick, count: int, horizon: float) -> Batch:
        """Take up to `count` steps, none of which reaches the time `horizon`. Collective."""
        kept = self._stepping.keeper
        assert kept is not None, "a batch is ready only with one"
        kept.keep()
        batch = self._tried(now, count, horizon)
        if batch.steps == count:
            self._waited, self._most = 1, 2 * self._most
            return batch
        kept.restore()
        self._most = max(LEAST, batch.steps)
        if batch.steps < LEAST:
            self._postpone()
            return Batch(0, now, {})
        again = self._tried(now, batch.steps, horizon)
        if again.steps != batch.steps:
            raise RunFailed(f"{batch.steps} steps after step {now.step} are not the same when repeated; {REPORT}")
        return again

    def agrees(self, tick: Tick) -> None:
        """Raise RunFailed if the host plans another step than the clock on the device."""
        expected, self._expected = self._expected, None
        if expected is not None and expected != (tick.dt, tick.time):
            raise RunFailed(
                f"at step {tick.step} the device planned dt = {expected[0]!r} to time {expected[1]!r}, the host"
                f" {tick.dt!r} to {tick.time!r}; {REPORT}"
            )

    def _tried(self, now: Tick, count: int, horizon: float) -> Batch:
        """Take `count` steps, and return the number of accepted ones."""
        shard, model, pace = self._shard, self._spec.model, self._stepping.pace
        first, counted = self._stepping.planned(now), dict.fromkeys(self._spec.counted, 0.0)
        if first.time >= horizon or first.output or not self._stepping.moves:
            return Batch(0, now, {})
        begin = {"next_time": first.time, "next_dt": first.dt, "rate": model.advection(shard.scalars)}
        shard.scalars.set({**limit_scalars(self._limits(now, horizon)), **state_scalars(begin)})
        numbers = model.scalars(first.dt, first.ratio)
        try:
            for program, times in self._programs(count):
                shard.run_often(program, times, STOP, **numbers)
                numbers = {}
                for name in counted:
                    counted[name] += shard.scalars[name]
                if shard.device.kind == "cpu" and shard.scalars[STOP]:
                    break
        except NotConverged:  # the step that is taken alone says so
            return Batch(0, now, {})
        state = state_of(shard.scalars.together(NAMES))
        if (good := int(state["good"])) == count:
            if not self._stepping.fixed:
                pace.previous = state["before"]
            self._checks.skip()
            self._expected = None if state["stop"] else (state["next_dt"], state["next_time"])
        return Batch(good, Tick(now.step + good, state["time"], state["dt"], output=False, monitor=False), counted)

    def _programs(self, count: int) -> Iterator[tuple[ClockedStep, int]]:
        """Yield programs of `count` steps with numbers of passes. With counted numbers each is of one step."""
        assert self._steps is not None
        single, several = self._steps
        if self._spec.counted:
            yield from repeat((single, 1), count)
            return
        yield several, count // several.times
        yield single, count % several.times

    def _limits(self, now: Tick, horizon: float) -> dict[str, float]:
        clock, limit = self._spec.clock, self._spec.clock.limit
        assert self._spec.model.clock is not None
        return {
            **self._spec.model.clock.terms, **self._checks.limits,
            "fixed": limit.fixed or 0.0, "cfl": limit.cfl, "diffusion": limit.diffusion, "spread": limit.spread,
            "frequency": limit.frequency, "fall": limit.fall, "longest": limit.longest_step,
            "bounded": -1.0 if limit.bounded is None else limit.bounded, "crossings": CROSSINGS,
            "spreadings": SPREADINGS, "damping": -1.0 if limit.damping is None else limit.damping, "less": 1 - FASTER,
            "planned": PLANNED, "accepted": LARGEST, "resting": REST, "sane": self._checks.sanity.fastest(now.time),
            "target": clock.target(now), "horizon": horizon, "fits": clock.fits, "tiny": 4 * ROUNDING,
        }  # fmt: skip
