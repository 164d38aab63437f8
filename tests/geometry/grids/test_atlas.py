"""The atlas of a grid: ghost cells are images of the cells whose vertices the ghost vertices are."""

import numpy as np
import pytest

from taskflow.common.hexahedra import cell_volumes
from taskflow.geometry.grids import SHAPES, atlas, borders, ghosted, places, shape
from taskflow.geometry.grids.multiblock.grid import oriented
from tests.geometry.grids.test_shapes import ROUND, SMALL

GRIDS = {
    "box": {"cells": (9, 8, 8), "lengths": (1, 2, 3), "charts": (2, 2, 2), "distortion": 0.1, "turned": True,
            "periodic": ["x", "y"]},
    "flat": {"cells": (9, 8, 1), "lengths": (1, 2, 3), "charts": (2, 1, 1), "distortion": 0.1, "periodic": ["x", "z"]},
    "pipe": {"cells": (4, 5, 6), "length": 2.0, "periodic": True},
    "o-grid": {"cells": (16, 6, 5), "far": 9.0, "periodic": True},
    "step": {"cells": (24, 16, 4), "downstream": 7.0, "upstream": 2.0, "clustering": 1.5, "periodic": True},
    "annulus": {"cells": (6, 24, 1), "radii": (1, 2), "charts": 1},
    "c-grid": {"cells": (34, 7, 4), "far": 5.0, "wake": 4.0, "periodic": True},
    "duct-bend": ROUND,
    "wavy-channel": {"cells": (9, 6, 1), "wavelength": 1.7, "amplitude": 0.1, "height": 1.0},
    "bifurcation": SMALL["bifurcation"],
}  # fmt: skip


@pytest.mark.parametrize("name", GRIDS)
def test_ghost_cells_are_the_cells_that_they_are_images_of(name):
    """By their volumes, which all differ on distorted grids."""
    grid = shape("box" if name == "flat" else name, GRIDS[name]).grid()
    mapped, first = atlas(grid), places(grid)
    volume = [cell_volumes(vertices) for vertices in ghosted(grid)]

    def of(box):
        """The volumes of cells of the atlas's index space, ghosts included."""
        chart = next(n for n, own in enumerate(mapped.charts) if box in own.grow(2))
        return volume[chart][box.slices(tuple(at - 2 for at in first[chart]))], chart

    fed = 0
    for n, chart in enumerate(mapped.charts):
        own = chart.grow(2)
        for box, turn in mapped.fed[n]:
            ghosts, image = of(box)[0], turn(box)
            cells, other = of(image)
            assert box in own
            assert image in mapped.charts[other].grow(2)
            np.testing.assert_allclose(ghosts, oriented(turn, cells), rtol=1e-12)
            fed += box.volume
    assert fed > 0


@pytest.mark.parametrize("name", SHAPES)
def test_seams_and_sides_bound_every_chart_once(name):
    """Beyond every face lie the ghost cells of one seam or of one side; not of a direction without any change."""
    grid = shape(name, SMALL[name]).grid()
    mapped, sides = atlas(grid), borders(grid)
    assert sides.keys() == grid.sides.keys()
    patches = [border for patches in sides.values() for border in patches]
    for n, chart in enumerate(mapped.charts):
        beyond = [seam.beyond for seam in mapped.seams if seam.chart == n]
        beyond += [border.beyond for border in patches if border.chart == n]
        for axis in range(3):
            for end in (0, 1):
                layer = chart.layer(axis, end, -2, 0)
                assert sum((layer & box).volume for box in beyond) == layer.volume
    for border in patches:
        assert border.inside in mapped.charts[border.chart].layer(border.axis, border.end, 0, 1)
        assert border.beyond in mapped.charts[border.chart].layer(border.axis, border.end, -2, 0)
        assert border.beyond.volume == 2 * border.inside.volume
