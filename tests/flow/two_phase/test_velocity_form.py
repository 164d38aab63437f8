"""Two phases in velocity form: the kernel, its order, and what it has in common with other forms."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow import Fluid
from taskflow.flow.models.two_phase.convection import SCHEMES
from taskflow.flow.models.two_phase.momentum import momentum_in_velocity_form
from taskflow.flow.operators.phases import Phases
from tests import flows
from tests.flow.byhand import DT, RATIO
from tests.flow.phases import CUTS, assert_the_same_bits, box_of_a_droplet, compute, two_phase
from tests.flow.two_phase.test_two_phase import RANDOM, VELOCITY, by_hand, spacing
from tests.reference import momentum_tendency, quick, velocity_form

VISCOSITY, TURN = 0.01, 2 * np.pi
REFERENCE = {
    "weno5": velocity_form.advection_by_weno,
    "quick": quick.advection,
    "central": lambda velocity, a, h, *_: momentum_tendency(velocity, a, h, 0.0),
}
FORMS = pytest.mark.parametrize("scheme", REFERENCE)


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
@FORMS
@pytest.mark.parametrize("arithmetic", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_momentum(cells, walls, real, device, scheme, arithmetic):
    names = (*VELOCITY, "f", "f_new", "kappa", "fall", "h_u", "h_v", "h_w", "u_new", "v_new", "w_new")
    phases = Phases(3.0, 0.7, 0.05, 0.002, 0.3, (0.3, -9.8, 0.2), arithmetic)
    hand = by_hand(cells, walls, real, device, names, mirrored=())
    for name in ("f", "f_new"):
        hand.fields[name] = (hand.fields[name] / 2 + hand.fields[name].dtype.type(0.5)).astype(real)
    hide_what_is_unknown(hand)
    shifted = {name: hand.shifted(name)[0] for name in names}
    velocity, h = [shifted[name] for name in VELOCITY], spacing(cells)
    velocities, tendencies = velocity_form.momentum(
        velocity, [REFERENCE[scheme](velocity, a, h, cells, walls) for a in range(3)], shifted["f"], shifted["f_new"],
        shifted["kappa"], shifted["fall"], [shifted[f"h_{name}"] for name in VELOCITY], h, DT, RATIO, phases,
    )  # fmt: skip
    fluid = Fluid(0.0, advection=SCHEMES[scheme].advection)
    for axis, name in enumerate(VELOCITY):
        others = [VELOCITY[other] for other in range(3) if other != axis]
        hand.run(momentum_in_velocity_form(
            (name, *others), ("f", "f_new"), "kappa", "fall", None, f"h_{name}", f"{name}_new", along="xyz"[axis],
            over=hand.box, dt="dt", ratio="ratio", grid=hand.staggered.constants, phases=phases, fluid=fluid,
        ))  # fmt: skip
        index = np.arange(cells[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
        on_wall = walls[axis] & (index == 0)
        hand.assert_agrees(f"h_{name}", np.where(on_wall, 0.0, tendencies[axis]))
        hand.assert_agrees(f"{name}_new", np.where(on_wall, shifted[name](), velocities[axis]))


def vortices(n: int, viscosity: float, stream: tuple[float, float], scheme: str = "weno5") -> np.ndarray:
    """u at t = 0.5 of vortices that a stream carries on, in two phases that are alike, with steps of h/8."""
    phases, (along, up) = Phases(2.0, 2.0, 2 * viscosity, 2 * viscosity), stream
    model = two_phase((n, 1, n), (1.0, 1 / n, 1.0), phases, periodic=(True,) * 3, tolerance=1e-10,
                      convection=SCHEMES[scheme])  # fmt: skip
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


@pytest.mark.slow
@pytest.mark.parametrize(("flow", "order", "most"), [
    ((0.0, (0.0, 0.0)), 4.6, 4e-6),  # WENO5 alone: what is carried stays where it is
    ((VISCOSITY, (1.0, 0.5)), 1.9, 4e-4),  # all else is of order 2, which WENO5's error on coarse grids hides
])  # fmt: skip
def test_vortices_are_carried_as_they_should(flow, order, most):
    cells = [32, 64]
    errors = [abs(vortices(n, *flow) - exact(n, *flow)).max() for n in cells]
    assert flows.orders(errors, cells)[0] >= order
    assert errors[-1] <= most


def beside_one_fluid(n: int, scheme: str, alone: str) -> float:
    """How far the vortices in two phases that are alike are from those in one fluid with a scheme."""
    one = flows.compute(Case(
        grid={"cells": [n, 1, n], "lengths": [1.0, 1 / n, 1.0]}, boundaries=dict.fromkeys("xyz", "periodic"),
        fluid={"viscosity": VISCOSITY, "scheme": alone}, time={"end": 0.5, "step": 0.125 / n},
        initial={"velocity": ["1 + sin(2*pi*x)*cos(2*pi*z)", 0.0, "0.5 - cos(2*pi*x)*sin(2*pi*z)"]},
    ))  # fmt: skip
    return abs(vortices(n, VISCOSITY, (1.0, 0.5), scheme) - one["u"][:, 0, :]).max()


@pytest.mark.slow
def test_with_equal_phases_it_is_near_the_solver_of_one_fluid():
    apart = [beside_one_fluid(n, "weno5", "central") for n in (16, 32)]
    assert apart[-1] <= 0.015
    assert flows.orders(apart, [16, 32])[0] >= 1.9


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [pytest.param("quick", marks=pytest.mark.slow), "central"])
def test_with_equal_phases_the_schemes_of_one_fluid_are_its_own(scheme):
    assert beside_one_fluid(16, scheme, scheme) <= 1e-11


@pytest.mark.fast("weno5")
@FORMS
def test_a_uniform_stream_stays_uniform(scheme):
    n = 16
    model = two_phase((n, 1, n), (1.0, 1 / n, 1.0), Phases(10.0, 1.0, 0.0, 0.0), periodic=(True,) * 3, tolerance=1e-12,
                      convection=SCHEMES[scheme])  # fmt: skip
    flow = compute(model, circle, velocity=(1.0, 0.0, 0.5), steps=20)
    assert max(abs(flow.fields["u"] - 1.0).max(), abs(flow.fields["w"] - 0.5).max()) <= 1e-12


def assert_form_has_the_same_bits(scheme, dtype, options):
    phases = Phases(5.0, 1.0, 0.1, 0.01, 1.0, (0.0, 0.0, -1.0))
    assert_the_same_bits(box_of_a_droplet(phases, convection=SCHEMES[scheme]), dtype, options)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@CUTS
def test_blocks_threads_and_overlap_do_not_change_a_bit(dtype, options):
    assert_form_has_the_same_bits("weno5", dtype, options)


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "dtype"), [
    ("central", "f8"), ("quick", "f4"), ("quick", "f8"), ("central", "f4"),
])  # fmt: skip
def test_blocks_do_not_change_a_bit_of_other_schemes(scheme, dtype):
    assert_form_has_the_same_bits(scheme, dtype, {"blocks": (2, 1, 3), "threads": 2, "overlap": "full"})
