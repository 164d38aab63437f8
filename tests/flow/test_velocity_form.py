"""Two phases in velocity form, by WENO5: the kernel, its order, and what it has in common with other forms."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.models.two_phase.convection import VelocityForm
from taskflow.flow.models.two_phase.momentum import momentum_by_weno
from taskflow.flow.operators.phases import Phases
from taskflow.flow.reference.velocity_form import momentum_by_weno as reference
from taskflow.simulation.case import Case
from tests import flows
from tests.flow.byhand import DT, RATIO
from tests.flow.phases import WALL, compute, two_phase
from tests.flow.test_two_phase import RANDOM, VELOCITY, by_hand, spacing

VISCOSITY, TURN = 0.01, 2 * np.pi


def circle(x, y, z):
    return 0.25 - np.hypot(x - 0.5, z - 0.5) + 0 * y


def hide_what_is_unknown(hand) -> None:
    """Velocities beyond boundaries are nan, but for the first layer of those along them."""
    for axis, name in enumerate(VELOCITY):
        known = np.ones(hand.memory.shape[::-1], bool)
        for other, (cells, wall) in enumerate(zip(hand.cells, hand.walls, strict=True)):
            inside = np.zeros(cells + 6, bool)
            inside[slice(3 if other == axis else 2, cells + 4) if wall else slice(None)] = True
            known &= inside.reshape([-1 if n == 2 - other else 1 for n in range(3)])
        hand.fields[name] = np.where(known, hand.fields[name], np.nan).astype(hand.real)


@RANDOM
@pytest.mark.parametrize("arithmetic", [False, True])
def test_momentum(cells, walls, real, device, arithmetic):
    names = (*VELOCITY, "f", "f_new", "kappa", "h_u", "h_v", "h_w", "u_new", "v_new", "w_new")
    phases = Phases(3.0, 0.7, 0.05, 0.002, 0.3, (0.3, -9.8, 0.2), arithmetic)
    hand = by_hand(cells, walls, real, device, names, mirrored=())
    for name in ("f", "f_new"):
        hand.fields[name] = (hand.fields[name] / 2 + hand.fields[name].dtype.type(0.5)).astype(real)
    hide_what_is_unknown(hand)
    shifted = {name: hand.shifted(name)[0] for name in names}
    velocities, tendencies = reference(
        [shifted[name] for name in VELOCITY], shifted["f"], shifted["f_new"], shifted["kappa"],
        [shifted[f"h_{name}"] for name in VELOCITY], spacing(cells), DT, RATIO, cells, walls, phases,
    )  # fmt: skip
    for axis, name in enumerate(VELOCITY):
        others = [VELOCITY[other] for other in range(3) if other != axis]
        hand.run(momentum_by_weno(
            (name, *others), ("f", "f_new"), "kappa", None, f"h_{name}", f"{name}_new", along="xyz"[axis],
            over=hand.box, dt="dt", ratio="ratio", grid=hand.staggered.constants, phases=phases,
        ))  # fmt: skip
        index = np.arange(cells[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
        on_wall = walls[axis] & (index == 0)
        hand.assert_agrees(f"h_{name}", np.where(on_wall, 0.0, tendencies[axis]))
        hand.assert_agrees(f"{name}_new", np.where(on_wall, shifted[name](), velocities[axis]))


def vortices(n: int, viscosity: float, stream: tuple[float, float]) -> np.ndarray:
    """u at t = 0.5 of vortices that a stream carries on, in two phases that are alike, with steps of h/8."""
    phases, (along, up) = Phases(2.0, 2.0, 2 * viscosity, 2 * viscosity), stream
    model = two_phase((n, 1, n), (1.0, 1 / n, 1.0), phases, periodic=(True,) * 3, tolerance=1e-10,
                      convection=VelocityForm())  # fmt: skip
    velocity = (
        lambda x, y, z: along + np.sin(TURN * x) * np.cos(TURN * z) + 0 * y, 0.0,
        lambda x, y, z: up - np.cos(TURN * x) * np.sin(TURN * z) + 0 * y,
    )  # fmt: skip
    flow = compute(model, circle, velocity=velocity, end=0.5, fixed=0.125 / n)
    return flow.fields["u"][:, 0, :]


def exact(n: int, viscosity: float, stream: tuple[float, float]) -> np.ndarray:
    along, up = stream
    decay, x, z = np.exp(-(TURN**2) * viscosity), np.arange(n) / n - along / 2, (np.arange(n) + 0.5) / n - up / 2
    return along + decay * np.sin(TURN * x) * np.cos(TURN * z)[:, None]


@pytest.mark.parametrize(("flow", "order", "most"), [
    ((0.0, (0.0, 0.0)), 4.6, 4e-6),  # WENO5 alone: what is carried stays where it is
    ((VISCOSITY, (1.0, 0.5)), 1.9, 4e-4),  # all else is of order 2, which WENO5's error on coarse grids hides
])  # fmt: skip
def test_vortices_are_carried_as_they_should(flow, order, most):
    cells = [32, 64]
    errors = [abs(vortices(n, *flow) - exact(n, *flow)).max() for n in cells]
    assert flows.orders(errors, cells)[0] >= order
    assert errors[-1] <= most


def test_with_equal_phases_it_is_near_the_solver_of_one_fluid():
    apart = []
    for n in (16, 32):
        one = flows.compute(Case(
            grid={"cells": [n, 1, n], "lengths": [1.0, 1 / n, 1.0]}, boundaries=dict.fromkeys("xyz", "periodic"),
            fluid={"viscosity": VISCOSITY}, time={"end": 0.5, "step": 0.125 / n},
            initial={"velocity": ["1 + sin(2*pi*x)*cos(2*pi*z)", 0.0, "0.5 - cos(2*pi*x)*sin(2*pi*z)"]},
        ))  # fmt: skip
        apart.append(abs(vortices(n, VISCOSITY, (1.0, 0.5)) - one["u"][:, 0, :]).max())
    assert apart[-1] <= 0.015
    assert flows.orders(apart, [16, 32])[0] >= 1.9


def test_a_uniform_stream_stays_uniform():
    n = 16
    model = two_phase((n, 1, n), (1.0, 1 / n, 1.0), Phases(10.0, 1.0, 0.0, 0.0), periodic=(True,) * 3, tolerance=1e-12,
                      convection=VelocityForm())  # fmt: skip
    flow = compute(model, circle, velocity=(1.0, 0.0, 0.5), steps=20)
    assert max(abs(flow.fields["u"] - 1.0).max(), abs(flow.fields["w"] - 0.5).max()) <= 1e-12


def droplet(**options):
    phases = Phases(5.0, 1.0, 0.1, 0.01, 1.0, (0.0, 0.0, -1.0))
    model = two_phase((12, 8, 14), (0.6, 0.4, 0.7), phases, periodic=(False, True, False), sides={"z": WALL}, cycles=3,
                      convection=VelocityForm())  # fmt: skip
    drop = lambda x, y, z: 0.15 - np.sqrt((x - 0.3) ** 2 + (y - 0.2) ** 2 + (z - 0.35) ** 2)  # noqa: E731
    return compute(model, drop, steps=4, **options)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("options", [
    {"blocks": (1, 1, 2)}, {"blocks": (2, 2, 1), "threads": 2}, {"blocks": (1, 1, 3), "overlap": "full"},
    {"blocks": (2, 1, 2), "overlap": "none"}, {"threads": 3},
])  # fmt: skip
def test_blocks_threads_and_overlap_do_not_change_a_bit(dtype, options):
    alone, cut = droplet(dtype=dtype), droplet(dtype=dtype, **options)
    for name, field in alone.fields.items():
        np.testing.assert_array_equal(cut.fields[name], field, err_msg=name)
