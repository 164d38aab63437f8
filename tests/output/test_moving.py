"""Charts that move: each record has its vertices and centres, where the rotation and the shift of its time put them."""

from itertools import combinations

import numpy as np
import pytest

from taskflow.output import create, tree
from taskflow.output.store.reading import charts
from taskflow.output.store.rigid_motion import COLUMNS, RATES, moved, places_now, pose, transformed
from tests.output.on_charts import grid_of, layout_of, write

ANGLES, SHIFTS = (0.0, 0.3, np.pi / 2), ((0.0, 0.0, 0.0), (0.5, 0.0, -1.0), (0.0, 2.0, 0.0))


def turn(angle):
    """A rotation about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


@pytest.fixture
def store(tmp_path):
    """Three records of an annulus that turns and shifts."""
    layout = layout_of(grid_of("annulus"), blocks=2, columns=COLUMNS)
    result = create(tmp_path / "moving.zarr", layout, {"title": "A test"})
    for index, (angle, shift) in enumerate(zip(ANGLES, SHIFTS, strict=True)):
        result.grow(index + 1)
        write(tmp_path / "moving.zarr", layout, index)
        rates = pose(np.zeros((3, 3)), np.zeros(3), RATES)
        result.commit(index, float(index), **pose(turn(angle), np.array(shift)), **rates)
    result.finish()
    return tmp_path / "moving.zarr"


def test_each_record_has_the_places_of_its_time(store):
    grid = grid_of("annulus")
    records = tree(store)
    for number, chart in charts(records):
        at_rest = grid.charts[number].vertices
        for index, (angle, shift) in enumerate(zip(ANGLES, SHIFTS, strict=True)):
            x, y, z = at_rest
            c, s = np.cos(angle), np.sin(angle)
            expected = c * x - s * y + shift[0], s * x + c * y + shift[1], z + shift[2]
            for axis, places in zip("xyz", expected, strict=True):
                np.testing.assert_allclose(chart[axis][index], places, atol=1e-14)
                np.testing.assert_array_equal(chart[f"{axis}_at_rest"], at_rest["xyz".index(axis)])
            corners = [chart[axis][index].values for axis in "xyz"]
            middle = [sum(v[k:][:v.shape[0] - 1, j:][:, :v.shape[1] - 1, i:][:, :, :v.shape[2] - 1]
                          for k in (0, 1) for j in (0, 1) for i in (0, 1)) / 8 for v in corners]  # fmt: skip
            for axis, places in zip("xyz", middle, strict=True):
                np.testing.assert_allclose(chart[f"{axis}_c"][index], places, atol=1e-13)


def test_the_place_of_a_vertex_does_not_depend_on_those_computed_with_it():
    """Blocks compute the vertices in their memory, and each has the bits that others have there."""
    points, tumbling = np.random.default_rng(2).standard_normal((3, 5, 40)), np.linspace(-0.9, 1.3, 9).reshape(3, 3)
    whole = transformed(points, tumbling, np.array([0.1, 0.2, 0.3]))
    for first, last in combinations(range(41), 2):
        part = transformed(points[:, 2:3, first:last], tumbling, np.array([0.1, 0.2, 0.3]))
        np.testing.assert_array_equal(part, whole[:, 2:3, first:last])


def test_places_of_a_moment_are_those_of_its_numbers(store):
    """As a run that goes on has them, between two records."""
    numbers = pose(turn(0.7), np.array([1.0, 2.0, 3.0]))
    for _, chart in charts(tree(store)):
        places = places_now(chart, numbers)
        assert set(places) == {"x", "y", "z", "x_c", "y_c", "z_c"}
        for kind in ("", "_c"):
            at_rest = np.stack([chart[f"{axis}{kind}_at_rest"].values for axis in "xyz"])
            expected = np.einsum("ab,bkji->akji", turn(0.7), at_rest) + np.array([1.0, 2.0, 3.0])[:, None, None, None]
            for axis, values in zip("xyz", expected, strict=True):
                dims, now = places[f"{axis}{kind}"]
                assert dims == chart[f"{axis}{kind}_at_rest"].dims
                np.testing.assert_allclose(now, values, atol=1e-13)
        assert places_now(chart, {}) == {}  # a grid at rest


def test_lengths_are_kept_by_any_motion():
    points = np.random.default_rng(1).random((3, 4, 5, 6))
    now = moved(points, pose(turn(2.0), np.array([3.0, -1.0, 7.0])))
    before, after = (np.linalg.norm(np.diff(p, axis=3), axis=0) for p in (points, now))
    np.testing.assert_allclose(after, before, rtol=1e-13)
