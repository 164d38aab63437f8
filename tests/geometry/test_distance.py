"""Distances to shapes, and to regions made of several."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.geometry import Composition, Cuboid, Cylinder, Formula, Implicit, Sphere
from taskflow.geometry.heights import HeightMap

POINTS = np.random.default_rng(1).uniform(-2, 2, (3, 400))
BOX = Cuboid((-1.0, -0.5, -0.25), (1.0, 0.5, 1.5))
ROUND = Cylinder((0.1, 0.2, 0.0), 0.8, 2, 1.5)


@pytest.mark.parametrize("shape", [BOX, ROUND, Sphere((0.1, 0.0, 0.2), 0.9), Cylinder((0, 0, 0.3), 0.5, 0)])
def test_distances_are_signed_and_change_by_no_more_than_the_way(shape: Formula):
    distance = shape.distance(*POINTS)
    np.testing.assert_array_equal(distance > 0, shape.contains(*POINTS))
    # the nearest point of the surface is where the gradient says
    step = 1e-6
    shifts = step * np.eye(3)[:, :, None]
    slope = [(shape.distance(*(POINTS + s)) - shape.distance(*(POINTS - s))) / (2 * step) for s in shifts]
    assert np.hypot.reduce(slope) == pytest.approx(1, abs=2e-3)
    np.testing.assert_allclose(shape.distance(*(POINTS - distance * slope)), 0, atol=2e-3)


def test_a_box_has_corners():
    x, y, z = (np.array([at]) for at in (2.0, 1.5, 2.5))
    assert BOX.distance(x, y, z) == pytest.approx(-np.sqrt(3))
    assert BOX.distance(x * 0, y * 0, z * 0) == pytest.approx(0.25)
    assert BOX.distance(2 * x / 2, y * 0, z * 0) == pytest.approx(-1)


def test_formulas_and_heights_have_the_sign():
    ball = Implicit(lambda x, y, z: x**2 + y**2 + z**2 - 1)
    np.testing.assert_array_equal(ball.distance(*POINTS) > 0, ball.contains(*POINTS))
    ground = HeightMap(np.array([-2.0, 2.0]), np.array([-2.0, 2.0]), np.array([[0.0, 1.0], [0.0, 1.0]]))
    np.testing.assert_array_equal(ground.distance(*POINTS) > 0, ground.contains(*POINTS))


def test_the_last_of_several_shapes_holds():
    hole = Sphere((0.0, 0.0, 0.0), 0.6)
    region = Composition(((BOX, True), (hole, False), (Sphere((0, 0, 0), 0.2), True)), -9.0)
    inside = BOX.contains(*POINTS) & ~hole.contains(*POINTS) | Sphere((0, 0, 0), 0.2).contains(*POINTS)
    np.testing.assert_array_equal(region(*POINTS) > 0, inside)
    everything = Composition(((BOX, False),), 9.0)
    np.testing.assert_array_equal(everything(*POINTS) > 0, ~BOX.contains(*POINTS))
    lattice = region(POINTS[0][None, None, :5], POINTS[1][None, :4, None], POINTS[2][:3, None, None])
    assert lattice.shape == (3, 4, 5)
    assert lattice[2, 1, 4] == region(*(POINTS[n][[at]] for n, at in enumerate((4, 1, 2))))[0]


def test_where_a_map_ends_there_is_no_ground():
    ground = HeightMap(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.ones((2, 2)))
    region = Composition(((ground, True),), -3.0)
    assert region(np.array([5.0]), np.array([0.5]), np.array([-9.0])) == -3.0
    assert region(np.array([0.5]), np.array([0.5]), np.array([0.5])) == 0.5
