"""The clock on the device plans the steps that a run's clock plans on the host, to the bit."""

import math
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.cases.timing.intervals import Every, Tick
from taskflow.cases.timing.schedule import Clock
from taskflow.common.errors import RunFailed
from taskflow.flow.stability import StepLimit
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, RUNGE_KUTTA, DiffusionTerms
from taskflow.flow.time.step_clock import (
    LIMIT_NAMES,
    STATE,
    STATE_NAMES,
    StepClock,
    limit_scalars,
    state_of,
    state_scalars,
)
from taskflow.runs.block.batch import NAMES, StepBatches
from taskflow.runs.block.pace import LARGEST, REST, Pace
from taskflow.runs.block.step_watch import NOT_WATCHED
from taskflow.runtime.machine import run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from taskflow.runtime.tasks import Launch, Roles

EXAMPLES = 300
TERMS = {
    "laminar": DiffusionTerms(300.0, 0.01),
    "eddies": DiffusionTerms(300.0, 0.01, 0.02, None, 1.4, "eddy"),
    "bounded": DiffusionTerms(300.0, 0.01, 0.02, 0.015, 1.4, "eddy"),
}
LIMITS = {
    "cfl": StepLimit(cfl=0.5, spread=2.0),
    "fixed": StepLimit(fixed=0.013),
    "scalars": StepLimit(cfl=0.9, bounded=3.0, frequency=2.0, scheme=RUNGE_KUTTA),
    "phases": StepLimit(cfl=0.5, fall=7.0, damping=0.3, longest_step=0.02),
}


def jobs(clock, limit, timing, eddy):
    """Yield random numbers of a state, what the clock makes of them, and what the host makes of them."""
    ruler, pace = Clock(limit, **timing), Pace(limit)

    def program(f: Roles) -> Iterator[Launch]:
        yield clock(f)

    def job(shard):
        found, random = [], np.random.default_rng(7)
        for _ in range(EXAMPLES):
            time, dt, before, rate, eddies = random.random(5) * (10.0, 0.1, 20.0, 20.0, 0.1)
            rate = rate if random.random() < 0.9 else 10.0 ** random.uniform(-12, 3)
            now = Tick(5, time, dt)
            about = SimpleNamespace(clock=ruler, model=SimpleNamespace(clock=clock))
            checks = SimpleNamespace(
                limits={**NOT_WATCHED, "shorter": math.inf}, sanity=SimpleNamespace(fastest=lambda time: math.inf)
            )
            limits = StepBatches._limits(SimpleNamespace(_spec=about, _checks=checks), now, math.inf)
            assert limits.keys() == set(LIMIT_NAMES)
            begin = {"next_time": time, "next_dt": dt, "rate": before}
            shard.scalars.set({**limit_scalars(limits), **state_scalars(begin), "rate": rate, "eddy": eddies})
            shard.run(program)
            pace.previous = before
            rates = clock.diffusion.rates({"eddy": eddies})
            try:
                tick = ruler.advance(now, rate, rates, math.inf if limit.fixed else pace.longest(now, rate))
            except RunFailed:
                tick = None
            stages = [shard.scalars[names["dt"]] for names in clock.scheme.names]
            ratio = None if clock.scheme.stages[0].ratio is not None else shard.scalars["ratio"]
            found.append((now, rate, state_of(shard.scalars.together(NAMES)), stages, ratio, tick))
        return found

    main = Partition(Region(Box.of((2, 1, 1)), FieldSpace([Field("p", "f8")]), ghost=0), (1, 1, 1))
    where = replace(main, beside=(clock.partition(main, "f8"),))
    return run_threads(where, job, cpu(1))[0]


@pytest.mark.parametrize("timing", [{}, {"end": 11.0}, {"end": 30.0, "output": Every(time=0.37)}], ids=str)
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("terms", TERMS)
def test_device_and_host_plan_the_same_step(terms, limit, timing):
    bound = LIMITS[limit]
    clock, judged = StepClock(bound.scheme, TERMS[terms]), 0
    for now, rate, state, stages, ratio, tick in jobs(clock, bound, timing, terms):
        accepted = bound.fixed is not None or now.dt * rate <= LARGEST * bound.cfl
        assert state["good"] == accepted
        if not accepted:
            assert state["stop"]
            continue
        assert (state["time"], state["dt"]) == (now.time, now.dt)
        if tick is None or tick.output:
            assert state["stop"]
            continue
        assert (state["next_dt"], state["next_time"]) == (tick.dt, tick.time)
        assert stages == list(clock.scheme.scalars(tick.dt, tick.ratio).values())[: 2 * len(stages) : 2]
        assert ratio is None or ratio == tick.ratio
        assert state["stop"] == (bound.fixed is None and tick.dt * rate <= REST * bound.cfl)
        judged += 1
    assert judged > EXAMPLES / 10


def test_a_stopped_clock_keeps_its_state():
    clock = StepClock(ADAMS_BASHFORTH, TERMS["laminar"])
    stopped = dict(zip(STATE_NAMES, (1.0, 4.0, 0.7, 0.1, 3.0, 0.8, 0.1, 3.0), strict=True))

    def program(f: Roles) -> Iterator[Launch]:
        yield clock(f)

    def job(shard):
        shard.scalars.set({**limit_scalars(dict.fromkeys(LIMIT_NAMES, 1.0)), **state_scalars(stopped), "rate": 3.0})
        shard.run(program)
        return state_of(shard.scalars.together(NAMES))

    main = Partition(Region(Box.of((2, 1, 1)), FieldSpace([Field("p", "f8")]), ghost=0), (1, 1, 1))
    state = run_threads(replace(main, beside=(clock.partition(main, "f8"),)), job, cpu(1))[0]
    assert state == stopped
    assert NAMES[0].startswith(STATE)
    assert len(NAMES) == len(STATE_NAMES)
