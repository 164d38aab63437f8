"""Kernels that find where bodies are, against the masks that NumPy finds, and runs with them."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow.bodies import cuts
from taskflow.flow.bodies.flags import ITSELF
from taskflow.flow.bodies.moving import BODY
from taskflow.flow.bodies.placement import MOST_SHAPES, POSE, SHAPE, TEXT
from taskflow.runs.estimate.estimate import estimate
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine.device import Device, cpu
from taskflow.runtime.machine.shard import Shard
from taskflow.runtime.machine.threads import run_threads
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.systems.bodies import Movement, MovingBodies
from taskflow.systems.bodies.movement import poses
from tests.flows import VELOCITY, Flow, compute
from tests.runs.going_on import assert_same_run, go
from tests.runtime.machine.devices import DEVICES, opened
from tests.systems.test_moving_bodies import DIRECT, DROP, PERIODIC, STILL, forces
from tests.systems.test_moving_heat import COLD, HOT, heat_flux, heated

ROD = {
    "type": "cylinder", "name": "rod", "axis": "y", "centre": [0.35, 0.3, 1.1], "radius": 0.14, "length": 0.45,
    "temperature": 0.6,
    "motion": {"displacement": [0, 0, "0.2*sin(t)"], "angle": {"x": "0.5*t"}, "centre": [0.35, 0.3, 1.1]},
}  # fmt: skip
SUNK = {
    "type": "box", "name": "sunk", "low": [0.43, 0.22, -1.0], "high": [1.13, 0.61, 0.72], "temperature": 1.0,
    "motion": {"displacement": ["0.2*t", "0.1*t", 0]},
}  # fmt: skip
ENDLESS = {
    "type": "cylinder", "name": "endless", "axis": "y", "centre": [0.91, 0.6, 0.82], "radius": 0.35,
    "motion": {"displacement": ["0.2*t", 0, 0], "angle": {"y": "t"}, "centre": [0.91, 0.6, 0.82]},
}  # fmt: skip
FAR = {
    "type": "sphere", "name": "far", "centre": [0.613, 0.627, 0.558], "radius": 0.2, "temperature": 1.0,
    "motion": {"angle": {"y": "2*t"}, "centre": [1.9, 0.6, 0.8]},
}  # fmt: skip
STONE = {**STILL, "centre": [1.6, 0.03, 1.22], "temperature": 0.3}  # over a periodic side
OWNERS = dict(zip(("owner_x", "owner_y", "owner_z"), BODY, strict=True))  # and velocities on the same faces


def placed(**changes) -> Case:
    """A hot ball that comes through a periodic side, a cold bar that turns, a rod that does both, a stone at rest."""
    return heated(**{"obstacles": [{**HOT, "centre": [1.91, 0.61, 0.513]}, COLD, STONE, ROD], **changes})


@cache
def whole() -> Flow:
    return compute(placed())


def geometry(setup: RunSetup, moving: MovingBodies, time: float, device: Device) -> dict[str, np.ndarray]:
    """The fields of the geometry of a time, by role."""

    def filled(shard: Shard) -> dict[str, np.ndarray]:
        Movement(moving, shard).begin(time)
        return {role: shard.read(role, shard.cells) for role in moving.written}

    return run_threads(setup.partition, filled, device, Mapper("none"))[0]


def assert_placement(case: Case, kind: str = "cpu", rtol: float = 1e-9) -> None:
    """Kernels find what NumPy does. Bodies own faces that are farther away, and those between two of them, which both
    are beside, otherwise.
    """
    setup = RunSetup(case, (1, 1, 1), device="cpu" if kind == "cpu" else "gpu")
    device, moving = cpu(1) if kind == "cpu" else opened(kind), setup.system.moving
    assert moving.placement is not None
    for time in (0.0, 0.37):
        kernels, numpy = (geometry(setup, way, time, device) for way in (moving, replace(moving, placement=None)))
        for role, values in numpy.items():
            placed = kernels[role]
            if role in OWNERS:
                mine = np.abs(numpy[f"friction_{role[-1]}"]) + np.abs(numpy[OWNERS[role]]) > 0
                assert (placed[mine] > 0).all()
                assert (placed == values)[mine].mean() > 0.99
                continue
            if role == "solid":  # more cells are looked at, for what happens beside bodies
                assert (placed & cuts.BESIDE >= values & cuts.BESIDE).all()
                placed, values = (np.where(bits & ITSELF, ITSELF, bits & 127) for bits in (placed, values))
            np.testing.assert_allclose(placed.astype("f8"), values, rtol=rtol, atol=rtol, err_msg=role)


@pytest.mark.slow
@pytest.mark.parametrize("kind", DEVICES)
@pytest.mark.parametrize("stretched", [False, True])
def test_kernels_find_what_numpy_does(stretched, kind):
    widths = np.concatenate([np.full(6, 0.08), np.linspace(0.08, 0.16, 12)])
    faces = {"z": {"faces": (1.6 * np.append(0, np.cumsum(widths)) / widths.sum()).tolist()}}
    lengths = {"lengths": [2.0, 1.2, 1.6]}
    grid = {"cells": [20, 12, 18], **lengths, "stretching": faces} if stretched else {"cells": [20, 12, 16], **lengths}
    assert_placement(placed(grid=grid), kind)


@pytest.mark.slow
@pytest.mark.parametrize(("body", "changes"), [
    (ROD, {}), (SUNK, {}), (ENDLESS, {}), (FAR, {"boundaries": PERIODIC}),
], ids=["alone", "in a wall", "endless", "far from its pivot"])  # fmt: skip
def test_kernels_find_single_bodies(body, changes):
    assert_placement(placed(obstacles=[body], **changes))


@pytest.mark.slow
@pytest.mark.parametrize("start", [0.0, 1000.0])
def test_kernels_find_bodies_in_single_precision(start):
    """Far from 0, too: places are counted from the origin of the grid."""
    ball = {**HOT, "centre": [start + 1.024, 0.624, 0.5]}  # no centre is less than 0.006 spacings away from it
    grid = {"cells": [20, 12, 16], "lengths": [2.0, 1.2, 1.6], "origin": [start, 0, 0]}
    machine = {"device": "cpu", "threads": 1, "precision": "single"}
    assert_placement(placed(obstacles=[ball], grid=grid, machine=machine), rtol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "overlap"), [((1, 1, 2), "full"), ((2, 2, 1), "comm")])
def test_blocks_do_not_change_a_bit(blocks, overlap):
    cut = compute(placed(), blocks, overlap=overlap)
    for name in (*VELOCITY, "p", "T", "smoke"):
        np.testing.assert_array_equal(cut[name], whole()[name], err_msg=name)


@pytest.mark.slow
def test_momentum_and_heat_are_those_which_bodies_give():
    tables = {"pressure": DIRECT, "boundaries": PERIODIC}
    short, long = (compute(placed(**tables, time={"steps": n, "cfl": 0.4})) for n in (5, 6))
    volume, dt = long.setup.grid.volume, long.tick.dt
    gain = [(long[name].sum() - short[name].sum()) * volume / dt for name in (*VELOCITY, "T")]
    taken = -sum(forces(long).values())
    assert gain[3] == pytest.approx(heat_flux(long), abs=1e-11)
    np.testing.assert_allclose(gain[:2], taken[:2], atol=1e-9)  # along z acts buoyancy


@pytest.mark.slow
def test_going_on_from_a_checkpoint_to_the_bit(tmp_path):
    case = placed(checkpoint={"every": {"steps": 2}})
    go(case, tmp_path / "whole")
    go(case, tmp_path / "run", kill=4)
    go(case, tmp_path / "run", (1, 1, 2), resume=True)
    assert_same_run(tmp_path / "run", tmp_path / "whole", rel=1e-9)


@pytest.mark.slow
def test_steps_with_bodies_that_move_are_proved():
    """The proof covers steps with the placement and without, after any other program."""
    small = {"grid": {"cells": [8, 6, 8], "lengths": [2.0, 1.2, 1.6]}, "machine": {"blocks": [1, 1, 2]}}
    formula = {**DROP, "inside": "(x-1.0)**2 + (y-0.6)**2 + 2*(z-0.8)**2 - 0.09"}
    for body in (HOT, formula):
        estimate(placed(**small, obstacles=[body])).prove().hold()


def test_numbers_are_as_many_as_kernels_know():
    texts = [(TEXT.parent / name).read_text() for name in ("shapes.h", TEXT.name)]
    assert f"constexpr int NUMBERS = {SHAPE}, POSE = {POSE};" in texts[0]
    assert {int(count) for text in texts for count in re.findall(r"In64Of<(\d+)>", text)} == {MOST_SHAPES * POSE}
    moving = RunSetup(placed(), (1, 1, 1)).system.moving
    shapes = moving.placement.shapes
    assert (len(shapes.shapes.values), len(poses(moving, 0.0))) == (SHAPE * shapes.count, MOST_SHAPES * POSE)


def test_other_shapes_are_left_to_numpy():
    """Formulas, a body that is as wide as the domain while it turns, and one that is round across a periodic direction
    and nearly as wide.
    """
    wide, round_ = {**ROD, "length": 1.3}, {**ENDLESS, "axis": "z", "radius": 0.62, "motion": SUNK["motion"]}
    for body in (DROP, wide, round_):
        assert RunSetup(placed(obstacles=[HOT, body]), (1, 1, 1)).system.moving.placement is None
    assert RunSetup(placed(), (1, 1, 1)).system.moving.placement is not None
