"""How steady a flow is: what kernels find, and what follows from it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow.measures import extremes, steadiness
from taskflow.flow.measures.steadiness import Steadiness
from taskflow.runs.state.setup import RunSetup
from tests.flow.byhand import ByHand
from tests.flow.test_kernels import CELLS, ROWS, VELOCITY

EPS = float(np.finfo("f8").eps)
MEASURES = {
    "change": lambda box: steadiness.quantity_change("q", "q_old", over=box, change="change"),
    "high": lambda box: extremes.highest("q", None, over=box, high="high"),
    "low": lambda box: extremes.lowest("q", None, over=box, low="low"),
}


@pytest.mark.parametrize("cells", CELLS + ROWS)
def test_kernels(cells, real, device):
    hand = ByHand(cells, real=real, **device).fill([*VELOCITY, "was_u", "was_v", "was_w", "q", "was_q", "q_old"])
    for measure in MEASURES.values():
        hand.run(measure(hand.box))
    for task in (steadiness.keep_velocity, steadiness.keep_quantity):
        hand.run(hand.launch(task, {}))
    for name in (*VELOCITY, "q"):
        np.testing.assert_array_equal(hand.values(f"was_{name}"), hand.values(name))
    q, old = hand.values("q"), hand.values("q_old")
    assert hand.scalars["change"] == float(np.abs(q - old).max())
    assert (hand.scalars["high"], hand.scalars["low"]) == (float(q.max()), float(q.min()))


@pytest.mark.parametrize("scalar", MEASURES)
def test_a_single_nan_is_never_lost(scalar, real, device):
    hand = ByHand((41, 5, 12), real=real, **device).fill(["q", "q_old"])
    hand.fields["q"][5, 3, 17] = np.nan
    hand.run(MEASURES[scalar](hand.box))
    assert math.isnan(hand.scalars[scalar])


def box(**changes) -> Steadiness:
    """A heated box with a passive scalar, 2 long."""
    tables = {
        "grid": {"cells": [4, 1, 4], "lengths": [2.0, 9.0, 1.0]}, "fluid": {"viscosity": 0.1},
        "heat": {"diffusivity": 0.2}, "scalars": [{"name": "dye", "diffusivity": 0.0}],
        "boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
        "time": {"end": 1.0, "steady": 1e-3},
    }  # fmt: skip
    settled = RunSetup(Case(**{**tables, **changes}), (1, 1, 1)).steady_criterion
    assert settled is not None
    return settled.steadiness


def test_everything_that_moves_is_watched():
    assert box().watched == ("velocity", "T", "dye")
    assert box(heat=None, scalars=()).watched == ("velocity",)
    assert box().fields == {"was_u": "fx", "was_v": "fy", "was_w": "fz", "was_T": "c", "was_dye": "c"}


def test_ranges():
    result = {
        "rate": 3.0, "speed": 0.5, "changed_u": 0.1, "changed_T": 0.2, "highest_T": 301.0, "lowest_T": 299.0,
        "changed_dye": 0.0, "highest_dye": 1.0, "lowest_dye": 1.0 - 8 * EPS,
    }  # fmt: skip
    assert box().motions(result, 0.1, EPS) == {"velocity": (0.1, 0.5), "T": (0.2, 2.0), "dye": (0.0, 0.0)}
    still = {**result, "rate": 1e-15, "speed": 1e-16}
    assert box().motions(still, 0.1, EPS)["velocity"].range == 0
    assert box().motions(still, 10.0, EPS)["velocity"].range > 0


def test_patience():
    """The longest side with more than one cell is 2, the largest diffusivity 0.2."""
    assert box().patience(50.0) == pytest.approx(2 / 50)
    assert box().patience(0.0) == pytest.approx(4 / (math.pi**2 * 0.2))
    assert box(fluid={"viscosity": 0.0}, heat=None).patience(0.0) == math.inf
