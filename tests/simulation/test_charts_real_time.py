"""Real time on charts: the same bits for any blocks and after any break, sides that change in time, steps that miss."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from taskflow.errors import BadInput, RunFailed
from taskflow.output import read_log
from taskflow.simulation.build.artificial_compressibility.moving import Moment
from taskflow.simulation.build.simulation import Simulation
from taskflow.simulation.case import Case
from taskflow.simulation.restart import newest_restart
from tests.simulation.going_on import go
from tests.simulation.on_charts import CYLINDER, LID, TURNED, case, changed
from tests.simulation.test_charts_run import check_same

EVERY = {"output__every": {"steps": 2}, "monitor__every": {"steps": 1}}
SHEDDING = changed(
    CYLINDER, time={"steps": 6, "step": 0.2}, method__march="rk5", method__compressibility=10.0,
    boundaries__body={"type": "wall", "velocity": ["-y*sin(t)", "x*sin(t)", 0.0]}, **EVERY,
)  # fmt: skip
WARM = changed(
    LID, time={"end": 0.6, "cfl": 2.0}, method={"type": "artificial-compressibility"}, output__every=0.3,
    monitor__every={"steps": 1},
)  # fmt: skip
SLIDING = changed(
    TURNED, time={"steps": 6, "step": 0.1}, initial={"velocity": [0.3, 0.0, 0.0]}, **EVERY,
    boundaries__y_max={"type": "wall", "velocity": ["cos(t)", 0.0, 0.0]},
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "cuts"), [
    (SHEDDING, {"1": [2, 1, 1], "2": [1, 2, 1]}), (WARM, {"2": [1, 2, 2]}), (SLIDING, {"4": [1, 1, 2]}),
])  # fmt: skip
def test_real_time_has_the_same_bits_for_any_blocks_and_goes_on_after_a_break(tmp_path, tables, cuts):
    go(case(tables), tmp_path / "whole")
    go(case(tables, machine__cuts=cuts), tmp_path / "cut", (1, 1, 3))
    check_same(tmp_path / "cut", tmp_path / "whole")
    saved, broken = case(tables, checkpoint__every={"steps": 2}), tmp_path / "broken"
    go(saved, broken, (1, 1, 2), kill=5)
    assert newest_restart(broken, saved)[0].tick.step == 4
    go(saved, broken, (1, 1, 1), resume=True)
    check_same(broken, tmp_path / "whole")


def test_checkpoints_hold_two_levels():
    """And no more: what they add to a step is found anew."""
    setup = Simulation(case(SHEDDING, method__march="rk4"), (1, 1, 2))
    levels = {name for name in setup.carried if setup.carried[name]}
    assert levels == {name for q in "puvw" for name in (q, f"old_{q}")}


def test_a_case_in_real_time_is_read_back_as_it_was_written():
    full = case(WARM, method__inner={"tolerance": 1e-2})
    assert full.own.inner.iterations == 1000
    assert Case(**tomllib.loads(full.to_toml())) == full


@pytest.mark.slow
def test_steps_that_miss_are_warned_of_and_five_in_a_row_are_an_error(tmp_path):
    with pytest.raises(RunFailed) as error:
        go(case(SHEDDING, method__inner={"iterations": 10}), tmp_path / "run")
    assert str(error.value).startswith("step 5, time 1: after 10 steps of pseudo-time the residual of continuity is ")
    assert "in the 5th step in a row; give more method.inner.iterations, shorter steps, or a larger" in str(error.value)
    told = go(case(SHEDDING, method__inner={"iterations": 10}, time__steps=3), tmp_path / "short")
    (warning,) = told["warnings"]
    assert warning.startswith("step 1, time 0.2: after 10 steps of pseudo-time the residual of continuity is ")


@pytest.mark.slow
def test_the_log_of_real_time(tmp_path):
    """Steps as long as they are asked to be, and what is marched within them."""
    told = go(case(WARM), tmp_path / "run")
    lines = read_log(tmp_path / "run" / "log.jsonl")
    assert told["ended"] == "end"
    assert lines[-1]["time"] == 0.6
    steps = [line for line in lines if line["step"]]
    assert all(line["inner"] >= 10 and line["cfl"] <= 2.0 * 1.3 for line in steps)
    assert all(line["divergence"] <= 1e-4 for line in steps)


@pytest.mark.slow
def test_steps_of_real_time_are_proved():
    from taskflow.simulation.estimate import estimate

    proof = estimate(case(SLIDING, machine__blocks=2)).prove()
    proof.hold()
    assert proof.reads > 0


def test_sides_that_change_in_time_are_tried_beforehand():
    velocity = ["-y*sqrt(0.5 - t)", "x*sqrt(0.5 - t)", 0.0]
    tables = changed(SHEDDING, boundaries__body={"type": "wall", "velocity": velocity})
    with pytest.raises(BadInput, match=r"boundaries.body.velocity: .* is not finite"):
        Simulation(case(tables), (1, 1, 1)).system.check()
    through = changed(SHEDDING, boundaries__body={"type": "wall", "velocity": ["t", 0.0, 0.0]})
    with pytest.raises(BadInput, match=r"boundaries.body.velocity: at t = 0.15 a wall moves in its own plane only"):
        Simulation(case(through), (1, 1, 1)).system.check()
    sides = {
        "x_min": {"type": "inflow", "velocity": ["1 + t", 0.0, 0.0]},
        "x_max": {"type": "inflow", "velocity": [1.0, 0.0, 0.0]},
        **dict.fromkeys(("y_min", "y_max", "z_min", "z_max"), "slip"),
    }  # fmt: skip
    grid = {"cells": [6, 5, 4], "lengths": [1.0, 1.0, 1.0]}
    with pytest.raises(BadInput, match=r"boundaries: at t = 0.15 0.15 per time enters through x_min, x_max"):
        Simulation(case(SHEDDING, grid=grid, boundaries=sides), (1, 1, 1)).system.check()


def test_velocities_of_sides_are_those_of_the_end_of_a_step():
    constants = Simulation(case(SHEDDING), (1, 1, 1)).system.constants
    box = constants.domain.atlas.charts[0].grow(2)
    at_rest, later = (constants.velocities(box, Moment(time)) for time in (0.0, 0.5))
    assert not any(np.any(values) for values in at_rest.values())
    speed = np.hypot(later["u_s"], later["v_s"])
    assert speed.max() == pytest.approx(0.5 * np.sin(0.5), rel=0.02)
