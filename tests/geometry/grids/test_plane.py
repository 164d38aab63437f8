"""Grids one cell thick: across which axis, and turned so that the cell lies along k."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from taskflow.geometry.grids import shape
from taskflow.geometry.grids.multiblock.assembly import Part, assembled
from taskflow.geometry.grids.multiblock.grid import MultiBlockGrid
from taskflow.geometry.grids.multiblock.merging import mismatches
from taskflow.geometry.grids.multiblock.plane import normal, upright
from taskflow.runtime.regions import Turn

RING = {"cells": (24, 8, 1), "far": 3.0, "height": 0.2}
ROLLS = {"i": Turn((3, 1, 2)), "j": Turn((2, 3, 1)), "k": Turn()}
"""Turns that bring the cell along k to i, j and k."""
TOLD = {"i": ", turned: its i, j, k were j, k, i", "j": ", turned: its i, j, k were k, i, j", "k": ""}


def rolled(grid: MultiBlockGrid, along: str, axis: int = 2) -> MultiBlockGrid:
    """A grid whose single cell lies along i, j or k, and across x, y or z: assembled again, periodic there."""
    parts = [Part(np.roll(chart.vertices, axis - 2, axis=0), {}).turned(ROLLS[along]) for chart in grid.charts]
    period = float(np.ptp(parts[0].vertices[axis]))
    return assembled(parts, [tuple(period * (a == axis) for a in range(3))])


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("along", "ijk")
def test_the_single_cell_comes_to_k(along, axis):
    """With the vertices, and the sides in the order, of the grid that had it there."""
    ring = shape("o-grid", RING).grid()
    grid, expected = rolled(ring, along, axis), rolled(ring, "k", axis)
    assert [chart.cells["ijk".index(along)] for chart in grid.charts] == [1] * len(grid.charts)
    assert normal(grid) == axis
    found = upright(grid)
    assert (found is grid) == (along == "k")
    for chart, other in zip(found.charts, expected.charts, strict=True):
        np.testing.assert_array_equal(chart.vertices, other.vertices)
    assert sorted(found.seams) == sorted(expected.seams)
    patches = [patch for some in found.sides.values() for patch in some]
    assert sorted(patches) == sorted(patch for some in expected.sides.values() for patch in some)
    assert upright(found) is found
    assert [found.given(n) for n in range(len(found.charts))] == [chart.cells for chart in grid.charts]
    assert found.turned(0) == TOLD[along]


def test_charts_that_are_turned_in_all_ways():
    """Names of sides stay, seams still join what they joined, charts are right-handed."""
    keys = {"cells": (12, 12, 1), "lengths": (1.0, 1.2, 0.1), "charts": (3, 3, 1), "turned": True, "periodic": ["x"]}
    seen = set()
    for seed in range(4):
        grid = shape("box", {**keys, "seed": seed}).grid()
        found = upright(grid)
        assert [*found.sides] == [*grid.sides]
        assert [*map(len, found.sides.values())] == [*map(len, grid.sides.values())]
        assert not [*mismatches(found.charts, found.seams)]
        assert all(chart.cells[2] == 1 and chart.sizes.least > 0 for chart in found.charts)
        seen |= {turn.axes for turn in found.turns}
    assert seen == {(1, 2, 3), (2, 3, 1), (3, 1, 2)}


def test_what_is_no_plane_stays_as_it_is():
    """Several cells across, planes that differ, or a plane that no axis is across."""
    several = shape("box", {"cells": (5, 4, 2), "lengths": (1.0, 1.0, 0.1)}).grid()
    thin = shape("box", {"cells": (5, 1, 4), "lengths": (1.0, 0.1, 1.0)}).grid()
    tilted = replace(thin.charts[0], vertices=thin.charts[0].vertices + 0.1 * thin.charts[0].vertices[[1, 0, 2]])
    for grid in (several, replace(thin, charts=(tilted,))):
        assert normal(grid) is None
        assert upright(grid) is grid
