"""Walls in pictures of charts: which way their faces go round."""

import numpy as np
import pytest
import xarray as xr

from taskflow.output.store.chart_layout import VERTICES
from taskflow.plots.chart_pictures import _faces
from taskflow.runtime.regions import SIDES, Box, Patch


@pytest.mark.parametrize("side", SIDES)
def test_faces_go_round_as_seen_from_outside(side):
    """The normal of each face of a box, by the right hand, points out of it, and has the area of a cell's face."""
    k, j, i = np.meshgrid(range(5), range(4), range(3), indexing="ij")
    chart = xr.Dataset({axis: (VERTICES, x.astype(float)) for axis, x in zip("xyz", (i, j, k), strict=True)})
    patch = Patch(0, side, Box.of((2, 3, 4)).layer(SIDES.index(side) // 2, SIDES.index(side) % 2, 1, 0))
    points, faces = _faces(chart, patch)
    a, b, c, d = (points[faces[:, n]] for n in range(1, 5))
    out = np.zeros(3)
    out[patch.axis] = 2 * patch.end - 1
    assert (faces[:, 0] == 4).all()
    assert len(faces) == 24 // (2, 3, 4)[patch.axis]
    np.testing.assert_array_equal(np.cross(c - a, d - b) / 2, np.tile(out, (len(faces), 1)))
