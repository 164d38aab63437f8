"""What is told of the cells of a grid."""

import numpy as np
import pytest

from taskflow.geometry.grids import quality, shape
from taskflow.geometry.grids.multiblock.assembly import Part, assembled


def test_of_a_box_of_equal_cells():
    told = quality(shape("box", {"cells": (4, 4, 4), "lengths": (1, 2, 4)}).grid())
    assert told.volume.value == pytest.approx(1 / 8)
    assert told.aspect.value == pytest.approx(4)
    assert told.skewness.value == pytest.approx(0, abs=1e-15)
    assert told.growth.value == pytest.approx(1)
    assert told.singular == {}


def test_skewness_is_that_of_the_angle():
    told = quality(shape("skewed-box", {"cells": (4, 4, 1), "lengths": (1, 1, 9), "angle": 30}).grid())
    assert told.skewness.value == pytest.approx(60 / 90)
    assert told.aspect.value == pytest.approx(1)  # its thickness does not count


def test_growth_is_seen_across_a_seam():
    """Between the last and the first cell of two charts."""
    x = np.concatenate([np.arange(5.0), 4 + 1.5 * np.arange(1, 6)])
    points = np.stack(np.broadcast_arrays(x, np.arange(5.0)[:, None], np.arange(5.0)[:, None, None]))
    grid = assembled([Part(points[..., :5].copy(), {}), Part(points[..., 4:].copy(), {})])
    told = quality(grid)
    assert told.growth.value == pytest.approx(1.5)
    assert (told.growth.chart, told.growth.cell[0]) == (2, 1)


def test_the_place_of_the_least_cell():
    told = quality(shape("annulus", {"cells": (8, 32, 1), "radii": (1, 2), "charts": 2}).grid())
    assert told.volume.cell[0] == 1
    assert str(told.volume).startswith(f"{told.volume.value:.4g} (chart ")


@pytest.mark.parametrize("periodic", [False, True])
def test_singular_edges_of_five_charts(periodic):
    """A star of five rhombi around an edge."""
    s = np.arange(5) / 4
    blocks = []
    for n in range(5):
        a, b = (np.array([np.cos(t), np.sin(t)]) for t in 2 * np.pi * np.array([n, n + 1]) / 5)
        x, y = (a[c] * s + b[c] * s[:, None] for c in (0, 1))
        blocks.append(Part(np.stack(np.broadcast_arrays(x, y, s[:, None, None])), {}))
    grid = assembled(blocks, [(0.0, 0.0, 1.0)] if periodic else [])
    assert len(grid.seams) == 5 * (2 if periodic else 1)
    assert quality(grid).singular == {5: 4}
