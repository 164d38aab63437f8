"""What is said of steps that are too long: before a run, and once in it."""

from __future__ import annotations

import pickle

import pytest

from taskflow.cases import Case
from taskflow.cases.timing.intervals import Tick
from taskflow.runs.block.step_watch import StepWatch
from taskflow.runs.estimate.step_count import step_warnings
from taskflow.runs.state.setup import RunSetup


def case(time=(), **changes) -> Case:
    """A box with a lid, 16 cells in a row: the CFL number of a step dt is 16 dt, the diffusion number 512 nu dt."""
    tables = {
        "grid": {"cells": [16, 1, 16], "lengths": [1, 1e3, 1]}, "fluid": {"viscosity": 1e-3},
        "boundaries": {
            "x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall",
            "z_max": {"type": "wall", "velocity": [1, 0, 0]},
        },
        "time": {"end": 1.0, **dict(time)},
    }  # fmt: skip
    return Case(**{**tables, **changes})


def told(*args, **kwargs) -> list[str]:
    return list(step_warnings(RunSetup(case(*args, **kwargs), (1, 1, 1))))


@pytest.mark.parametrize("time", [
    {}, {"cfl": 0.5, "diffusion": 0.24}, {"scheme": "rk3", "cfl": 1.2, "diffusion": 0.4}, {"step": 0.03},
    {"scheme": "rk3", "step": 0.1}, {"scheme": "rk3", "cfl": 1.7, "diffusion": 0.6},
], ids=str)  # fmt: skip
def test_nothing_is_said_of_what_is_stable(time):
    assert told(time) == []


@pytest.mark.parametrize(("time", "changes", "words"), [
    ({"diffusion": 0.3}, {}, ['time.diffusion = 0.3: time.scheme = "ab2" is stable up to 0.25, where', "give less"]),
    ({"diffusion": 0.7, "scheme": "rk3"}, {}, ['time.diffusion = 0.7: time.scheme = "rk3" is stable up to 0.628, ']),
    ({"cfl": 0.9}, {}, ['time.cfl = 0.9: time.scheme = "ab2" is stable up to 0.5', "with a diffusion number of 0.01"]),
    ({"cfl": 0.9}, {"fluid": {"viscosity": 0.005}}, ["is stable up to 0.7", "with a diffusion number of 0.1"]),
    ({"cfl": 2.0, "scheme": "rk3"}, {}, ['time.scheme = "rk3" is stable up to 1.91 at the speed of walls']),
    ({"step": 0.06}, {}, ["time.step = 0.06 is longer than is stable at the speed of walls", "the CFL number 0.96",
                          "the diffusion number 0.0307", "stable up to a step of 0.03"]),
    ({"cfl": 5, "diffusion": 5}, {"fluid": {"viscosity": 0.02}}, ["time.diffusion = 5", "time.cfl = 5"]),
], ids=str)  # fmt: skip
def test_what_is_said_before_a_run(time, changes, words):
    result = "\n".join(told(time, **changes))
    for word in words:
        assert word in result


def test_a_viscosity_too_small_for_a_number():
    """No step is so long that it would diffuse anything: a warning of NumPy would be an error here."""
    assert told(fluid={"viscosity": 5e-324}) == []


def test_where_nothing_tells_the_speed():
    still = {"x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall", "z_max": "wall"}
    heated = {"heat": {"diffusivity": 1e-3, "expansion": 1.0}, "body": {"gravity": [0, 0, -1]}, "boundaries": still}
    assert told(**heated) == []
    [words] = told({"cfl": 0.9}, **heated)
    assert "is stable up to 0.5 where nothing diffuses" in words


def test_quick_is_warned_of_where_it_is_seen():
    """Its defaults are stable but for cells with a Reynolds number of a few."""
    quick = {"viscosity": 1e-3, "scheme": "quick"}
    assert told(fluid=quick) == []
    [words] = told(fluid={**quick, "viscosity": 1 / 40})
    assert words.startswith('time.diffusion = 0.2: time.scheme = "ab2" is stable up to 0.1')
    assert not RunSetup(case(fluid=quick), (1, 1, 1)).stability.certain
    assert RunSetup(case(), (1, 1, 1)).stability.certain


def test_steps_are_watched():
    """A fixed step of 0.03 is stable at a speed of 1, and not at twice that; it is said once."""
    stability = pickle.loads(pickle.dumps(RunSetup(case({"step": 0.03}), (1, 1, 1)).stability))
    watch = StepWatch(stability)
    assert watch.look(Tick(3, 0.09, 0.03), 16.0, 0.0) is None
    assert watch.look(Tick(4, 0.12, 0.03), 16.1, 0.0) is None
    assert not watch.exceeded
    words = watch.look(Tick(5, 0.15, 0.03), 32.0, 0.0)
    assert words is not None
    for word in ("at step 5, time 0.15, the step is longer than is stable", "the CFL number 0.96", "a step of 0.01"):
        assert word in words
    assert watch.exceeded
    assert watch.look(Tick(6, 0.18, 0.03), 64.0, 0.0) is None


def test_a_watch_takes_no_time_where_nothing_changes(monkeypatch):
    watch, asked = StepWatch(RunSetup(case({"step": 0.02}), (1, 1, 1)).stability), []
    share = type(watch._stability).share
    monkeypatch.setattr(type(watch._stability), "share", lambda *args: asked.append(1) or share(*args))
    for step in range(1000):
        assert watch.look(Tick(step, 0.02 * step, 0.02), 16.0 - 1e-3 * step, 0.0) is None
    assert len(asked) == 1
