"""The staggered grid: where values live."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow import StaggeredGrid
from taskflow.runtime.regions import Box

GRID = StaggeredGrid((4, 2, 5), (2.0, 3.0, 1.0), origin=(1.0, 0.0, -1.0), periodic=(False, True, False))


def test_coordinates():
    np.testing.assert_allclose(GRID.coordinates("c", 0), [1.25, 1.75, 2.25, 2.75])
    np.testing.assert_allclose(GRID.coordinates("fx", 0), [1.0, 1.5, 2.0, 2.5, 3.0])  # both walls
    np.testing.assert_allclose(GRID.coordinates("fy", 1), [0.0, 1.5])  # periodic: the left faces
    np.testing.assert_allclose(GRID.coordinates("fx", 1), [0.75, 2.25])
    np.testing.assert_allclose(GRID.coordinates("fz", 2, 2, 4), [-0.6, -0.4])


def test_points_broadcast_to_the_cells_of_a_box():
    box = Box((1, 0, 2), (4, 2, 4))
    x, y, z = GRID.points("fx", box)
    assert np.broadcast_shapes(x.shape, y.shape, z.shape) == (2, 2, 3)
    np.testing.assert_allclose(x.ravel(), [1.5, 2.0, 2.5])
    np.testing.assert_allclose(z.ravel(), [-0.5, -0.3])


def test_measures_and_constants():
    assert GRID.spacing == (0.5, 1.5, 0.2)
    assert GRID.volume == pytest.approx(0.15)
    assert [GRID.area(axis) for axis in range(3)] == pytest.approx([0.3, 0.1, 0.75])
    grid = GRID.constants
    assert (grid.low, grid.high) == ((True, False, True), (True, False, True))
    assert (grid.first[0], grid.last[0], grid.first[2], grid.last[2]) == (0, 3, 0, 4)
    assert grid.first[1] < -1
    assert grid.last[1] < -1  # no cell, ghosts included, is beside a wall there
    assert grid.relaxation == pytest.approx(1 / (2 * (1 / 0.5**2 + 1 / 1.5**2 + 1 / 0.2**2)))


@pytest.mark.parametrize(
    ("cells", "lengths"),
    [((0, 1, 1), (1.0, 1.0, 1.0)), ((1, 1, 1), (1.0, -1.0, 1.0)), ((1, 1, 1), (1.0, float("nan"), 1.0))],
)
def test_impossible_grids_are_refused(cells, lengths):
    with pytest.raises(ValueError, match="cells >= 1 and lengths > 0"):
        StaggeredGrid(cells, lengths)
