"""Shapes in places: the same bodies as those that are made there."""

from __future__ import annotations

import math

import numpy as np
import pytest

from taskflow.geometry import ClosedSurface, Cuboid, Cylinder, Pose, Sphere, placed

X, Y, Z = np.linspace(-1, 1, 21), np.linspace(-1.1, 0.9, 17), np.linspace(-0.9, 1, 19)
QUARTER = math.pi / 2


def box(low: tuple, high: tuple) -> ClosedSurface:
    """A box of triangles."""
    corner = lambda i, j, k: [(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]]  # noqa: E731
    quads = [((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0)), ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)),
             ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)), ((0, 1, 0), (0, 1, 1), (1, 1, 1), (1, 1, 0)),
             ((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)), ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1))]  # fmt: skip
    corners = [[corner(*quad[n]) for n in three] for quad in quads for three in ((0, 1, 2), (0, 2, 3))]
    return ClosedSurface(np.array(corners, float))


@pytest.mark.parametrize(("shape", "place", "same"), [
    (Sphere((0, 0, 0), 0.51), Pose((0.2, -0.1, 0.3)), Sphere((0.2, -0.1, 0.3), 0.51)),
    (Cylinder((0.1, 0, 0), 0.43, 1), Pose((0.2, 0, 0)), Cylinder((0.3, 0, 0), 0.43, 1)),
    (Cuboid((-0.31, -0.22, -0.4), (0.33, 0.17, 0.52)), Pose((0, 0, 0), QUARTER, 2),
     Cuboid((-0.17, -0.31, -0.4), (0.22, 0.33, 0.52))),
    (Cuboid((0, 0.03, 0.01), (0.43, 0.37, 0.52)), Pose((-0.07, 0, 0), -QUARTER, 1, (0.52, 0, 0.51)),
     Cuboid((0.44, 0.03, -0.01), (0.95, 0.37, 0.42))),
    (box((-0.31, -0.22, -0.4), (0.33, 0.17, 0.52)), Pose((0, 0.02, 0), QUARTER, 0),
     Cuboid((-0.31, -0.5, -0.22), (0.33, 0.42, 0.17))),
])  # fmt: skip
def test_as_if_made_there(shape, place, same):
    present = placed(shape, place)
    np.testing.assert_allclose(present.bounds, same.bounds, atol=1e-14)
    inside = same.inside(X, Y, Z)
    assert 30 < inside.sum() < inside.size / 2
    np.testing.assert_array_equal(present.inside(X, Y, Z), inside)
    points = np.array([[x, y, z] for x in (-0.9, -0.7) for y in Y[::3] for z in Z[::4]])
    np.testing.assert_allclose(present.entry(points, 0, 1.0), same.entry(points, 0, 1.0), atol=1e-12)


def test_images():
    present = placed(Sphere((0, 0, 0), 0.3), Pose((0.9, 0, 0)), ((0.0, 0.0, 0.0), (-2.0, 0.0, 0.0)))
    both = [Sphere((x, 0, 0), 0.3).inside(X, Y, Z) for x in (0.9, -1.1)]
    np.testing.assert_array_equal(present.inside(X, Y, Z), both[0] | both[1])
    assert present.bounds[0][0] == pytest.approx(-1.4)
