"""Runs that end when nothing changes any more: not before, not at a moment, and whatever the blocks are."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.cases.timing.intervals import Every, Tick
from taskflow.cases.timing.steady import SteadyCriterion, SteadyWatch
from taskflow.common.errors import BadInput
from taskflow.flow.measures.steadiness import Motion
from taskflow.output import dataset, read_log
from taskflow.runs.estimate.estimate import estimate
from taskflow.runtime.machine.device import gpu
from tests.flows import compute
from tests.runs.going_on import assert_same_run, go

WALLS = {"z_min": "wall", "z_max": "wall", "y": "periodic"}


def cavity(**changes) -> Case:
    """A box at rest whose sides are hot and cold; nothing lifts the fluid."""
    tables = {
        "grid": {"cells": [8, 1, 8], "lengths": [1.0, 1.0, 1.0]}, "fluid": {"viscosity": 0.71},
        "heat": {"diffusivity": 1.0, "reference": 0.5},
        "boundaries": {
            **WALLS, "x_min": {"type": "wall", "temperature": 1.0}, "x_max": {"type": "wall", "temperature": 0.0},
        },
        "time": {"end": 20.0, "steady": 1e-3}, "monitor": {"every": {"steps": 10**6}},
    }  # fmt: skip
    return Case(**{**tables, **changes})


def stream(**changes) -> Case:
    """A fluid that a force drives between walls, with a dye that it carries and that diffuses slowly."""
    tables = {
        "grid": {"cells": [4, 2, 8], "lengths": [1.0, 0.5, 1.0]}, "fluid": {"viscosity": 0.5},
        "boundaries": {**WALLS, "x": "periodic"}, "body": {"force": [1.0, 0.0, 0.0]},
        "time": {"end": 90.0, "step": 0.002, "steady": {"rate": 0.01, "over": 0.1, "every": {"steps": 7}}},
        "pressure": {"iterations": 3}, "monitor": {"every": {"steps": 10**6}},
        "machine": {"device": "cpu", "threads": 1},
    }  # fmt: skip
    return Case(**{**tables, **changes})


# ------------------------------------------------------------------------------------------------------- the case

def test_a_number_is_a_rate():
    expected = {"rate": 1e-3, "every": {"steps": 10}}
    assert cavity().time.steady == cavity(time={"end": 20.0, "steady": expected}).time.steady
    assert cavity().written()["time"]["steady"] == expected


@pytest.mark.parametrize(("values", "told"), [
    (-1, "time.steady = -1: give a number > 0, a rate, or a table with rate, over and every"),
    ("soon", 'time.steady = "soon": give a number > 0, a rate'),
    ({"over": 1.0}, "time.steady.rate: missing; give the largest relative change per unit time"),
    ({"rate": 0}, "time.steady.rate = 0: give a number > 0"),
    ({"rate": 1, "over": 1.0, "every": 2.0}, "time.steady.over = 1.0: checks are farther apart"),
    ({"rate": 1, "every": {"minutes": 1}}, "time.steady.every = { minutes = 1 }: minutes are for checkpoints"),
])  # fmt: skip
def test_what_is_refused(values, told):
    with pytest.raises(BadInput) as refused:
        cavity(time={"end": 1.0, "steady": values})
    assert str(refused.value).startswith(told)


# ------------------------------------------------------------------------------------------------------- the flow

def test_heat_that_is_conducted_in_a_fluid_at_rest():
    """Nothing moves but the temperature: it ends as a straight line, with the flux of pure conduction."""
    flow = compute(cavity())
    assert flow.steady
    np.testing.assert_allclose(flow["T"][0, 0], 1 - (np.arange(8) + 0.5) / 8, atol=2e-4)
    assert flow.setup.monitor.nusselt(flow.scalars)["x_min"] == pytest.approx(1.0, abs=1e-3)
    assert flow["u"].max() == 0


def test_a_velocity_of_rounding_alone_is_rest():
    """Stable layers of a fluid that could rise: what the projection leaves does not keep the run from its end."""
    flow = compute(cavity(heat={"diffusivity": 1.0, "expansion": 1e3}, body={"gravity": [1.0, 0.0, 0.0]}))
    assert flow.steady
    assert 0 < np.abs(flow["u"]).max() < 1e-9


def test_where_nothing_moves_nothing_is_steady():
    still = {**WALLS, "x_min": "wall", "x_max": "wall"}
    flow = compute(cavity(boundaries=still, time={"steps": 300, "step": 1e-3, "steady": 1e-3}))
    assert not flow.steady
    late = {**still, "x_min": {"type": "inflow", "velocity": ["maximum(t - 0.2, 0)", 0, 0]}, "x_max": "outflow"}
    flow = compute(cavity(heat=None, boundaries=late, time={"end": 0.3, "step": 1e-3, "steady": 1e-1}))
    assert not flow.steady
    assert flow["u"].max() > 0


@pytest.mark.parametrize("scheme", ["central", "koren"])
@pytest.mark.fast("koren")
def test_a_scalar_keeps_a_run_going(scheme):
    """The velocity is steady long before the dye is."""
    dye = {"name": "dye", "diffusivity": 0.05, "scheme": scheme, "initial": "z"}
    alone, with_dye = compute(stream()), compute(stream(scalars=[dye]))
    assert alone.steady
    assert with_dye.steady
    assert with_dye.tick.time > 3 * alone.tick.time
    assert np.ptp(with_dye["dye"]) == pytest.approx(2 * 0.01 * 7 / 8 / (0.05 * np.pi**2), rel=0.1)  # as it fades


def test_it_has_its_own_interval_and_a_while():
    """Whatever the log does; a longer while is as much longer, but for the interval and what changes meanwhile."""
    flow = compute(stream())
    assert flow.tick.step % 7 == 0
    assert flow.tick == compute(stream(monitor={"every": {"steps": 3}})).tick
    longer = {"rate": 0.01, "over": 0.5, "every": {"steps": 7}}
    result = compute(stream(time={**stream().time.written(), "steady": longer})).tick.time - flow.tick.time
    assert 0.15 < result < 0.5
    default = compute(stream(time={**stream().time.written(), "steady": 0.01}))
    assert default.steady


@pytest.mark.fast("blocks1")
@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 1, 2)])
def test_any_blocks_end_at_the_same_step(blocks):
    case = stream(scalars=[{"name": "dye", "diffusivity": 0.5, "initial": "z"}])
    one, other = compute(case), compute(case, blocks, garbage=np.nan)
    assert one.steady
    assert one.tick == other.tick
    np.testing.assert_array_equal(one["dye"], other["dye"])


@pytest.mark.gpu
def test_a_gpu_ends_where_a_cpu_does():
    case = stream(scalars=[{"name": "dye", "diffusivity": 0.5, "initial": "z"}])
    one, other = compute(case), compute(case, device=gpu())
    assert other.steady
    assert one.tick.step == pytest.approx(other.tick.step, abs=7)


def test_it_does_nothing_to_the_flow():
    table = stream().time.written()
    until = compute(stream())
    free = compute(stream(time={"steps": until.tick.step, "step": table["step"]}))
    for name in ("u", "v", "w", "p"):
        np.testing.assert_array_equal(until[name], free[name])
    assert not free.setup.model.fields.keys() & {"was_u"}
    assert set(until.setup.partition.fields) - set(free.setup.partition.fields) == {"was_u", "was_v", "was_w"}


@pytest.mark.slow
def test_it_is_in_the_proof():
    machine = {"device": "cpu", "threads": 1, "blocks": [1, 1, 2], "channel": "actor"}
    cases = stream(machine=machine, time={"steps": 9}), stream(machine=machine)
    proofs = [estimate(case).prove() for case in cases]
    for proof in proofs:
        proof.hold()
    assert proofs[1].templates > proofs[0].templates


# --------------------------------------------------------------------------------------------------- the judgement

class Fake:
    """A flow that is one number, a function of time, and a shard that keeps it."""

    def __init__(self, value, most: float = 1.0) -> None:
        self.value, self.kept, self.most, self.now = value, 0.0, most, 0.0
        self.watched, self.scalars = ("velocity",), {"speed": 1.0}
        self.partition = SimpleNamespace(fields={"u": SimpleNamespace(dtype="f8")})

    def keep(self) -> None:
        self.kept = self.value(self.now)

    def compare(self) -> None: ...

    def run(self, program) -> None:
        program()

    def motions(self, *_: object) -> dict[str, Motion]:
        return {"velocity": Motion(abs(self.value(self.now) - self.kept), self.most)}

    def patience(self, _: float) -> float:
        return 2.0

    def ends(self, rate: float, over: float | None = None, dt: float = 0.1, most: int = 5000) -> float:
        """When it is steady."""
        judged = SteadyWatch(SteadyCriterion(self, rate, Every(steps=1), over), self)
        judged.begin(0.0)
        tick = Tick()
        for step in range(1, most):
            before, self.now = tick, step * dt
            tick = Tick(step, self.now, dt)
            if judged.look(before, tick):
                return self.now
        return math.inf


def test_a_decay_ends_when_its_rate_is_small():
    """exp(-t) changes by 1e-3 per time at t = 6.9, less what a while averages."""
    for over in (0.5, 2.0, None):
        assert Fake(lambda t: math.exp(-t)).ends(1e-3, over) == pytest.approx(math.log(1e3) + (over or 2.0), abs=1.0)


@pytest.mark.parametrize("period", [3.7, 0.31, 5.0])
@pytest.mark.fast("0.31")
def test_an_oscillation_is_not_steady_at_its_turning_points(period):
    """Its rate is 0 there; that over a while is at least 0.72 of the largest, wherever it begins."""
    swing = Fake(lambda t: math.cos(2 * math.pi * t / period))
    largest = 2 * math.pi / period
    assert swing.ends(0.2 * largest, over=0.4 * period, dt=period / 97) == math.inf
    assert swing.ends(1.1 * largest, over=0.4 * period, dt=period / 97) < period


def test_a_slow_drift_is_not_steady():
    assert Fake(lambda t: 1e-3 * t).ends(0.9e-3, 5.0) == math.inf
    assert Fake(lambda t: 1e-3 * t).ends(1.1e-3, 5.0) == pytest.approx(5.0)


def test_what_begins_late_is_not_steady_when_it_does():
    late = Fake(lambda t: max(t - 50.0, 0.0) * math.exp(-(t - 50.0)))
    assert 55 < late.ends(1e-2, 0.5) < 65


def test_what_is_no_number_is_never_steady():
    assert Fake(lambda t: math.nan if t > 1 else t).ends(1e-1, 0.5) == math.inf
    assert Fake(math.sin, most=math.nan).ends(10.0, 0.5) == math.inf


def test_what_fades_away_ends():
    """Relative to the largest range so far: exp(-t) in an own range that is exp(-t) would never end."""
    fading = Fake(lambda t: math.exp(-t))
    fading.motions = lambda *_: {"velocity": Motion(abs(fading.value(fading.now) - fading.kept), math.exp(-fading.now))}
    assert fading.ends(1e-3, 0.5) < 12


# ------------------------------------------------------------------------------------------------------ going on

@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)])
def test_to_the_bit_when_it_goes_on(tmp_path, blocks):
    """In the middle of a while, with its state; the end is that of a run without a break."""
    case = stream(scalars=[{"name": "dye", "diffusivity": 0.5, "initial": "z"}], checkpoint={"every": {"steps": 10}})
    whole = go(case, tmp_path / "whole", blocks)
    assert whole["ended"] == "steady"
    assert set(whole["rates"]) == {"velocity", "dye"}
    assert 0 < max(whole["rates"].values()) < 0.01
    go(case, tmp_path / "run", blocks, kill=whole["step"] - 12)
    result = go(case, tmp_path / "run", blocks, resume=True)
    assert (result["step"], result["ended"], result["rates"]) == (whole["step"], "steady", whole["rates"])
    assert_same_run(tmp_path / "run", tmp_path / "whole")
    assert read_log(tmp_path / "run" / "log.jsonl")[-1]["step"] == whole["step"]
    with dataset(tmp_path / "run" / "fields.zarr") as ds:
        assert float(ds.time[-1]) == whole["time"]


@pytest.mark.slow
def test_asked_to_stop_at_the_step_at_which_it_ends(tmp_path):
    quick = {**stream().time.written(), "steady": {"rate": 0.5, "over": 0.1, "every": {"steps": 7}}}
    case = stream(time=quick, output={"every": {"steps": 20}})
    end = go(case, tmp_path / "whole")["step"]
    for stop in (end - 1, end - 7):
        go(case, tmp_path / f"{stop}", stop=stop)
        result = go(case, tmp_path / f"{stop}", resume=True)
        assert (result["step"], result["ended"]) == (end, "steady")
        assert_same_run(tmp_path / f"{stop}", tmp_path / "whole")


@pytest.mark.slow
def test_another_steady_state_begins_its_while_anew(tmp_path):
    case, checkpoint = stream(), {"every": {"steps": 10}}
    other = stream(time={**stream().time.written(), "steady": 0.002}, checkpoint=checkpoint)
    end = go(case, tmp_path / "run")
    assert end["ended"] == "steady"
    later = go(other, tmp_path / "run", resume=True)
    assert later["ended"] == "steady"
    assert later["step"] > end["step"]
    free = {"steps": later["step"] + 5, "step": 0.002}
    assert go(stream(time=free), tmp_path / "run", resume=True)["ended"] == "end"
