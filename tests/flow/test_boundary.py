"""Boundary conditions: what the fields are at walls, and that refused ones say why."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.flow import Slip, Wall
from taskflow.flow.boundaries.sides import normal_velocity, temperature_ghosts, velocity_ghosts
from taskflow.runtime.regions import Box
from tests.flow.byhand import ByHand

VELOCITY = ("u", "v", "w")
CELLS = [(5, 4, 3), (1, 2, 1), (4, 1, 2)]
SPEEDS = {"x": (0.0, 0.3, -0.4), "y": (0.7, 0.0, 0.2), "z": (-0.1, 0.5, 0.0)}
SIDES = [("x_min", 0, 0), ("x_max", 0, 1), ("y_min", 1, 0), ("y_max", 1, 1), ("z_min", 2, 0), ("z_max", 2, 1)]


@pytest.fixture(params=["f4", "f8"])
def hand(request: pytest.FixtureRequest, device: dict) -> ByHand:
    return ByHand((5, 4, 3), real=request.param, **device).fill([*VELOCITY, "T"])


def layers(hand: ByHand, name: str, axis: int, side: int) -> tuple[np.ndarray, np.ndarray]:
    """The values in the layer of ghost cells beyond a face, and those in the layer inside."""
    ghost, inside = hand.box.layer(axis, side, -1, 0), hand.box.layer(axis, side, 0, 1)
    return hand.values(name, ghost).astype("f8"), hand.values(name, inside).astype("f8")


def test_nothing_flows_through(hand):
    before = {name: hand.fields[name].copy() for name in VELOCITY}
    walls = {face: Wall(SPEEDS[face[0]]) for face, _, _ in SIDES}
    hand.run(*normal_velocity(VELOCITY, walls, hand.staggered.constants))
    for axis, name in enumerate(VELOCITY):
        expected = before[name]
        for plane in (0, hand.cells[axis]):
            faces = hand.box.layer(axis, 0, plane, plane + 1)
            expected[faces.slices(hand.memory.lo)] = 0.0
        np.testing.assert_array_equal(hand.fields[name], expected)


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize("kinds", list(product((Wall, Slip), repeat=3)))
def test_velocity_along_boundaries(cells, kinds, device):
    hand = ByHand(cells, **device).fill(VELOCITY)
    boundaries = {face: Wall(SPEEDS[face[0]]) if kinds[axis] is Wall else Slip() for face, axis, _ in SIDES}
    hand.run(*velocity_ghosts(VELOCITY, boundaries, hand.staggered.constants))
    for face, axis, side in SIDES:
        for other, name in enumerate(VELOCITY):
            if other == axis:
                continue
            ghost, inside = layers(hand, name, axis, side)
            if kinds[axis] is Wall:
                np.testing.assert_allclose((ghost + inside) / 2, SPEEDS[face[0]][other], atol=1e-15)
            else:
                np.testing.assert_array_equal(ghost, inside)


def test_periodic_directions_are_left_alone(device):
    hand = ByHand((4, 3, 5), (True, False, True), **device).fill([*VELOCITY, "T"])
    before = {name: array.copy() for name, array in hand.fields.items()}
    boundaries = {face: Wall(temperature=1.0) for face in hand.faces()}
    grid = hand.staggered.constants
    hand.run(*normal_velocity(VELOCITY, boundaries, grid), *velocity_ghosts(VELOCITY, boundaries, grid))
    hand.run(*temperature_ghosts("T", boundaries, grid, 0.1))
    for name, array in hand.fields.items():
        for side in (0, 1):
            ghost = hand.memory.layer(1, side, 0, 1).slices(hand.memory.lo)
            np.testing.assert_array_equal(array[ghost], before[name][ghost])


def test_ghosts_beyond_edges_and_corners_come_from_values_filled_before(device):
    """All ghosts are filled: the component of NaN that an edge could keep from the last step is gone."""
    hand = ByHand((4, 3, 5), **device).fill(["T"])
    beyond = np.ones_like(hand.fields["T"], dtype=bool)
    beyond[hand.box.slices(hand.memory.lo)] = False
    hand.fields["T"][beyond] = np.nan
    hand.run(*temperature_ghosts("T", {face: Slip() for face in hand.faces()}, hand.staggered.constants, 0.1))
    inside = hand.fields["T"][hand.box.slices(hand.memory.lo)]
    np.testing.assert_array_equal(hand.fields["T"], np.pad(inside, 1, mode="edge"))


def test_temperature(hand):
    boundaries = {
        "x_min": Wall(temperature=2.0), "x_max": Wall(temperature=-1.0), "y_min": Wall(heat_flux=0.3), "y_max": Slip(),
        "z_min": Wall(), "z_max": Wall(heat_flux=-0.2),
    }  # fmt: skip
    grid, diffusivity = hand.staggered.constants, 0.07
    hand.run(*temperature_ghosts("T", boundaries, grid, diffusivity))
    for face, axis, side in SIDES:
        ghost, inside = layers(hand, "T", axis, side)
        boundary = boundaries[face]
        if isinstance(boundary, Wall) and boundary.temperature is not None:
            np.testing.assert_allclose((ghost + inside) / 2, boundary.temperature, atol=hand.tolerance)
        else:
            flux = boundary.heat_flux if isinstance(boundary, Wall) else 0.0
            into = diffusivity * (ghost - inside) / grid.spacing[axis]
            np.testing.assert_allclose(into, flux, atol=hand.tolerance)


def test_launches_touch_one_layer_each(hand):
    boundaries = {face: Wall() for face in hand.faces()}
    grid = hand.staggered.constants
    ghosts = hand.box.grow(1)
    for launch, (_, axis, side) in zip(velocity_ghosts(VELOCITY, boundaries, grid), SIDES, strict=True):
        assert launch.over in ghosts.layer(axis, side, 0, 1)
    for launch, (_, axis, side) in zip(normal_velocity(VELOCITY, boundaries, grid), SIDES, strict=True):
        plane = side * hand.cells[axis]
        assert launch.over == Box.of(hand.cells).layer(axis, 0, plane, plane + 1)


def test_refused_boundaries_say_why():
    hand = ByHand((3, 3, 3))
    grid, walls = hand.staggered.constants, {face: Wall() for face in hand.faces()}
    with pytest.raises(
        BadInput, match=r"boundaries\.z_max: velocity = \[1\.0, 0\.0, 0\.5\].*normal to the wall.*z component"
    ):
        list(normal_velocity(VELOCITY, {**walls, "z_max": Wall((1.0, 0.0, 0.5))}, grid))
    with pytest.raises(BadInput, match=r"boundaries\.x_min: heat_flux = 1\.0.*diffusivity = 0"):
        list(temperature_ghosts("T", {**walls, "x_min": Wall(heat_flux=1.0)}, grid, 0.0))
    with pytest.raises(ValueError, match="walls at"):
        list(velocity_ghosts(VELOCITY, {"x_min": Wall()}, grid))
