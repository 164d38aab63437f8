"""Runs as environments of Gymnasium: the controller acts on the flow, sees it, and an episode ends and begins again."""

import numpy as np
import pytest

import taskflow as tf
from taskflow.common.errors import BadInput

gymnasium = pytest.importorskip("gymnasium")
Box = gymnasium.spaces.Box


@pytest.fixture
def lid():
    """A cavity whose lid moves as fast as the controller says; it wants the fluid below to have half that speed."""
    from taskflow.gym import FlowEnv

    case = tf.Case(
        grid={"cells": [8, 1, 8], "lengths": [1.0, 0.1, 1.0]}, fluid={"viscosity": 0.1},
        boundaries={"x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall", "z_max": {
            "type": "wall", "velocity": ["0*t", 0.0, 0.0]}},
        time={"steps": 12, "step": 1e-3}, monitor={"every": {"steps": 1}},
    )  # fmt: skip
    env = FlowEnv(
        case, {"action": Box(-1.0, 1.0, (1,)), "observation": Box(-1.0, 1.0, (8,))},
        lambda simulation, action: simulation.set("boundaries.z_max.velocity", [float(action[0]), 0.0, 0.0]),
        lambda simulation: simulation["u"].values[-1, 0, 1:].astype(np.float32),
        lambda simulation: -float(simulation.log()[-1]["kinetic_energy"]), every=4,
    )  # fmt: skip
    yield env
    env.close()


def test_a_controller_acts_and_sees(lid):
    """The same actions give the same observations in another episode, and actions are kept within their space."""
    with pytest.raises(BadInput, match=r"step\(\): the episode has not begun; call reset\(\)"):
        lid.step(np.ones(1))
    episodes = []
    for action in (1.0, 5.0):
        seen, about = lid.reset(seed=1)
        assert (about["time"], np.abs(seen).max()) == (0.0, 0.0)
        steps = [lid.step(np.full(1, action, np.float32)) for _ in range(3)]
        assert [over for *_, over, _ in steps] == [False, False, True]
        assert steps[-1][0].max() > steps[0][0].max() > 0
        assert steps[-1][1] < 0
        episodes.append([seen for seen, *_ in steps])
    np.testing.assert_array_equal(*episodes)


def test_an_episode_may_differ_from_the_case(lid):
    lid.reset(options={"fluid.viscosity": 0.2})
    assert lid.simulation.case.fluid.viscosity == 0.2
    with pytest.raises(BadInput, match=r"fluid\.viscosity"):
        lid.reset(options={"fluid.viscosity": -1.0})
