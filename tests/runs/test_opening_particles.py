"""Particles where sides and faces of bodies have openings: which leave, which rebound, on any blocks."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.cases.tables.particles import ParticlesTable
from tests.runs.going_on import found, go
from tests.systems.test_openings import HIGH, LOW, OUT, phases, room

DYE = {"name": "dye", "box": [[0, 0, 0], [1.2, 1, 1]], "count": 400, "every": {"steps": 1}}
SAND = {**DYE, "name": "sand", "count": 200, "response_time": 0.05}
RECORDED = {"checkpoint": {"every": {"steps": 4}}, "output": {"precision": "double"}}
FIXED = {"pressure": {"solver": "jacobi", "iterations": 7}}
FAST = {"time": {"step": 0.03, "steps": 30}}
FAN = {"name": "fan", "obstacle": "box", "side": "x_min", "box": [[0.6, 0.4, 0], [0.6, 0.6, 1]], "type": "outflow",
       "velocity": [1.0, 0, 0]}  # fmt: skip
BOX = {"name": "box", "type": "box", "low": [0.6, 0.3, 0], "high": [0.8, 0.7, 1]}
LATE = {**OUT, "box": [[1.2, 0.5, 0], [1.2, 0.9, 1]]}


def places(path, group: str = "dye") -> np.ndarray:
    """[time, particle, axis]"""
    ds = found(path, group)
    return np.stack([ds[axis].values for axis in "xyz"], axis=2)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    go(room(LOW, HIGH, LATE, particles=[DYE, SAND], **FAST, **RECORDED, **FIXED), path)
    return path


def test_particles_leave_through_openings_and_rebound_elsewhere(whole):
    """By the velocities recorded: beyond a side only those end that cross it from a cell with an opening."""
    ds, x, step = found(whole, "dye"), places(whole), FAST["time"]["step"]
    now = np.stack([ds[name].values for name in "uvw"], axis=2)[:-1]
    before = np.concatenate([now[:1], now[:-1]])
    first = np.arange(len(now))[:, None, None] == 0
    there = x[:-1] + step * np.where(first, now, 1.5 * now - 0.5 * before)
    (_, y, _), (px, py, _) = np.moveaxis(x[:-1], 2, 0), np.moveaxis(there, 2, 0)
    ways = {"low": (px < 0) & (y > 0.1) & (y < 0.4), "out": (px > 1.2) & (y > 0.5) & (y < 0.9)}
    ways["high"] = (py > 1) & (x[:-1, :, 0] > 0.2) & (x[:-1, :, 0] < 0.6)
    present, next_ = ~np.isnan(x[:-1, :, 0]), ~np.isnan(x[1:, :, 0])
    np.testing.assert_array_equal(present & ~next_, np.any([*ways.values()], axis=0))
    assert ways["out"].sum() > 20
    beyond = next_ & ((px < 0) | (px > 1.2) | (py < 0) | (py > 1))
    assert beyond.any()
    assert (np.nanmin(x, (0, 1)) >= 0).all()
    assert (np.nanmax(x, (0, 1)) <= [1.2, 1, 1]).all()


def test_a_fan_in_a_body_takes_particles_in(tmp_path):
    """They end at its face, and none is ever in the body."""
    inlet = {**LOW, "box": [[0, 0.3, 0], [0, 0.7, 1]]}
    around = {"obstacles": [BOX], "bodies": {"treatment": "flagged"}}
    go(room(inlet, FAN, OUT, particles=[DYE], **around, **FAST, **RECORDED), tmp_path / "run")
    x = places(tmp_path / "run")
    inside = (x > [0.6, 0.3, 0]) & (x < [0.8, 0.7, 1])
    assert not inside.all(axis=2).any()
    start = ParticlesTable(**DYE).places(0)
    assert (np.isnan(x[0, :, 0]) == ((start > [0.6, 0.3, 0]) & (start < [0.8, 0.7, 1])).all(axis=1)).all()
    lost = [x[n, m] for m in range(DYE["count"]) for n in range(len(x) - 1)
            if not np.isnan(x[n, m, 0]) and np.isnan(x[n + 1, m, 0])]  # fmt: skip
    ends = np.array(lost)
    taken = (ends[:, 0] > 0.5) & (ends[:, 0] < 0.6) & (ends[:, 1] > 0.4) & (ends[:, 1] < 0.6)
    assert taken.sum() > 10
    assert (taken | (ends[:, 0] > 1.1)).all()  # the rest by the outlet


@pytest.mark.parametrize(("stopped", "blocks"), [({}, (2, 2, 1)), ({"kill": 17}, (2, 1, 1))])
def test_trajectories_depend_neither_on_blocks_nor_on_what_broke_off(stopped, blocks, whole, tmp_path):
    case = room(LOW, HIGH, LATE, particles=[DYE, SAND], **FAST, **RECORDED, **FIXED)
    if stopped:
        go(case, tmp_path / "run", **stopped)
    go(case, tmp_path / "run", blocks, resume=bool(stopped))
    for group in ("dye", "sand"):
        xr.testing.assert_identical(found(tmp_path / "run", group).drop_attrs(), found(whole, group).drop_attrs())


def test_an_opening_of_a_whole_side_lets_out_what_the_side_does(tmp_path):
    sides = {"x_min": {"type": "inflow", "velocity": [1.0, 0, 0]}, "x_max": {"type": "outflow", "pressure": 0}}
    walls = room(LOW, OUT).written()["boundaries"]
    ends = {"x_min": [[0, 0, 0], [0, 1, 1]], "x_max": [[1.2, 0, 0], [1.2, 1, 1]]}
    openings = [{"name": side, "side": side, "box": ends[side], **values} for side, values in sides.items()]
    given = {"particles": [DYE], **FAST, **RECORDED, **FIXED}
    go(room(boundaries={**walls, **sides}, **given), tmp_path / "side")
    go(room(*openings, **given), tmp_path / "opening")
    one, other = (found(tmp_path / name, "dye").drop_attrs() for name in ("side", "opening"))
    xr.testing.assert_identical(one, other)
    assert one.x[-1].isnull().sum() > 100


@pytest.mark.slow
def test_tracers_of_two_phases_pass_openings_on_any_blocks(tmp_path):
    low, high, out = {**LOW, "phase": 1}, {**HIGH, "phase": 2}, {**OUT}
    case = phases(low, high, out, particles=[DYE], time={"step": 0.01, "steps": 40}, **RECORDED)
    for n, blocks in enumerate([(1, 1, 1), (2, 1, 1)]):
        go(case, tmp_path / str(n), blocks)
    one, other = (found(tmp_path / name, "dye").drop_attrs() for name in "01")
    xr.testing.assert_identical(one, other)
    assert one.x[-1].isnull().any()
