"""Vents against NumPy: losses of the normal velocity in one fluid and in two phases, and what enters."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.boundaries.boundary import Mirror
from taskflow.flow.boundaries.box_side import BoxSide
from taskflow.flow.boundaries.opening import opening
from taskflow.flow.boundaries.vent import Loss, enter, resist
from taskflow.flow.grid import on_face
from taskflow.flow.models.two_phase.outlets import resist_by_density
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import FACES, frame
from tests.flow.byhand import DT, ByHand, variant
from tests.flow.two_phase.test_bodies import CELLS, by_hand, layer
from tests.flow.two_phase.test_two_phase import PHASES, spacing
from tests.reference.two_phase import density
from tests.reference.vents import entered, resisted

LOSS = 3.0


def resist_by_hand(hand: ByHand, task, face: str, about: dict, rho: np.ndarray | float) -> None:
    (axis, high), grid = frame(face), hand.staggered.constants
    q_new, q = (layer(hand, name, face, int(high)).astype("f8") for name in ("q_new", "q"))
    p, sign = layer(hand, "p", face, 0).astype("f8"), 1 if high else -1
    constants = {"opening": opening(BoxSide(face, grid)), "loss": Loss(LOSS), **about}
    hand.run(hand.launch(variant(task, turned=face), constants, on_face(face, grid)))
    expected = resisted(q_new, q, p, sign, DT, spacing(CELLS)[axis], LOSS, rho)
    assert q.min() < 0 < q.max()
    np.testing.assert_allclose(layer(hand, "q_new", face, int(high)), expected, rtol=0, atol=10 * hand.tolerance)


@pytest.mark.parametrize("face", FACES)
def test_losses_of_one_fluid(face, real, device):
    hand, _ = by_hand(("q_new", "q", "p"), (True,) * 3, real, device)
    resist_by_hand(hand, resist, face, {}, 1.0)


@pytest.mark.parametrize("face", FACES)
def test_losses_have_the_density_of_what_passes(face, real, device):
    hand, _ = by_hand(("q_new", "q", "p", "f"), (True,) * 3, real, device)
    sides = (density(layer(hand, "f", face, outward).astype("f8"), PHASES) for outward in (0, 1))
    resist_by_hand(hand, resist_by_density, face, {"phases": PHASES}, sum(sides) / 2)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("timed", [False, True])
def test_what_enters_has_values_of_its_own(face, timed, real, device):
    hand, _ = by_hand(("q", "normal"), (True,) * 3, real, device)
    hand.scalars["number"] = 0.7
    high = frame(face)[1]
    inside, normal = layer(hand, "q", face, 0).astype("f8"), layer(hand, "normal", face, int(high))
    about = {"mirror": Mirror(-0.5, 1.25)}
    over = Box.of(CELLS).layer(*frame(face), -1, 0)
    hand.run(hand.launch(variant(enter, "" if timed else "number", face), about, over))
    expected = entered(inside, normal, 1 if high else -1, -0.5, 1.25 * (0.7 if timed else 1))
    np.testing.assert_allclose(layer(hand, "q", face, 1), expected, rtol=0, atol=hand.tolerance)
