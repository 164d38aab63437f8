"""Batches of steps, led by the clock on the device: the same bits as steps that the host plans one by one."""

import math
import time

import pytest

from taskflow.cases import Case
from taskflow.runs.block import batch
from taskflow.runs.block.batch import StepBatches
from taskflow.runs.block.sanity import Sanity
from taskflow.runs.block.stepping import Stepping
from tests.cases import two_phases
from tests.runs.going_on import assert_same_run, contents, go, steps

WALLS = {"x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall", "z_max": "wall"}
LID = {**WALLS, "z_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]}}
AROUND = {"x": "periodic", "y": "periodic", "z": "periodic"}
VORTICES = {"velocity": ["1 + cos(2*pi*x)*sin(2*pi*z)", 0.0, "0.5 - sin(2*pi*x)*cos(2*pi*z)"]}
HEATED = {
    "boundaries": {**WALLS, "z_min": {"type": "wall", "temperature": 1.0},
                   "z_max": {"type": "wall", "temperature": 0.0}},
    "heat": {"diffusivity": 0.01, "expansion": 1.0}, "body": {"gravity": [0.0, 0.0, -10.0]},
    "initial": {"temperature": "1 - z + 0.1*sin(6*x)", **VORTICES},
}  # fmt: skip
SMOKE = {"scalars": [{"name": "smoke", "diffusivity": 1e-3, "scheme": "koren", "initial": "x > 0.5"}]}
FLOWS = {
    "periodic": {"boundaries": AROUND, "initial": VORTICES},
    "rk3": {"boundaries": AROUND, "initial": VORTICES, "time": {"scheme": "rk3", "steps": 90}},
    "fixed": {"boundaries": AROUND, "initial": VORTICES, "time": {"step": 0.004, "steps": 90}},
    "lid": {"boundaries": LID},
    "lid_multigrid": {"boundaries": LID, "pressure": {"solver": "multigrid", "tolerance": 1e-6}},
    "single": {"boundaries": LID, "machine": {"precision": "single"}},
    "heated": HEATED,
    "bounded": {"boundaries": LID, **SMOKE},
    "les": {"boundaries": AROUND, "initial": VORTICES, "turbulence": {"model": "smagorinsky"}},
    "body": {"boundaries": LID,
             "obstacles": [{"type": "cylinder", "axis": "y", "centre": [0.4, 0.0, 0.4], "radius": 0.15}]},
    "times": {"boundaries": AROUND, "initial": VORTICES, "time": {"end": 4.0}, "output": {"every": 1.3},
              "monitor": {"every": 0.6}, "checkpoint": {"every": {"time": 1.1}}},
    "averaged": {"boundaries": AROUND, "initial": VORTICES,
                 "statistics": {"start": 0.05, "every": {"steps": 20}, "fields": ["u", "v", "w"]}},
    "steady": {"boundaries": LID, "fluid": {"viscosity": 0.5}, "time": {"steady": {"rate": 0.05}, "steps": 400}},
}  # fmt: skip


@pytest.fixture
def sizes(monkeypatch):
    """The steps of all batches on block 0. Batches begin at once, and no clock on the wall shortens them."""
    found, advance = [], StepBatches.advance

    def noted(self, now, count, horizon):
        done = advance(self, now, count, horizon)
        if self._shard.block == 0:
            found.append((count, done.steps))
        return done

    monkeypatch.setattr(StepBatches, "advance", noted)
    monkeypatch.setattr(batch, "WARM", 0.0)
    monkeypatch.setattr(batch, "LENGTH", math.inf)
    return found


def case_of(name):
    tables = FLOWS[name]
    common = {
        "grid": {"cells": [12, 1, 12], "lengths": [1.0, 1.0, 1.0]}, "fluid": {"viscosity": 0.01},
        "time": {"steps": 90}, "monitor": {"every": {"steps": 30}}, "output": {"every": {"steps": 45}},
    }  # fmt: skip
    return Case.model_validate({**common, **tables})


def alone(case, path, blocks=(1, 1, 1)):
    """Run without batches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batch, "WARM", math.inf)
        go(case, path, blocks)


@pytest.mark.fast("lid", "body", "steady", "times")
@pytest.mark.parametrize("name", FLOWS)
def test_batches_keep_bits(name, sizes, tmp_path):
    case = case_of(name)
    go(case, tmp_path / "batches")
    assert sum(done for _, done in sizes) >= 16
    alone(case, tmp_path / "alone")
    assert_same_run(tmp_path / "batches", tmp_path / "alone")


@pytest.mark.parametrize("name", ["periodic", "lid_multigrid", "heated"])
@pytest.mark.fast("periodic")
def test_batches_on_blocks(name, sizes, tmp_path):
    case = case_of(name)
    go(case, tmp_path / "batches", (1, 1, 2))
    assert sum(done for _, done in sizes) >= 16
    alone(case, tmp_path / "alone", (1, 1, 2))
    assert_same_run(tmp_path / "batches", tmp_path / "alone")


@pytest.mark.slow
def test_two_phases(sizes, tmp_path):
    often = {"every": {"steps": 30}}
    case = two_phases.case(time={"steps": 60}, monitor=often, output=often, phases=[])
    go(case, tmp_path / "batches")
    assert sum(done for _, done in sizes) >= 8
    alone(case, tmp_path / "alone")
    (fields, log), (expected, lines) = contents(tmp_path / "batches"), contents(tmp_path / "alone")
    assert all((fields[name] == values).all() for name, values in expected.items())
    assert log == lines


@pytest.mark.parametrize("allowed", [1.0, 1.01, 1.2])
@pytest.mark.fast("1.01")
def test_batches_that_are_taken_back(allowed, sizes, monkeypatch, tmp_path):
    """The clock stops where the rate exceeds a share of the present one: good steps are repeated, the host goes on."""
    case = case_of("heated")
    alone(case, tmp_path / "alone")
    monkeypatch.setattr(Sanity, "fastest", lambda self, time: allowed * self._shard.scalars["rate"])
    go(case, tmp_path / "batches")
    assert any(done < count for count, done in sizes)
    assert_same_run(tmp_path / "batches", tmp_path / "alone")


def test_resuming_between_batches(sizes, tmp_path):
    case = case_of("times")
    alone(case, tmp_path / "alone")
    go(case, tmp_path / "resumed", kill=90)
    assert steps(tmp_path / "resumed")
    go(case, tmp_path / "resumed", resume=True)
    assert sizes
    assert_same_run(tmp_path / "resumed", tmp_path / "alone")


def test_waits_do_not_count(tmp_path, monkeypatch, sizes):
    """On cores a step is small if it needs little processor time, however long its block waits for a core."""
    take = Stepping.take

    def late(self, now, tick):
        time.sleep(0.05)
        return take(self, now, tick)

    monkeypatch.setattr(Stepping, "take", late)
    monkeypatch.setattr(batch, "LENGTH", 0.1)
    go(case_of("periodic"), tmp_path / "run")
    assert sum(done for _, done in sizes) > 0
