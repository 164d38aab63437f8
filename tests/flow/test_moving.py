"""Kernels of bodies that move, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.bodies import cuts, forces, moving
from taskflow.flow.bodies.flags import ITSELF
from tests.flow.byhand import DT, FORCES, ByHand
from tests.flow.test_immersed import (
    BLOCKAGE,
    FLUID,
    FRICTION,
    NEW,
    OWNERS,
    VELOCITY,
    WALLS,
    beside,
    doubles,
    near,
    on_wall,
    prepared,
    scattered,
    solid_bits,
)
from tests.flow.test_obstacles import exchange
from tests.reference.stretched import Metrics
from tests.reference.surfaces import moved

TENDENCY, BODY, PUSH = ("h_u", "h_v", "h_w"), ("body_x", "body_y", "body_z"), ("push_x", "push_y", "push_z")
BEFORE = [f"{name}_before" for name in (*BLOCKAGE, *BODY)]


def moving_bodies(walls: tuple[bool, bool, bool], real: str, **device: object) -> tuple[ByHand, list, list]:
    """Random fields; the bodies that have faces now, and before."""
    names = [*VELOCITY, *TENDENCY, *NEW, *PUSH, "p", "rhs", "solid", *FRICTION, *BLOCKAGE, *BODY, *BEFORE, *OWNERS]
    hand, now = prepared(walls, real, names, **device)
    before = [scattered(walls, seed + 10) for seed in range(3)]
    inside = hand.box.slices(hand.memory.lo)
    hand.fields["solid_before"] = np.zeros(hand.memory.shape[::-1], "u1")
    hand.fields["solid_before"][inside] = solid_bits(before, walls)
    exchange(hand, "solid_before")
    for name, body in zip(BEFORE[:3], before, strict=True):
        hand.fields[name] = np.abs(hand.fields[name])
        hand.fields[name][inside][~beside(body)] = 0
        exchange(hand, name)
    return hand, now, before


@pytest.mark.parametrize("walls", WALLS)
def test_velocity(walls, real, device):
    """Closed faces have the velocity of the body, open ones what surfaces make of it; new ones a step of Euler's."""
    hand, now, before = moving_bodies(walls, real, **device)
    metrics, expected = Metrics(hand.staggered), {}
    for axis, (q, q_new, h) in enumerate(zip(VELOCITY, NEW, TENDENCY, strict=True)):
        old, new, rate, p, blockage, body = doubles(hand, q, q_new, h, "p", BEFORE[axis], BEFORE[3 + axis])
        surface = doubles(hand, BODY[axis], FRICTION[axis], BLOCKAGE[axis])
        predicted = new.copy()
        predicted[1:-1, 1:-1, 1:-1] = np.where(near(before[axis]) > 0, near(old + DT * rate), near(new))
        slope = DT * metrics.gradient(p, axis)
        result = near(moved(metrics, predicted, blockage * (old - body), surface, axis, DT * FLUID.viscosity, slope))
        result = np.where(near(now[axis]) > 0, near(surface[0]), result)
        expected[q_new] = np.where(on_wall(hand, axis), near(new), result)
        expected[PUSH[axis]] = (near(new) - expected[q_new]) / DT
    beside_any = ((hand.values("solid") | hand.values("solid_before")) & cuts.BESIDE) > 0
    assert beside_any.all()  # bodies are everywhere here
    hand.run(hand.launch(moving.move_with_bodies, {"grid": hand.staggered.constants, "viscosity": FLUID.viscosity}))
    for name, values in expected.items():
        scale = 1 / DT if name in PUSH else 1.0
        np.testing.assert_allclose(hand.values(name), values, rtol=0, atol=hand.tolerance * scale * 10, err_msg=name)


def test_closed_faces_follow(real, device):
    hand, now, _ = moving_bodies(WALLS[0], real, **device)
    expected = {
        name: np.where((near(body) > 0) & ~on_wall(hand, axis), hand.values(BODY[axis]), hand.values(name))
        for axis, (name, body) in enumerate(zip(VELOCITY, now, strict=True))
    }
    hand.run(hand.launch(moving.follow_bodies, {"grid": hand.staggered.constants}))
    for name, values in expected.items():
        hand.assert_agrees(name, values)


@pytest.mark.parametrize("walls", WALLS)
def test_cells_that_become_fluid_have_the_pressure_of_those_beside(walls, real, device):
    hand, _, _ = moving_bodies(walls, real, **device)
    p, was = hand.fields["p"].astype("f8"), (hand.fields["solid_before"] & ITSELF) > 0
    total, count = np.zeros(hand.values("p").shape), np.zeros(hand.values("p").shape)
    for axis in range(3):
        for side in (-1, 1):
            fluid = ~near(was, axis, side)
            total, count = total + fluid * near(p, axis, side), count + fluid
    mean = np.where(count > 0, total / np.maximum(count, 1), hand.values("p"))
    became = near(was) & ~((hand.values("solid") & ITSELF) > 0)
    assert became.any()
    expected = np.where(became, mean, hand.values("p"))
    hand.fields["mean"] = hand.fields["rhs"]
    hand.run(hand.launch(moving.pressure_beside, {}), hand.launch(moving.fill_pressure, {}))
    hand.assert_agrees("p", expected)


@pytest.mark.parametrize("walls", WALLS)
def test_forces(walls, real, device):
    """The pressure on closed faces, and what was taken from the fluid on all that belong to a body."""
    hand, now, _ = moving_bodies(walls, real, **device)
    grid, [p] = hand.staggered, hand.shifted("p")
    for number in (1, 2):
        constants = {"grid": grid.constants, "target": forces.ForceTarget(number, (0.1, 0.2, 0.3))}
        hand.run(hand.launch(forces.force_on_body, constants))
        for axis, name in enumerate("xyz"):
            mine = (cuts.owners(now[axis]) == number) & ~on_wall(hand, axis)
            push = np.where(near(now[axis]) > 0, (p(-1, axis) - p()) / grid.spacing[axis], 0)
            for kind, values in (("pressure", push), ("friction", hand.values(PUSH[axis]))):
                force = grid.volume * np.where(mine, values, 0).astype("f8")
                assert hand.scalars[FORCES[f"{kind}_{name}"]] == pytest.approx(force.sum(), abs=hand.tolerance)
