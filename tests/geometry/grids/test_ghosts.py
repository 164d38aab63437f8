"""Ghost vertices: those of other charts through seams, reflected ones beyond sides, others extrapolated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taskflow.common.hexahedra import cell_volumes
from taskflow.geometry.grids import ghosted, shape
from taskflow.geometry.grids.multiblock.matching import close
from taskflow.geometry.grids.multiblock.plane import normal

BOX = {"cells": (12, 10, 8), "lengths": (1.0, 2.0, 0.5), "distortion": 0.1, "periodic": ["x"]}


def where(points, places):
    """The nearest of the places [n, xyz] to each of the points, and how far it is."""
    reach = np.full(len(points), 1e-12)
    first, second = close(points, places, reach)
    nearest = np.full(len(points), -1)
    nearest[first] = second
    return nearest


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([(1, 1, 1), (2, 1, 1), (2, 2, 1), (3, 2, 2)]))
def test_charts_that_are_cut_and_turned_have_the_ghosts_of_the_whole(seed, charts):
    """Each ghost vertex of a part is a vertex of the whole, or one of its ghosts."""
    whole = ghosted(shape("box", BOX).grid())[0].reshape(3, -1).T
    grid = shape("box", {**BOX, "charts": charts, "turned": True, "seed": seed}).grid()
    for vertices in ghosted(grid):
        points = vertices.reshape(3, -1).T
        assert (where(points, whole) >= 0).all()
        volume = cell_volumes(vertices)
        assert volume.min() > 0  # in their places, too


def test_beyond_a_side_vertices_are_reflected():
    vertices = ghosted(shape("box", {**BOX, "periodic": []}).grid())[0]
    chart = vertices[:, 2:-2, 2:-2, 2:-2]
    for n in (1, 2):
        np.testing.assert_array_equal(vertices[:, 2:-2, 2:-2, 2 - n], 2 * chart[..., 0] - chart[..., n])
        np.testing.assert_array_equal(vertices[:, 2 - n, 2:-2, 2:-2], 2 * chart[:, 0] - chart[:, n])
        np.testing.assert_array_equal(vertices[:, 2:-2, -3 + n, 2:-2], 2 * chart[:, :, -1] - chart[:, :, -1 - n])
    corner = vertices[:, 2:-2, 1, 1]
    np.testing.assert_allclose(corner, 4 * chart[:, :, 0, 0] - 2 * chart[:, :, 1, 0] - 2 * chart[:, :, 0, 1]
                               + chart[:, :, 1, 1], atol=1e-15)  # fmt: skip


@pytest.mark.parametrize("periodic", [False, True])
def test_one_cell_thick_goes_on_as_it_is(periodic):
    keys = {"cells": (16, 6, 1), "far": 5.0, "height": 0.25, "periodic": periodic}
    for vertices in ghosted(shape("o-grid", keys).grid()):
        levels = 0.25 * np.arange(-2, 4)[:, None, None]
        np.testing.assert_allclose(vertices[2], np.broadcast_to(levels, vertices.shape[1:]), atol=1e-15)
        for section in vertices[:2, [0, 1, 3, 4, 5]].swapaxes(0, 1):
            np.testing.assert_array_equal(section, vertices[:2, 2])


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("box", {"cells": (5, 21, 1), "lengths": (0.5, 8.0, 0.1), "periodic": ["x"]}),
        ("skewed-box", {"cells": (6, 7, 1), "lengths": (2.0, 3.0, 0.3), "periodic": ["x", "y"]}),
        ("wavy-channel", {"cells": (8, 6, 1), "wavelength": 7.0, "amplitude": 0.1, "height": 1.0, "span": 0.1}),
    ],
)
def test_a_period_keeps_flat_what_is_flat(name, keys):
    """Otherwise the flow would have three dimensions, and forces would not be those per span."""
    assert normal(shape(name, keys).grid()) == 2


def test_where_three_charts_meet_ghosts_are_extrapolated():
    x = ghosted(shape("pipe", {"cells": (6, 5, 4), "length": 1.0}).grid())[0]
    for m, n in ((1, 1), (2, 1), (1, 2), (2, 2)):
        corner, along_i, along_j = x[:, 2:-2, 2, 2], x[:, 2:-2, 2, 2 - m], x[:, 2:-2, 2 - n, 2]
        np.testing.assert_array_equal(x[:, 2:-2, 2 - n, 2 - m], along_i + along_j - corner)


def test_at_a_corner_into_the_flow_ghosts_are_extrapolated():
    """The chart above the one behind a step: beside it is the channel, whose wall ends there."""
    keys = {"cells": (24, 16, 1), "downstream": 6.0, "upstream": 2.0, "first": 0.1, "clustering": 2.0}
    grid = shape("step", keys).grid()
    above = ghosted(grid)[1]
    corner = above[:, 2, 2, 2]
    np.testing.assert_allclose(corner[:2], 0.0, atol=1e-15)
    np.testing.assert_array_equal(above[:, 2, 1, 1], above[:, 2, 2, 1] + above[:, 2, 1, 2] - corner)


def test_partial_seams_give_the_vertices_of_both_neighbours():
    keys = {"cells": (24, 16, 1), "downstream": 6.0, "clustering": 2.0}
    grid = shape("step", keys).grid()
    below, above, far = (chart.vertices for chart in grid.charts)
    beyond = ghosted(grid)[2][:, 2:-2, 2:-2]
    np.testing.assert_array_equal(beyond[:, :, :9, 1], below[..., -2])
    np.testing.assert_array_equal(beyond[:, :, 8:, 0], above[..., -3])
    assert far.shape[2] == 17
