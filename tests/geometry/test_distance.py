"""Distances to shapes, and to regions made of several."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.geometry import (
    ClosedSurface,
    Composition,
    Cuboid,
    Cylinder,
    ImplicitShape,
    Pointwise,
    Sphere,
    SurfaceDistance,
)  # fmt: skip
from taskflow.geometry.solids.distance import square_distance
from taskflow.geometry.solids.heights import HeightMap

POINTS = np.random.default_rng(1).uniform(-2, 2, (3, 400))
BOX = Cuboid((-1.0, -0.5, -0.25), (1.0, 0.5, 1.5))
ROUND = Cylinder((0.1, 0.2, 0.0), 0.8, 2, 1.5)


@pytest.mark.parametrize("shape", [BOX, ROUND, Sphere((0.1, 0.0, 0.2), 0.9), Cylinder((0, 0, 0.3), 0.5, 0)])
def test_distances_are_signed_and_change_by_no_more_than_the_way(shape: Pointwise):
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
    ball = ImplicitShape(lambda x, y, z: x**2 + y**2 + z**2 - 1)
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


def box_of_triangles(low, high) -> np.ndarray:
    """The twelve triangles [n, corner, xyz] of a box, seen from outside anticlockwise."""
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
    sides = []
    for axis in range(3):
        for end in (0, 1):
            corners = np.insert(square[:: 1 if end else -1], axis, end, axis=1)
            corners = corners if axis != 1 else corners[::-1]
            sides += [corners[[0, 1, 2]], corners[[0, 2, 3]]]
    return np.array(low) + np.array(sides) * (np.array(high) - low)


def test_distances_to_triangles_are_those_of_the_nearest_of_many_points_in_them():
    random = np.random.default_rng(2)
    triangles, points = random.normal(size=(40, 3, 3)), random.normal(size=(40, 3))
    triangles[:4, 2] = triangles[:4, 1]  # lines
    triangles[4:6, 1:] = triangles[4:6, :1]  # points
    n = np.arange(201)
    a, b = (share[n[:, None] + n <= 200] / 200 for share in np.meshgrid(n, n, indexing="ij"))
    weights = np.stack([1 - a - b, a, b], axis=1)
    within = np.einsum("wc,tcx->twx", weights, triangles)
    nearest = np.linalg.norm(within - points[:, None], axis=2).min(axis=1)
    result = np.sqrt(square_distance(points.T, triangles.transpose(1, 2, 0)))
    np.testing.assert_allclose(result, nearest, atol=0.03)
    assert (result <= nearest + 1e-12).all()  # no point within is nearer


def test_the_distance_to_a_box_of_triangles_is_that_to_a_box_as_far_as_it_reaches():
    surface = ClosedSurface(box_of_triangles(BOX.low, BOX.high))
    result = SurfaceDistance(surface, 0.4).distance(*POINTS)
    np.testing.assert_allclose(result, np.clip(BOX.distance(*POINTS), -0.4, 0.4), atol=1e-12)
    assert SurfaceDistance(surface, 0.4).distance(*(np.array([1e30]) for _ in range(3))) == [-0.4]
    at = np.linspace(-1.5, 1.5, 25)  # with points on faces, edges and diagonals
    lattice = np.stack(np.meshgrid(at, at, at), axis=-1).reshape(-1, 3)
    np.testing.assert_array_equal(surface.turns(lattice) != 0, BOX.contains(*lattice.T))
    line = lattice[:1] + np.linspace(0, 3, 50)[:, None] * [1, 0, 1]
    np.testing.assert_array_equal(surface.turns(line) != 0, BOX.contains(*line.T))


def test_parts_of_a_surface_that_overlap_are_one_body_and_those_inside_out_are_holes():
    parts = [Cuboid((-1, -1, -1), (0.5, 1, 1)), Cuboid((0, -1, -1), (1, 1, 1))]
    hole, core = Cuboid((-0.8, -0.8, -0.8), (-0.2, 0.8, 0.8)), Cuboid((-0.6, -0.3, -0.3), (-0.4, 0.3, 0.3))
    triangles = [box_of_triangles(box.low, box.high) for box in (*parts, core, hole)]
    triangles[3] = triangles[3][:, ::-1]
    expected = Composition(((parts[0], True), (parts[1], True), (hole, False), (core, True)), -9.0)(*POINTS)
    for order in ([0, 1, 2, 3], [3, 2, 0, 1]):
        result = SurfaceDistance(ClosedSurface(np.concatenate([triangles[n] for n in order])), 0.5)
        np.testing.assert_allclose(result.distance(*POINTS), np.clip(expected, -0.5, 0.5), atol=1e-12)
        turned = SurfaceDistance(ClosedSurface(result.surface.triangles[:, ::-1]), 0.5)
        np.testing.assert_allclose(turned.distance(*POINTS), np.clip(expected, -0.5, 0.5), atol=1e-12)
    apart = np.concatenate([triangles[0], triangles[2][:, ::-1] + [5, 0, 0]])  # bodies side by side: no hole
    assert SurfaceDistance(ClosedSurface(apart), 0.5).distance(*np.array([[4.5], [0.0], [0.0]])) > 0


def test_a_surface_that_cuts_itself_is_told_of():
    """Two boxes with an edge in common are no parts of their own."""
    boxes = [box_of_triangles((0, 0, 0), high) for high in ((1, 1, 1), (2, 2, 1))]
    with pytest.raises(BadInput, match=r"intersects itself: \(0.5, 0.5, 0.5\) occurs twice in it; give overlapping"):
        SurfaceDistance(ClosedSurface(np.concatenate(boxes)), 0.5).distance(*np.full((3, 1), 0.5))


GROUND = HeightMap(np.array([-2.0, 0.5, 2.0]), np.array([-2.0, 2.0]), np.array([[0.0, 1.0, 0.3], [0.2, 0.4, -0.6]]))
REGION = Composition(((BOX, True), (Sphere((0.0, 0.0, 0.0), 0.6), False), (GROUND, False)), 9.0)
BOXED = SurfaceDistance(ClosedSurface(box_of_triangles(BOX.low, BOX.high)), 3.0)


@pytest.mark.parametrize("shape", [BOX, ROUND, GROUND, BOXED, REGION])
def test_bounds_over_boxes(shape):
    """They hold all values, and say where there are none of one sign."""
    distance = shape if isinstance(shape, Composition) else shape.distance
    low = POINTS[:, :, None, None]
    high = low + np.random.default_rng(2).uniform(0, 0.7, low.shape)
    least, most = shape.range_over(tuple(low), tuple(high))
    for share in np.random.default_rng(3).uniform(0, 1, (20, 3, 1, 1, 1)):
        values = distance(*(low + share * (high - low)))
        known = ~((least < 0) & (most > 0))
        assert ((values >= least) & (values <= most) | ~known).all()
    assert known.mean() > 0.4
