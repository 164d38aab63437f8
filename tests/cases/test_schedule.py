"""The clock: every target hit exactly, no sliver steps, the same answer on every block."""

import math
import pickle
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from taskflow.cases.timing.intervals import Every, Tick
from taskflow.cases.timing.schedule import Clock
from taskflow.common.errors import BadInput, RunFailed
from taskflow.flow.stability import StepLimit
from taskflow.flow.time.schemes import RUNGE_KUTTA, DiffusiveRates


def walk(clock, advection=lambda tick: 1.0, most=20_000):
    """All ticks of a run."""
    ticks = [clock.start()]
    while not ticks[-1].finished:
        assert len(ticks) <= most, "the run does not end"
        ticks.append(clock.advance(ticks[-1], advection(ticks[-1])))
    return ticks


# ------------------------------------------------------------------------------------------------ Every

@pytest.mark.parametrize(("value", "expected"), [
    (1, Every(time=1.0)), (0.25, Every(time=0.25)), ({"steps": 3}, Every(steps=3)), ({"time": 2}, Every(time=2.0)),
    (Every(steps=4), Every(steps=4)),
])
def test_every_is_read(value, expected):
    assert Every.parse(value) == expected
    assert Every.parse(expected.written()) == expected


@pytest.mark.parametrize("value", [
    0, -1, math.nan, math.inf, True, "1", None, [], {}, {"steps": 0}, {"steps": 1.5}, {"steps": True}, {"steps": None},
    {"time": 0}, {"time": "1"}, {"time": math.inf}, {"steps": 1, "time": 1}, {"minutes": 5}, {"step": 1}, 10**400,
])
def test_every_is_one_positive_interval(value):
    with pytest.raises(BadInput):
        Every.parse(value)


def test_every_needs_one_of_two():
    with pytest.raises(BadInput, match="one of steps and time"):
        Every()
    with pytest.raises(BadInput, match="one of steps and time"):
        Every(steps=1, time=1.0)


def test_minutes_are_for_checkpoints():
    """They are never due by the clock of the simulation."""
    for value in ({"minutes": 5}, Every(minutes=5.0)):
        with pytest.raises(BadInput):
            Every.parse(value)
    every = Every.parse({"minutes": 5}, minutes=True)
    assert every == Every(minutes=5.0) == Every.parse(every.written(), minutes=True)
    assert not every.due(Tick(), 10**6, 1e9)


def test_checkpoints_cut_no_step():
    plain, saved = (Clock(StepLimit(fixed=0.3), end=4.0, checkpoint=every) for every in (None, Every(time=1.0)))
    assert [tick.time for tick in walk(saved)] == [tick.time for tick in walk(plain)]
    assert [tick.step for tick in walk(saved) if tick.checkpoint] == [4, 7, 11, 14]  # of 14 steps of 2/7
    assert not any(tick.checkpoint for tick in walk(plain))


def test_when_a_run_is_over():
    assert [Clock(StepLimit(), end=2.0).over(Tick(5, time)) for time in (1.9, 2.0, 2.1)] == [False, True, True]
    assert [Clock(StepLimit(), steps=5).over(Tick(step, 9.0)) for step in (4, 5, 6)] == [False, True, True]


# ------------------------------------------------------------------------------------------------ length of a step

def test_the_longest_step_obeys_both_limits():
    limit = StepLimit(cfl=0.5, diffusion=0.2, spread=4.0)
    assert limit.longest(100.0) == 0.5 / 100.0
    assert limit.longest(1.0) == 0.2 / 4.0
    assert limit.longest(0.0) == 0.2 / 4.0
    assert limit.longest(1.0, DiffusiveRates(8.0)) == 0.2 / 8.0  # with eddies
    assert limit.longest(1.0, DiffusiveRates(3.0)) == 0.2 / 4.0
    assert StepLimit(fixed=0.1, spread=1e9).longest(1e9) == 0.1
    assert StepLimit(fall=1.0).bounds(1e200)["cfl"] == 0  # a square is above all numbers


def test_a_tick_says_which_bound_set_its_step():
    limit = StepLimit(cfl=0.5, diffusion=0.2, longest_step=0.02)
    clock = Clock(limit, end=1.0)
    bounds = {"cfl": 0.05, "diffusion": 0.05, "capillary": 0.02, "scalars": math.inf}
    assert limit.bounds(10.0, DiffusiveRates(4.0)) == bounds
    told = [clock.advance(Tick(), *rates).limit for rates in ((100.0,), (1.0, DiffusiveRates(40.0)), (1.0,))]
    assert told == ["cfl", "diffusion", "capillary"]
    assert clock.advance(Tick(step=9, time=0.99, dt=0.02), 1.0).limit == "end"
    fixed = Clock(StepLimit(fixed=0.3), end=1.0)
    assert [fixed.advance(tick, 1.0).limit for tick in (Tick(), Tick(3, 0.9, 0.3))] == ["step", "end"]


def test_without_motion_and_viscosity_a_step_leads_to_the_next_time_that_is_given():
    assert Clock(StepLimit(), end=1.0, output=Every(time=0.25)).advance(Tick(), 0.0).time == 0.25
    with pytest.raises(BadInput, match=r"no time step can be found.*time\.step"):
        Clock(StepLimit(), steps=3).advance(Tick(), 0.0)


@pytest.mark.parametrize("fixed", [None, 0.1])
@pytest.mark.parametrize("advection", [math.nan, math.inf, -1.0])
def test_a_velocity_that_is_not_finite_ends_the_run(fixed, advection):
    with pytest.raises(RunFailed, match=r"diverged: at step 7, time 0\.5.*smaller time\.(cfl|step)"):
        Clock(StepLimit(fixed=fixed), end=1.0).advance(Tick(step=7, time=0.5, dt=0.1), advection)


@pytest.mark.parametrize(("limit", "told"), [
    (StepLimit(cfl=0.4), "time.cfl (now 0.4), or"),
    (StepLimit(cfl=0.4, diffusion=0.3), "time.cfl (now 0.4) and time.diffusion (now 0.3), or"),
    (StepLimit(cfl=1.5, diffusion=0.3, scheme=RUNGE_KUTTA), "time.cfl (now 1.5), or"),
    (StepLimit(cfl=1.8, diffusion=0.3, scheme=RUNGE_KUTTA), "time.cfl (now 1.8), or"),
    (StepLimit(cfl=1.5, diffusion=0.7, scheme=RUNGE_KUTTA), "time.diffusion (now 0.7), or"),
    (StepLimit(fixed=0.1), "time.step (now 0.1), or"),
])  # fmt: skip
def test_the_remedy_names_what_is_beyond_the_limits_of_the_scheme(limit, told):
    assert told in Clock(limit, end=1.0).remedy


@pytest.mark.parametrize(("clock", "advection"), [
    (Clock(StepLimit(), end=1.0), 1e300), (Clock(StepLimit(), end=1.0), 1e17),
    (Clock(StepLimit(cfl=1e-300), end=1.0), 1e300),
    (Clock(StepLimit(), steps=5), 1e300), (Clock(StepLimit(fixed=1e-300), end=1.0), 1.0),
])
def test_steps_that_lead_nowhere_end_the_run(clock, advection):
    with pytest.raises(RunFailed, match="gets nowhere"):
        clock.advance(Tick(step=3, time=0.5, dt=0.1), advection)


def test_the_euler_start_and_the_ratio_of_steps():
    ticks = walk(Clock(StepLimit(cfl=1.0), steps=3), lambda tick: 1.0 + tick.step)
    assert [tick.dt for tick in ticks[1:]] == [1.0, 1 / 2, 1 / 3]
    assert [tick.ratio for tick in ticks[1:]] == [0.0, 1 / 2, (1 / 3) / (1 / 2)]


@pytest.mark.parametrize(("step", "end", "every", "count"), [
    (0.1, 1.0, None, 10), (0.1, 60.0, 1.0, 600), (0.01, 0.3, 0.1, 30), (1e-3, 10.0, 0.7, 10_000), (0.3, 1.0, None, 4),
    (1 / 3, 1.0, None, 3), (0.1, 0.1, None, 1), (2.0, 1.0, 0.5, 2),
])
def test_a_fixed_step_that_divides_the_way_is_kept(step, end, every, count):
    clock = Clock(StepLimit(fixed=step), end=end, output=Every(time=every) if every else None)
    ticks = walk(clock)
    assert ticks[-1].step == count
    assert ticks[-1].time == end
    if math.isclose(end / step, round(end / step), rel_tol=1e-12) and count > 2:
        assert all(math.isclose(tick.dt, step, rel_tol=1e-9) for tick in ticks[1:])


# ------------------------------------------------------------------------------------------------ what is due

def test_first_and_last_are_always_written():
    ticks = walk(Clock(StepLimit(cfl=0.1), end=1.0))
    assert [tick.time for tick in ticks if tick.output] == [0.0, 1.0]
    assert ticks[0].monitor
    assert ticks[-1].monitor
    assert Clock(StepLimit(), end=1.0).snapshots() == 2


def test_output_times_are_products_not_sums():
    ticks = walk(Clock(StepLimit(cfl=0.03), end=2.0, output=Every(time=0.1)))
    assert [tick.time for tick in ticks if tick.output] == [k * 0.1 for k in range(20)] + [2.0]


def test_an_end_that_rounding_puts_beside_an_output_is_written_once():
    assert 3 * 0.1 != 0.3
    ticks = walk(Clock(StepLimit(cfl=0.05), end=0.3, output=Every(time=0.1)))
    assert [tick.time for tick in ticks if tick.output] == [0.0, 0.1, 0.2, 0.3]


def test_output_by_steps_does_not_change_them():
    clock = Clock(StepLimit(cfl=0.3), steps=10, output=Every(steps=4), monitor=Every(steps=3))
    ticks = walk(clock)
    assert [tick.step for tick in ticks if tick.output] == [0, 4, 8, 10]
    assert [tick.step for tick in ticks if tick.monitor] == [0, 3, 6, 9, 10]
    assert {tick.dt for tick in ticks[1:]} == {0.3}
    assert clock.snapshots() == 4


def test_steps_end_a_run_that_writes_by_time():
    clock = Clock(StepLimit(fixed=0.25), steps=5, output=Every(time=0.5))
    assert [tick.time for tick in walk(clock) if tick.output] == [0.0, 0.5, 1.0, 1.25]
    assert clock.snapshots() is None


def test_the_monitor_cuts_no_step():
    ticks = walk(Clock(StepLimit(fixed=0.4), end=4.0, monitor=Every(time=1.0)))
    assert [tick.step for tick in ticks if tick.monitor] == [0, 3, 5, 8, 10]
    assert all(math.isclose(tick.dt, 0.4) for tick in ticks[1:])


def test_a_steady_state_is_the_last_one():
    assert Tick(step=3, time=0.3, dt=0.1, output=False, monitor=False).last() == Tick(
        step=3, time=0.3, dt=0.1, output=True, monitor=True, finished=True
    )


def test_intervals_too_short_for_floating_point_are_refused():
    with pytest.raises(BadInput, match="cannot be resolved at time"):
        Clock(StepLimit(), end=1.0, output=Every(time=1e-300)).snapshots()
    with pytest.raises(BadInput, match="cannot be resolved at time"):
        Clock(StepLimit(), steps=9, output=Every(time=1e-17)).advance(Tick(1, 1.0, 0.1), 1.0)


def test_progress_runs_from_0_to_1():
    for clock in (Clock(StepLimit(fixed=0.3), end=2.0), Clock(StepLimit(fixed=0.3), steps=7)):
        shares = [clock.progress(tick) for tick in walk(clock)]
        assert shares[0] == 0.0
        assert shares[-1] == 1.0
        assert shares == sorted(shares)


def test_clock_and_tick_travel():
    clock = Clock(StepLimit(spread=2.0), end=1.0, output=Every(time=0.3), monitor=Every(steps=2))
    assert pickle.loads(pickle.dumps(clock)) == clock
    assert walk(pickle.loads(pickle.dumps(clock))) == walk(clock)


# ------------------------------------------------------------------------------------------------ properties

numbers = st.floats(1e-3, 1e3)


@st.composite
def clocks(draw):
    """Clocks whose runs take some hundreds of steps at an advection of about 1."""
    size = draw(numbers)
    limit = draw(st.one_of(
        st.builds(lambda f: StepLimit(fixed=size * f), st.floats(0.3, 3)),
        st.builds(lambda f, s: StepLimit(cfl=size * f, diffusion=size, spread=s), st.floats(0.3, 3), st.floats(0, 2)),
    ))
    times = st.builds(lambda f: Every(time=size * f), st.floats(0.2, 30))
    intervals = st.none() | times | st.builds(Every, steps=st.integers(1, 9))
    end = size * draw(st.one_of(st.floats(0.1, 60), st.integers(1, 60)))
    steps = draw(st.one_of(st.none(), st.integers(1, 60)))
    return Clock(limit, end if steps is None else None, steps, draw(intervals), draw(intervals))


@given(clocks(), st.randoms(use_true_random=False))
def test_a_run_keeps_every_promise(clock, random):
    rates = []

    def advection(tick):
        rates.append(random.choice([0.5, 1.0, random.uniform(0.3, 2.0)]))
        return rates[-1]

    ticks = walk(clock, advection)
    for (before, now), rate in zip(pairwise(ticks), rates, strict=True):
        longest = clock.limit.longest(rate)
        assert 0 < now.dt <= longest * (1 + (1e-12 if clock.limit.fixed is None else 1.1e-9))
        assert before.time < now.time
        assert math.isclose(now.time - before.time, now.dt, rel_tol=1e-9, abs_tol=4 * math.ulp(now.time))
        assert now.ratio == (now.dt / before.dt if before.step else 0.0)
        assert now.step == before.step + 1
        if now.dt < longest / 2 * (1 - 1e-9):  # only where the whole way is shorter
            assert now.output
    last = ticks[-1]
    assert last.output
    assert last.monitor
    assert [tick.finished for tick in ticks] == [False] * (len(ticks) - 1) + [True]
    assert last.time == clock.end if clock.end is not None else last.step == clock.steps

    written = [tick for tick in ticks if tick.output]
    if clock.output is None:
        assert len(written) == 2
    elif clock.output.steps:
        assert [tick.step for tick in written[:-1]] == list(range(0, last.step, clock.output.steps))
    else:
        every = clock.output.time
        assert [tick.time for tick in written[:-1]] == [k * every for k in range(len(written) - 1)]
        assert 0 < last.time - written[-2].time <= every * (1 + 1e-8)
    if clock.snapshots() is not None:
        assert len(written) == clock.snapshots()
    assert ticks == walk(clock, lambda tick: rates[tick.step])


@given(st.integers(1, 400), st.floats(1e-6, 1e6), st.integers(1, 20))
@example(600, 0.1, 10)
def test_a_fixed_step_that_divides_everything_is_never_cut(count, step, stride):
    clock = Clock(StepLimit(fixed=step), end=count * step, output=Every(time=stride * step))
    ticks = walk(clock)
    assert ticks[-1].step == count
    assert all(math.isclose(tick.dt, step, rel_tol=1e-9) for tick in ticks[1:])


@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_the_planned_snapshots_are_those_written(end, every):
    assume(end / every < 500)
    clock = Clock(StepLimit(fixed=every), end=end, output=Every(time=every))
    assert sum(tick.output for tick in walk(clock)) == clock.snapshots()
