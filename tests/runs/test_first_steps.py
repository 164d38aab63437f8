"""Flows that start from rest, or are set in motion later: no accepted step is too long, none steps over its cause."""

import math
from dataclasses import replace

import numpy as np
import pytest

import taskflow as tf
from taskflow.cases.tables.timed import TimeTable, at_times, value
from taskflow.output import read_log
from taskflow.runs.block.pace import LARGEST, Pace
from taskflow.runs.block.stepping import Stepping
from taskflow.runs.estimate.step_count import count_steps
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.base.foresight import FINE, Foresight, NumberSignal
from tests.runs.going_on import assert_same_run, found, go

CFL = 0.5
PERIODIC = {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"}
BOX = {"x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall", "z_max": "wall"}
DUCT = {"x_min": {"type": "outflow", "pressure": 0.0}, "x_max": {"type": "outflow", "pressure": 0.0}, "y": "periodic",
        "z_min": "wall", "z_max": "wall"}  # fmt: skip
HEAT = {"diffusivity": 1e-5, "expansion": 1.0}
DOWN = {"gravity": [0, 0, -1.0]}
BUBBLE = {"temperature": "exp(-((x-0.5)**2+(z-0.3)**2)/0.02)"}
PLACE = {"box": [[0.3, 0.0, 0.2], [0.55, 1.0, 0.4]]}
MOVES = 0.8  # share of time.cfl that a flow has reached
LATE = "where(t > 1.3, 1, 0)"


def lid(speed):
    return {**BOX, "z_max": {"type": "wall", "velocity": [speed, 0, 0]}}


def entering(speed):
    return {**BOX, "x_min": {"type": "inflow", "velocity": [speed, 0, 0]}, "x_max": "outflow"}


FLOWS = {
    "bubble": {"boundaries": PERIODIC, "heat": HEAT, "initial": BUBBLE, "body": DOWN},
    "bubble_rk3": {"boundaries": PERIODIC, "heat": HEAT, "initial": BUBBLE, "body": DOWN, "time": {"scheme": "rk3"}},
    "bubble_bounded": {"boundaries": BOX, "heat": {**HEAT, "scheme": "koren"}, "initial": BUBBLE, "body": DOWN},
    "bubble_ideal": {"boundaries": PERIODIC, "heat": {**HEAT, "diffusivity": 0.0}, "initial": BUBBLE, "body": DOWN,
                     "fluid": {"viscosity": 0.0}},
    "late_forcing_ideal": {"boundaries": PERIODIC, "fluid": {"viscosity": 0.0},
                           "forcing": [{"on": "u", "expression": f"sin(2*pi*z) * {LATE}"}]},
    "source": {"boundaries": BOX, "heat": {**HEAT, "sources": [{"point": [0.4, 0.5, 0.3], "rate": 0.1}]}, "body": DOWN},
    "late_source": {"boundaries": BOX, "body": DOWN,
                    "heat": {**HEAT, "sources": [{"point": [0.4, 0.5, 0.3], "rate": LATE}]}},
    "plume": {"boundaries": BOX, "heat": {**HEAT, "sources": [{**PLACE, "rate": 0.1}]}, "body": DOWN},
    "plume_rk3": {"boundaries": BOX, "heat": {**HEAT, "sources": [{**PLACE, "rate": 0.1}]}, "body": DOWN,
                  "time": {"scheme": "rk3"}},
    "late_plume": {"boundaries": BOX, "heat": {**HEAT, "sources": [{**PLACE, "rate": LATE}]}, "body": DOWN},
    "growing_plume": {"boundaries": BOX, "heat": {**HEAT, "sources": [{**PLACE, "rate": "0.1*t"}]}, "body": DOWN},
    "heated_wall": {"heat": HEAT, "body": DOWN,
                    "boundaries": {**BOX, "x_min": {"type": "wall", "temperature": 1.0}}},
    "late_heating": {"heat": HEAT, "body": DOWN,
                     "boundaries": {**BOX, "x_min": {"type": "wall", "temperature": LATE}}},
    "bubble_particles": {"boundaries": PERIODIC, "heat": HEAT, "initial": BUBBLE, "body": DOWN,
                         "particles": [{"name": "grains", "points": [[0.5, 0.5, 0.3]], "every": 0.1}]},
    "force": {"boundaries": PERIODIC, "body": {"force": [1.0, 0, 0]}},
    "late_force": {"boundaries": PERIODIC, "body": {"force": [LATE, 0, 0]}},
    "growing_force": {"boundaries": PERIODIC, "body": {"force": ["t", 0, 0]}},
    "pulse": {"boundaries": PERIODIC, "body": {"force": ["20*exp(-((t-1.7)/0.05)**2)", 0, 0]}},
    "forcing": {"boundaries": PERIODIC, "forcing": [{"on": "u", "expression": "sin(2*pi*z)"}]},
    "late_forcing": {"boundaries": PERIODIC, "forcing": [{"on": "u", "expression": f"sin(2*pi*z) * {LATE}"}]},
    "late_warming": {"boundaries": BOX, "heat": HEAT, "body": DOWN,
                     "forcing": [{"on": "T", "expression": f"exp(-((x-0.5)**2+(z-0.3)**2)/0.02) * {LATE}"}]},
    "plate": {"boundaries": BOX, "bodies": {"treatment": "immersed"}, "time": {"end": 1.0}, "obstacles": [{
        "name": "plate", "type": "box", "low": [0.3, -1, 0.45], "high": [0.7, 2, 0.55],
        "motion": {"angle": {"y": "0.5*sin(20*t)"}, "centre": [0.5, 0, 0.5]}}]},
    "rod": {"boundaries": BOX, "bodies": {"treatment": "immersed"}, "time": {"end": 0.3}, "obstacles": [{
        "name": "rod", "type": "cylinder", "axis": "y", "centre": [0.5, 0, 0.5], "radius": 0.15,
        "motion": {"displacement": ["0.05*sin(40*t)", 0, 0]}}]},
    "lid": {"boundaries": lid(1.0)},
    "late_lid": {"boundaries": lid(LATE)},
    "uneven_lid": {"boundaries": lid(f"sin(pi*x) * {LATE}")},
    "inflow": {"boundaries": entering("minimum(t, 1)")},
    "late_inflow": {"boundaries": entering(LATE)},
    "tide": {"boundaries": {**DUCT, "x_min": {"type": "outflow", "pressure": "sin(2*t)"}}},
    "wind": {"boundaries": {**PERIODIC, "z_max": "slip"},
             "body": {"rotation": [0, 0, 0.5], "geostrophic_wind": [1.0, 0, 0]}},
}  # fmt: skip


def fixed(flow, step):
    """A flow with steps of a fixed length."""
    return case(flow, time={"step": step})


def case(flow, **changes):
    tables = {
        "grid": {"cells": [32, 1, 32], "lengths": [1.0, 1.0, 1.0]}, "fluid": {"viscosity": 1e-5},
        "output": {"precision": "double"}, "monitor": {"every": {"steps": 1}}, **FLOWS[flow],
        "time": {"end": 2.0, **FLOWS[flow].get("time", {})}, "machine": {"device": "cpu", "threads": 1},
    }  # fmt: skip
    for name, table in changes.items():
        tables[name] = {**tables.get(name, {}), **table}
    return tf.Case(**tables)


def log_of(made, path, blocks=(1, 1, 1), **how):
    go(made, path, blocks, **how)
    return read_log(path / "log.jsonl")


@pytest.mark.fast(
    "one-bubble_bounded", "one-late_lid", "one-late_warming", "one-late_forcing_ideal", "two-plate", "two-source"
)
@pytest.mark.parametrize("flow", FLOWS)
@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 1)], ids=["one", "two"])
def test_no_accepted_step_is_too_long(tmp_path, flow, blocks):
    log = log_of(case(flow), tmp_path / "run", blocks)
    assert max(line["cfl"] for line in log) <= LARGEST * CFL
    assert log[-1]["kinetic_energy"] > 1e-7, "it has moved"
    assert log[-1]["step"] < 800


@pytest.mark.fast("late_plume")
@pytest.mark.parametrize("flow", ["plume", "plume_rk3", "late_plume", "growing_plume", "heated_wall", "late_lid",
                                  "late_warming", "late_force", "growing_force", "pulse"])  # fmt: skip
def test_a_beginning_has_the_energy_of_small_steps(tmp_path, flow):
    """Within 2 % in the end, and nearly so from the moment at which the flow reaches its CFL number."""
    mine, small = (log_of(made, tmp_path / str(n)) for n, made in enumerate((case(flow), fixed(flow, 0.0025))))
    moves = next((n for n, line in enumerate(mine) if line["cfl"] > MOVES * CFL), len(mine) - 1)
    times, energies = ([line[name] for line in mine[moves:]] for name in ("time", "kinetic_energy"))
    expected = np.interp(times, *([line[name] for line in small] for name in ("time", "kinetic_energy")))
    assert max(abs(energies / expected - 1)) < 0.04
    assert energies[-1] == pytest.approx(expected[-1], rel=0.02)
    assert mine[-1]["step"] < 140


@pytest.mark.parametrize("changes", [
    {"initial": {"velocity": [0.1, 0, 0]}}, {"initial": {"velocity": [0.1, 0, 0], **BUBBLE}, "heat": HEAT, "body": DOWN}
], ids=["force", "bubble"])  # fmt: skip
@pytest.mark.fast("bubble")
def test_steps_of_a_fluid_that_moves_are_those_of_its_speed(tmp_path, monkeypatch, changes):
    logs = [log_of(case("late_force", **changes), tmp_path / "now")]
    monkeypatch.setattr(Pace, "beginning", lambda *_: math.inf)
    logs.append(log_of(case("late_force", **changes), tmp_path / "without"))
    now, without = ([line["time"] for line in log] for log in logs)
    assert now == without


@pytest.mark.slow
def test_a_bubble_from_rest_is_that_of_small_steps(tmp_path):
    energies, heights = [], []
    for n, made in enumerate((case("bubble"), fixed("bubble", 0.002))):
        energies.append(log_of(made, tmp_path / str(n))[-1]["kinetic_energy"])
        end = found(tmp_path / str(n)).isel(time=-1)
        heights.append(float((end.T * end.z_c).sum() / end.T.sum()))
    assert energies[0] == pytest.approx(energies[1], rel=0.02)
    assert heights[0] == pytest.approx(heights[1], rel=0.02)


@pytest.mark.parametrize("flow", ["bubble", "late_lid"])
@pytest.mark.fast("late_lid")
def test_a_run_that_is_resumed_takes_the_same_steps(tmp_path, flow):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    log = log_of(case(flow), whole, (1, 1, 2))
    go(case(flow), parts, (1, 1, 2), stop=4)
    assert log_of(case(flow), parts, (1, 1, 2), resume=True)[-1]["step"] == log[-1]["step"]
    assert_same_run(parts, whole)


def test_a_step_that_is_taken_again_leaves_nothing(tmp_path, monkeypatch):
    """Whatever was tried before, the accepted steps are bitwise those of a run that plans them at once."""
    planned, tried = [], []
    take = Stepping.take

    def noted(self, before, tick):
        after = take(self, before, tick)
        planned.append(after.dt)
        tried.append(after.dt != tick.dt)
        return after

    monkeypatch.setattr(Stepping, "take", noted)
    made = case("bubble_particles")
    monkeypatch.setattr(Pace, "longest", lambda *_: math.inf)
    go(made, tmp_path / "tried")
    assert sum(tried) >= 3
    again = iter([0.0, *planned])
    monkeypatch.setattr(Stepping, "take", lambda self, before, tick: take(self, before, replace(tick)))
    monkeypatch.setattr(Stepping, "planned", lambda self, before: self._spec.clock.advance(
        before, self._rate, self._spec.model.diffusive_rates(self._shard.scalars),
        next(again) if before.step else planned[0]))
    next(again)
    next(again)
    go(made, tmp_path / "planned")
    assert_same_run(tmp_path / "tried", tmp_path / "planned")


def test_a_long_fixed_step_is_kept_with_a_warning(tmp_path):
    report = go(fixed("bubble", 2.0), tmp_path / "run")
    assert report["step"] == 1
    assert any("the step is longer than is stable" in warning for warning in report["warnings"])


@pytest.mark.parametrize("flow", ["bubble", "force", "lid", "tide", "forcing", "plume", "heated_wall", "rod"])
@pytest.mark.fast("tide", "forcing", "heated_wall", "rod")
def test_check_knows_the_first_step_and_a_range_of_steps(tmp_path, flow):
    steps = count_steps(RunSetup(case(flow), (1, 1, 1)))
    log = log_of(case(flow), tmp_path / "run")
    assert log[1]["dt"] == pytest.approx(steps.first, rel=0.2), "the way to the end is divided evenly"
    assert min(steps.range) / 1.5 <= log[-1]["step"] <= 1.5 * max(steps.range)


class Shift:
    """A function of the time that is 1 from a moment on, and counts its calls."""

    def __init__(self, start):
        self.start, self.calls = start, 0

    def __call__(self, t):
        self.calls += 1
        return float(t >= self.start)


def foresight(of, power=0, factor=10.0, end=100.0):
    return Foresight((NumberSignal(factor, power, "key", value(of)),), end)


def test_a_step_ends_before_a_jump_or_is_short_behind_it():
    ahead = foresight(Shift(50.0))
    longest, more = ahead.longest({}, 0.0, 80.0, 0.0, CFL)
    assert 50.0 - 2 * 80.0 / FINE <= longest < 50.0
    assert more == 0.0, "nothing changes by then"
    longest, _ = ahead.longest({}, 49.99, 50.0, 0.0, CFL)
    assert 0.0099 < longest <= 0.01 + 50.0 / FINE, "which is behind the jump"
    assert ahead.jumped({}, 49.99, 50.01, 0.05, CFL)
    assert not ahead.jumped({}, 50.01, 50.2, 0.05, CFL)
    assert ahead.longest({}, 60.0, 30.0, 0.0, CFL) == (30.0, 0.0)


def test_values_that_were_set_are_looked_at():
    ahead = foresight("0*t")
    assert ahead.longest({}, 0.0, 80.0, 0.0, CFL) == (80.0, 0.0)
    assert ahead.longest({"key": value("t")}, 0.0, 80.0, 0.0, CFL)[0] == pytest.approx(math.sqrt(CFL / 10), rel=0.5)


def test_functions_are_called_a_few_times_a_step():
    shift = Shift(1e9)
    ahead = foresight(shift)
    for step in range(640):
        ahead.longest({}, 0.1 * step, 0.1, 0.0, CFL)
    assert shift.calls <= 6 * 640


def test_values_of_many_times(tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("0,1\n2,3\n")
    times = np.array([-1.0, 0.0, 1.0, 5.0])
    assert at_times(TimeTable.load(str(table)), times).tolist() == [1.0, 1.0, 2.0, 3.0]
    assert at_times(value("1/t"), times).tolist() == [-1.0, 0.0, 1.0, 0.2], "0 where it is none"
    assert at_times(2.5, times).tolist() == [2.5] * 4
    assert at_times(value(lambda t: 2 * t), times).tolist() == [-2.0, 0.0, 2.0, 10.0]


ENDS = {"y_min": "wall", "y_max": "wall", "z_min": "symmetry", "z_max": "symmetry"}
ON_CHARTS = {
    "force": {"boundaries": ENDS, "body": {"force": [1.0, 0, 0]}},
    "late_force": {"boundaries": ENDS, "body": {"force": [LATE, 0, 0]}},
    "late_lid": {"boundaries": {**ENDS, "y_max": {"type": "wall", "velocity": [LATE, 0, 0]}}},
    "bubble": {"boundaries": ENDS, "heat": HEAT, "body": {"gravity": [0, -1.0, 0]},
               "initial": {"temperature": "exp(-((x-0.5)**2+(y-0.3)**2)/0.02)"}},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("flow", ON_CHARTS)
def test_no_accepted_step_on_charts_is_too_long(tmp_path, flow):
    made = tf.Case(**{
        "method": {"type": "artificial-compressibility", "march": "implicit", "reference_speed": 0.2},
        "grid": {"shape": "box", "cells": [12, 12, 1], "lengths": [1, 1, 1], "periodic": ["x"]},
        "fluid": {"viscosity": 1e-4}, "time": {"end": 2.0, "cfl": CFL}, "monitor": {"every": {"steps": 1}},
        "machine": {"device": "cpu"}, **ON_CHARTS[flow],
    })  # fmt: skip
    log = log_of(made, tmp_path / "run")
    assert 0.3 * CFL < max(line["cfl"] for line in log) <= LARGEST * CFL, "it has moved"
