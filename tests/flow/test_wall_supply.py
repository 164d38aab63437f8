"""What walls in faces of bodies give to adjacent cells, against NumPy."""

from __future__ import annotations

import pytest

from taskflow.flow.boundaries.boundary import Mirror
from taskflow.flow.boundaries.box_side import SidePart
from taskflow.flow.boundaries.wall_supply import CellsAtFace, WallSupply, supply, supply_bounded
from taskflow.runtime.regions import Box
from tests.flow.byhand import DT, RATIO, ByHand, variant
from tests.reference.wall_supply import given

K, NUMBER = 0.3, 0.7
FACE = Box((0, 1, 2), (1, 4, 5))  # of 5 x 4 x 6 cells, by the numbers of faces along y and z


def at_face(hand: ByHand, face: str) -> CellsAtFace:
    """Part of a plane of faces, between cells 1 and 2 across x."""
    return CellsAtFace(face, hand.staggered.constants, SidePart("opening1", "", "", (FACE,), plane=2))


@pytest.mark.parametrize("without", ["", "number", "q number", "q"])
@pytest.mark.parametrize("face", ["x_min", "x_max"])
def test_supply(without, face, real, device):
    hand = ByHand((5, 4, 6), real=real, **device).fill(("h", "q_new", "q"))
    hand.scalars["number"] = NUMBER
    side, mirror = at_face(hand, face), Mirror(1.0 if "q" in without.split() else -0.5, 1.25)
    (cells,) = side.last
    assert cells == Box((1 + (face == "x_min"), 1, 2), (2 + (face == "x_min"), 4, 5))
    h, q_new, q = (hand.values(name, cells).astype("f8") for name in ("h", "q_new", "q"))
    value = mirror.value * (1.0 if "number" in without else NUMBER)
    F = given(q, K, hand.staggered.widths(0)[0], mirror.factor, value)
    about = {"supply": WallSupply.of(mirror, None, side, K).supply}
    hand.run(hand.launch(variant(supply, without), about, cells))
    hand.assert_agrees("h", h + F, cells)
    hand.assert_agrees("q_new", q_new + DT * (1 + RATIO / 2) * F, cells)
    hand.run(hand.launch(variant(supply_bounded, without), {**about, "part": 0.5}, cells))
    hand.assert_agrees("q_new", q_new + DT * (1 + RATIO / 2) * F + 0.5 * DT * F, cells)


def test_a_moving_face_drags_the_faces_between_its_cells():
    hand = ByHand((5, 4, 6))
    high, low = (at_face(hand, face) for face in ("x_min", "x_max"))
    assert high.along_faces("v") == (Box((2, 2, 2), (3, 4, 5)),)
    assert low.along_faces("w") == (Box((1, 1, 3), (2, 4, 5)),)
    whole = CellsAtFace("x_min", high.grid, SidePart("o", "", "", (Box((0, 0, 0), (1, 4, 6)),), plane=2))
    assert whole.along_faces("v") == (Box((2, 1, 0), (3, 4, 6)),), "faces on sides of the domain are theirs"
