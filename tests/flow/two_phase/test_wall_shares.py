"""Shares in ghost cells of walls: kernels equal their NumPy reference, whatever other ghost cells hold."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.boundaries.slip import Slip
from taskflow.flow.boundaries.wall import Wall
from taskflow.flow.models.two_phase.walls import WET, ShareGhosts
from taskflow.runtime.tasks import frame
from tests.flow.byhand import ByHand
from tests.reference import wall_shares as reference

SHAPES = {  # distances below an interface in cells, along x, y and z
    "oblique": lambda x, y, z: 4.2 - 0.5 * x - 0.2 * y - 0.3 * z,
    "steep": lambda x, y, z: x - 4.3 + 0.08 * (z - 3) ** 2 - 0.05 * y,
    "ball": lambda x, y, z: 3.1 - np.sqrt((x - 4) ** 2 + (y - 2.8) ** 2 + (z - 1.7) ** 2),
    "film": lambda x, y, z: 0.6 + 0.1 * np.sin(x + y) - np.minimum(np.minimum(x, y), z),
    "front": lambda x, y, z: 0.6 - x + 1e-10 * np.sin(7 * z + 5 * y),
}


def filled(cells, walls, shape, real, device, condition, *, tension) -> tuple[ByHand, np.ndarray]:
    """A field with ghost values of shares, and the shares of its cells. Ghost values are random before."""
    hand = ByHand(cells, walls, real, ghost=WET, **device).fill(["f"])
    z, y, x = np.indices(cells[::-1]) + 0.5
    f = (0.5 + SHAPES[shape](x, y, z)).clip(0, 1).astype(real)
    kept = tuple(slice(WET, -WET) if walls[2 - axis] else slice(None) for axis in range(3))
    hand.fields["f"][kept] = np.pad(f, WET, mode="wrap")[kept]
    beyond = ShareGhosts(hand.staggered.constants, dict.fromkeys(hand.faces(), condition), tension)
    hand.run(*beyond.fill("f", ("u", "v", "w")))
    return hand, f.astype("f8")


def layers(hand: ByHand, face: str, count: int) -> list[np.ndarray]:
    """Ghost cells [r, s] of a side, outwards."""
    ghosts = reference.faced(hand.fields["f"], *frame(face))
    return [ghosts[WET - n, WET:-WET, WET:-WET] for n in range(1, count + 1)]


BOXES = pytest.mark.parametrize(("cells", "walls"), [
    ((8, 6, 7), (True, True, True)), ((8, 1, 7), (True, False, True)), ((8, 1, 7), (True, True, True)),
    pytest.param((8, 2, 7), (True, True, True), marks=pytest.mark.slow),
    pytest.param((8, 6, 7), (True, False, True), marks=pytest.mark.slow),
])  # fmt: skip


def assert_agrees(found: np.ndarray, expected: np.ndarray, real: str, about: object) -> None:
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 if real == "f8" else 2e-5, err_msg=str(about))


@BOXES
@pytest.mark.parametrize("shape", SHAPES)
def test_planes_meet_walls_as_they_come(cells, walls, shape, real, device):
    hand, f = filled(cells, walls, shape, real, device, Slip(), tension=False)
    for face in hand.faces():
        if cells[frame(face)[0]] >= 3:
            expected = reference.shares_below_planes(f, walls, *frame(face))
            assert_agrees(layers(hand, face, 1)[0], expected, real, face)


@BOXES
@pytest.mark.parametrize("angle", [35, 120])
@pytest.mark.parametrize("shape", SHAPES)
def test_an_interface_meets_walls_at_its_angle(cells, walls, shape, angle, real, device):
    hand, f = filled(cells, walls, shape, real, device, Wall(contact_angle=angle), tension=True)
    spacing = hand.staggered.spacing
    for face in hand.faces():
        if cells[frame(face)[0]] >= 3:
            expected = reference.shares_at_angle(f, walls, *frame(face), np.radians(angle), spacing)
            for layer, (one, known) in enumerate(zip(layers(hand, face, 3), expected, strict=True), 1):
                assert_agrees(one, known, real, (face, layer))
