"""Heat and passive scalars beside bodies that move: what bodies give, blocks, checkpoints, what stays even."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow.bodies.flags import HOLDS, STORED
from tests.flows import VELOCITY, Flow, compute
from tests.runs.going_on import assert_same_run, go
from tests.systems.test_moving_bodies import BALL, BAR, DIRECT, DROP, PERIODIC, STILL, stirred

HOT, COLD = {**BALL, "temperature": 1.0}, {**BAR, "temperature": -0.5}
SMOKE = {"name": "smoke", "diffusivity": 0.02, "initial": "1 + 0.5*sin(pi*x)*cos(pi*z/0.8)"}
FLOWING = {"velocity": ["0.3*sin(pi*z)", "0.1*cos(pi*x)", 0], "temperature": "0.2*sin(pi*x)"}


def heated(scheme: str = "central", pressure: dict | None = None, **changes) -> Case:
    """A hot ball that comes through a periodic side, a cold bar that turns, a formula that rises, a ball at rest."""
    tables = {
        "heat": {"diffusivity": 0.03, "scheme": scheme, "expansion": 0.1}, "initial": FLOWING,
        "scalars": [{**SMOKE, "scheme": scheme}], "obstacles": [HOT, COLD, STILL, DROP],
        "body": {"gravity": [0, 0, -1]}, "output": {"fields": ["T", "smoke"], "precision": "double"},
    }  # fmt: skip
    return stirred(pressure, **{**tables, **changes})


@cache
def whole() -> Flow:
    return compute(heated())


def inside(flow: Flow) -> np.ndarray:
    """The flags HOLDS and STORED of all cells as the temperature meets them, at the end."""
    bits = np.zeros(flow.setup.grid.box.shape[::-1], "u2")
    for part, values in flow.setup.system.moving.masks(flow.tick.time).parts(flow.setup.grid.box):
        bits[part.slices((0, 0, 0))] = values["T_faces"] & (HOLDS | STORED)
    return bits


def heat_flux(flow: Flow, at: int = -1) -> float:
    """The heat that all bodies have given per time in the last step before a line of the log."""
    bodies = flow.setup.model.obstacles.measured(flow.history[at])
    return sum(body.get("heat_flux", 0.0) for body in bodies.values())


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["central", "koren"])
def test_heat_is_that_which_bodies_give(scheme):
    """In a periodic domain nothing else changes it: balanced to rounding."""
    short, long = (
        compute(heated(scheme, boundaries=PERIODIC, obstacles=[HOT, COLD], time={"steps": n, "cfl": 0.4}))
        for n in (5, 6)
    )
    change = (long["T"].sum() - short["T"].sum()) * long.setup.grid.volume / long.tick.dt
    assert abs(heat_flux(long)) > 0.01
    assert heat_flux(long) == pytest.approx(change, abs=1e-11)
    holds = inside(long) == HOLDS
    assert {*np.unique(long["T"][holds])} == {1.0, -0.5}


@pytest.mark.slow
def test_what_is_even_stays_even_and_what_is_bounded_bounded():
    """Beside bodies without a temperature, through which nothing comes."""
    even = {**SMOKE, "initial": 0.7}
    flow = compute(heated("koren", DIRECT, scalars=[even], obstacles=[BALL, BAR, STILL, DROP]))
    np.testing.assert_allclose(flow["smoke"], 0.7, atol=1e-9)
    assert np.abs(flow["T"]).max() <= 0.2 + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("below", [{"temperature": 1.0}, {"heat_flux": 0.03}], ids=str)
def test_a_shaft_through_walls_brings_no_heat_from_beyond_them(below):
    """Between walls of the temperatures 1 and 0, or one that is heated, all of which is within bounds: within 20 steps
    of 0.01 from 0, conduction into a half space of the heat flux 0.03 leads to 0.03 sqrt(4 t / (pi 0.03)) < 0.1 on it.
    """
    shaft = {
        "type": "cylinder", "name": "shaft", "axis": "z", "centre": [0.9, 0.6, 0.8], "radius": 0.3,
        "motion": {"displacement": ["0.1*t", 0, 0]},
    }  # fmt: skip
    sides = {"x": "periodic", "y": "periodic", "z_max": {"type": "wall", "temperature": 0.0}}
    initial, time = {"velocity": [0, 0, 0], "temperature": 0.0}, {"steps": 20, "step": 0.01}
    boundaries = {**sides, "z_min": {"type": "wall", **below}}
    flow = compute(heated("koren", obstacles=[shaft], initial=initial, boundaries=boundaries, time=time, body={}))
    assert flow["T"].min() >= -1e-9
    assert 0.01 < flow["T"].max() <= (1.0 if "temperature" in below else 0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "overlap"), [((1, 1, 2), "full"), ((2, 2, 1), "comm")])
def test_blocks_do_not_change_a_bit(blocks, overlap):
    cut = compute(heated(), blocks, overlap=overlap)
    for name in (*VELOCITY, "p", "T", "smoke"):
        np.testing.assert_array_equal(cut[name], whole()[name], err_msg=name)
    assert heat_flux(cut) == pytest.approx(heat_flux(whole()), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["central", "koren"])
def test_going_on_from_a_checkpoint_to_the_bit(scheme, tmp_path):
    case = heated(scheme, checkpoint={"every": {"steps": 2}})
    go(case, tmp_path / "whole")
    go(case, tmp_path / "run", kill=4)
    go(case, tmp_path / "run", (1, 1, 2), resume=True)
    assert_same_run(tmp_path / "run", tmp_path / "whole", rel=1e-9)
