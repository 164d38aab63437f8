"""Short versions of the examples, on few cells: each does what its page says that one should look at."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from tests.flows import Flow, compute

EXAMPLES = Path(__file__).parents[2] / "examples"


def short(name: str, *settings: str) -> Flow:
    return compute(tf.Case.load(EXAMPLES / f"{name}.toml", list(settings)))


def force(flow: Flow, body: str) -> tuple[float, float, float]:
    return flow.setup.model.obstacles.measured(flow.scalars)[body]["force"]


def released(flow: Flow, name: str, speed: float) -> float:
    """How much of a scalar is there, over what its source of rate 1 released; none has left, and none is negative."""
    assert flow.tick.time * speed < 4
    assert flow[name].min() >= 0
    return flow[name].sum() * np.prod(flow.setup.grid.spacing) / flow.tick.time


@pytest.mark.slow
def test_cylinder():
    flow = short("cylinder", "grid.cells=[88, 1, 16]", "time.end=0.1")
    drag, _, lift = force(flow, "cylinder")
    assert drag > abs(lift)
    assert flow["u"].min() < 0


def test_sphere_is_dragged_along_and_nowhere_else():
    drag, *across = force(short("sphere", "grid.cells=[32, 20, 20]", "time.end=1.0"), "sphere")
    assert 0.4 < drag < 1
    assert np.abs(across).max() < 1e-3 * drag


def test_stirrer():
    """The paddle drags the fluid along, against a torque; that on the pot is less while it comes into motion."""
    flow = short("stirrer", "grid.cells=[36, 1, 36]", "time.end=0.6")
    result = flow.setup.model.obstacles.measured(flow.scalars)
    line = flow.setup.measures.line(flow.scalars, flow.tick, 0.0)["bodies"]
    assert line["paddle"]["moment"][1] < -0.001
    assert abs(line["pot"]["moment"][1]) < 0.1 * abs(line["paddle"]["moment"][1])
    assert result["pot"] == line["pot"]
    x, z = flow.points("u")[0], flow.points("u")[2]
    beside = (np.abs(x) < 0.2) & (z > 0.2) & (z < 0.6)
    assert flow["u"][np.broadcast_to(beside, flow["u"].shape)].min() > 0


@pytest.mark.slow
def test_oscillating_cylinder_immersed():
    """It begins to move to the left at once; the fluid holds it back, and goes with it before it and behind it."""
    flow = short("oscillating_cylinder_immersed", "time.end=0.1")
    line = flow.setup.measures.line(flow.scalars, flow.tick, 0.0)["bodies"]["cylinder"]
    assert line["force"][0] > 0
    x, z = flow.points("u")[0], flow.points("u")[2]
    near = (abs(abs(x) - 0.7) < 0.15) & (abs(z) < 0.2)
    assert flow["u"][np.broadcast_to(near, flow["u"].shape)].max() < 0


def test_backward_step():
    """Behind the step the fluid flows back; before it nothing does."""
    flow = short("backward_step", "grid.cells=[112, 1, 16]", "time.end=5.0")
    x, floor = flow.points("u")[0].ravel(), flow["u"][0, 0]
    assert floor[(x > 0.5) & (x < 2)].max() < 0
    assert flow["u"][10, 0][x < -1].min() > 0.1


def test_rayleigh_benard():
    """As much heat enters below as leaves above, once it is steady; below Ra = 1708 it is conduction alone."""
    numbers = {}
    for expansion in (7.1e4, 1.0e3):
        flow = short("rayleigh_benard", "grid.cells=[48, 1, 12]", "time.end=0.3", f"heat.expansion={expansion}")
        numbers[expansion] = 12 * 2 * (1 - flow["T"][0].mean()), 12 * 2 * flow["T"][-1].mean()
    assert numbers[7.1e4] == pytest.approx((5.0, 5.0), rel=0.15)
    assert numbers[1.0e3] == pytest.approx((1.0, 1.0), rel=1e-2)


def test_turbulent_channel():
    flow = short("turbulent_channel", "grid.cells=[16, 16, 16]", "time.end=0.1")
    assert flow["u"].mean() == pytest.approx(15.6, rel=0.05)
    assert 0.3 < flow["w"].std() < 2
    assert flow["nu_t"].max() > flow.setup.case.fluid.viscosity


@pytest.mark.slow
def test_city():
    flow = short("city", "grid.cells=[64, 32, 16]", "time.end=1.5")
    assert released(flow, "exhaust", 1.2) == pytest.approx(1, rel=1e-4)
    x, _, z = (axis.ravel() for axis in flow.points("exhaust"))
    assert flow["exhaust"][z < 1][:, :, (x > 4) & (x < 5)].max() > 1


@pytest.mark.slow
def test_hill():
    flow = short("hill", "grid.cells=[48, 24, 16]", "time.end=1.5")
    assert released(flow, "smoke", 1.4) == pytest.approx(1, rel=1e-4)
    drag, across, _ = force(flow, "hill")
    assert drag > 10 * abs(across)


def test_the_map_of_the_hill_is_its_formula():
    x, y = np.meshgrid((np.arange(96) + 0.5) / 8, (np.arange(48) + 0.5) / 8)
    heights = np.cos(np.pi / 4 * np.minimum(np.hypot(x - 4, y - 3), 2)) ** 2
    np.testing.assert_allclose(np.load(EXAMPLES / "hill.npy"), heights, rtol=0, atol=1e-6)
