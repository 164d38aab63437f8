"""Momentum carried by QUICK: against NumPy, on a wave, on waves of several directions, and in flows."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow import QUICK, Buoyancy, Fluid
from taskflow.flow.operators.momentum import Quick
from tests import reference
from tests.flow.byhand import DT, RATIO, ByHand, momentum_with
from tests.flow.test_eddy_viscosity import Box2Pi, Waves
from tests.flows import compute, orders
from tests.reference import quick
from tests.reference import turbulence as by_numpy

VELOCITY = ("u", "v", "w")
FLUID, BUOYANCY = Fluid(0.03, (0.3, -0.2, 0.1), QUICK), Buoyancy(1.3, 0.4, (0.5, -9.81, 2.0))


@pytest.mark.parametrize("cells", [(7, 5, 6), (1, 4, 3), (4, 1, 2)])
@pytest.mark.parametrize("walls", [(True, True, True), (False, True, False), (False, False, False)])
@pytest.mark.parametrize(("eddies", "warm"), [(False, False), (True, True)])
def test_momentum(eddies, warm, walls, cells, real, device):
    task = momentum_with(eddies=eddies, warm=warm)
    hand = ByHand(cells, walls, real, ghost=2, **device).fill(task.fields)
    velocity, h, old = hand.shifted(*VELOCITY), hand.staggered.spacing, hand.shifted("h_u", "h_v", "h_w")
    expected = []
    for a in range(3):
        H = quick.advection(velocity, a, h, cells, hand.walls) + FLUID.force[a]
        if eddies:
            H = H + by_numpy.friction(velocity, hand.shifted("nu_t")[0], a, h, FLUID.viscosity)
        else:
            H = H + reference.momentum_tendency(velocity, a, h, FLUID.viscosity)
            H = H - reference.momentum_tendency(velocity, a, h, 0.0)
        if warm:
            T = hand.shifted("T")[0]
            H = H + reference.buoyancy(T, a, BUOYANCY.expansion, BUOYANCY.reference, BUOYANCY.gravity)
        expected.append(H)
    more = {"buoyancy": BUOYANCY} if warm else {}
    hand.run(hand.launch(task, {"grid": hand.staggered.constants, "fluid": FLUID, **more}))
    for a, (name, H) in enumerate(zip(VELOCITY, expected, strict=True)):
        index = np.arange(cells[a]).reshape([-1 if n == 2 - a else 1 for n in range(3)])
        on_wall = np.broadcast_to(walls[a] & (index == 0), cells[::-1])
        hand.assert_agrees(f"h_{name}", np.where(on_wall, 0.0, H))
        moved = np.where(on_wall, velocity[a](), reference.step(velocity[a], H, old[a], DT, RATIO))
        hand.assert_agrees(f"{name}_new", moved)


class Renamed(Quick):
    """A scheme of a user's own."""


def test_the_scheme_does_not_depend_on_the_name_of_a_class():
    result = []
    for kind in (Quick, Renamed):
        hand = ByHand((5, 6, 7), ghost=2).fill(momentum_with().fields)
        fluid = Fluid(0.03, advection=kind())
        hand.run(hand.launch(momentum_with(), {"grid": hand.staggered.constants, "fluid": fluid}))
        result.append(np.array([hand.values(f"h_{name}") for name in VELOCITY]))
    np.testing.assert_array_equal(*result)


@pytest.mark.parametrize("speed", [0.7, -0.7])
@pytest.mark.parametrize("along", range(3))
def test_a_wave_in_a_uniform_flow(along, speed):
    """The symbol of the scheme: (3 e^(it) + 3 - 7 e^(-it) + e^(-2it)) / 8 forward, which only damps."""
    hand = ByHand((16, 16, 16), (False,) * 3, ghost=2).fill(momentum_with().fields)
    across, h, theta = (along + 1) % 3, hand.staggered.spacing[along], 2 * np.pi * 3 / 16
    n = np.arange(-2, 18).reshape([-1 if d == 2 - along else 1 for d in range(3)])
    for a, name in enumerate(VELOCITY):
        hand.fields[name][...] = {along: speed}.get(a, 0.0)
    hand.fields[VELOCITY[across]][...] = np.cos(theta * n)
    hand.run(hand.launch(momentum_with(), {"grid": hand.staggered.constants, "fluid": Fluid(0.0, advection=QUICK)}))
    way = np.sign(speed)
    symbol = way * (3 * np.exp(1j * way * theta) + 3 - 7 * np.exp(-1j * way * theta) + np.exp(-2j * way * theta)) / 8
    assert (speed * symbol).real > 0
    expected = -speed / h * symbol * np.exp(1j * theta * np.arange(16))
    result = np.moveaxis(hand.values(f"h_{VELOCITY[across]}"), 2 - along, -1)
    np.testing.assert_allclose(result, np.broadcast_to(expected.real, result.shape), rtol=0, atol=1e-12)


def test_nothing_is_lost():
    """In a periodic flow fluxes leave as much on one side as comes in on the other."""
    hand = ByHand((5, 6, 7), (False,) * 3, ghost=2).fill(momentum_with().fields)
    for name in VELOCITY:
        hand.fields[name] = np.pad(hand.values(name), 2, mode="wrap")
    hand.run(hand.launch(momentum_with(), {"grid": hand.staggered.constants, "fluid": Fluid(0.0, advection=QUICK)}))
    for name in VELOCITY:
        assert abs(hand.values(f"h_{name}").sum()) < 1e-11 < abs(hand.values(f"h_{name}")).max()


@pytest.mark.slow
def test_of_order_2():
    """Convection and friction of plane waves in all directions, with three spacings."""
    cells, errors = [16, 32, 48], []
    for n in cells:
        waves = Waves()
        hand = Box2Pi((n, 3 * n // 2, 5 * n // 4), (False,) * 3, ghost=2).fill(momentum_with(eddies=True).fields)
        for number, name, place in ((0, "u", "fx"), (1, "v", "fy"), (2, "w", "fz"), (4, "nu_t", "c")):
            hand.fields[name] = waves.value(number, list(hand.staggered.points(place, hand.memory)))
        constants = {"grid": hand.staggered.constants, "fluid": Fluid(0.2, advection=QUICK)}
        hand.run(hand.launch(momentum_with(eddies=True), constants))
        result = []
        for a, name in enumerate("uvw"):
            x = list(hand.staggered.points("f" + "xyz"[a], hand.box))
            result.append(abs(hand.values(f"h_{name}") + waves.convection(a, x) - waves.friction(a, x, 0.2)).max())
        errors.append(result)
    for item in zip(*errors, strict=True):
        assert orders(item, cells)[1] == pytest.approx(2.0, abs=0.15)


def test_blocks_do_not_change_a_bit():
    """Between walls, through an inflow and an outflow; whatever memory held before."""
    case = Case(
        grid={"cells": [9, 6, 7], "lengths": [1.3, 1.0, 1.1]}, fluid={"viscosity": 0.003, "scheme": "quick"},
        turbulence={"model": "wale"}, pressure={"iterations": 6}, time={"steps": 4},
        boundaries={
            "x_min": {"type": "inflow", "velocity": ["1 + 0.3*sin(4*z + t)", "0.1*cos(9*y)", "0.2"]},
            "x_max": "outflow", "y": "periodic", "z_min": "wall", "z_max": "slip",
        },
        initial={"velocity": ["1 + sin(6*y)*cos(5*z)", "cos(7*x)", "cos(4*y)"]},
    )  # fmt: skip
    whole, cut = compute(case), compute(case, (3, 1, 2), overlap="full", garbage=np.nan)
    central = compute(case.model_copy(update={"fluid": case.fluid.model_copy(update={"scheme": "central"})}))
    assert abs(whole["u"] - central["u"]).max() > 1e-3
    for name in (*VELOCITY, "p", "nu_t"):
        assert np.isfinite(whole[name]).all()
        np.testing.assert_array_equal(cut[name], whole[name], err_msg=name)


def test_the_direct_solver_finds_planes_where_the_last_block_would_have_had_one():
    """With two ghost layers blocks are cut otherwise than its slabs."""
    case = Case(
        grid={"cells": [6, 4, 10], "lengths": [1.0, 1.0, 1.0]}, fluid={"viscosity": 0.01, "scheme": "quick"},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"},
        initial={"velocity": ["sin(6*z)", "0.3*cos(6*x)", "0.2*sin(6*y)"]}, time={"steps": 2},
        pressure={"solver": "fft"}, machine={"device": "cpu", "threads": 1},
    )  # fmt: skip
    one, cut = compute(case), compute(case, (1, 1, 4))
    assert cut.setup.partition.cuts[2] == (0, 2, 5, 7, 10)
    for name in (*VELOCITY, "p"):
        np.testing.assert_allclose(cut[name], one[name], rtol=0, atol=1e-14)
