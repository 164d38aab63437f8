"""Exact numbers of uniform and stretched grids, and of the growth of waves."""

import numpy as np
import pytest

from taskflow.flow.grid import StaggeredGrid
from taskflow.flow.stability import Waves
from taskflow.flow.time.schemes import ADAMS_BASHFORTH
from taskflow.runtime.regions import Box

UNIFORM = StaggeredGrid((4, 1, 2), (2.0, 1.0, 0.5), origin=(1.0, 0.0, 0.0))
EDGES = (0.0, 0.5, 0.75, 1.0)
STRETCHED = StaggeredGrid((3, 1, 2), (1.0, 1.0, 0.5), edges=(EDGES, (), ()))


@pytest.mark.parametrize(("grid", "place", "face"), [
    (UNIFORM, -9.0, 0), (UNIFORM, 1.3, 1), (UNIFORM, 2.2, 2), (UNIFORM, 9.0, 4),
    (STRETCHED, 0.2, 0), (STRETCHED, 0.6, 1), (STRETCHED, 0.95, 3),
])  # fmt: skip
def test_the_nearest_face(grid, place, face):
    assert grid.nearest_face(0, place) == face
    assert abs(grid.faces(0) - place).argmin() == face


def test_volumes_of_some_cells():
    assert UNIFORM.volumes(Box((1, 0, 0), (3, 1, 2))).tolist() == [[[0.125, 0.125]], [[0.125, 0.125]]]
    volumes = STRETCHED.volumes(Box.of((3, 1, 2)))
    assert volumes[0, 0].tolist() == [0.125, 0.0625, 0.0625]
    assert volumes.sum() == pytest.approx(0.5, rel=1e-15)


def test_distances_and_ends():
    uniform, stretched = UNIFORM.constants, STRETCHED.constants
    assert (uniform.length(0), stretched.length(0)) == (2.0, 1.0)
    assert (uniform.ends(0), stretched.ends(0)) == ((0.25, 1.75), (0.0, 1.0))
    assert (uniform.distance(0, 1), stretched.distance(0, 1), stretched.distance(0, 2)) == (0.5, 0.375, 0.25)
    assert uniform.resolved == (0.5, 0.25)  # not along the single cell


def test_filters_and_the_spread_of_volumes():
    uniform, stretched = UNIFORM.constants, STRETCHED.constants
    assert (uniform.unevenness, stretched.unevenness) == (1.0, 1.5)
    assert uniform.filter_width == pytest.approx(0.125 ** (1 / 3), rel=1e-15)
    assert stretched.filter_width == 1.0  # kernels read it cell by cell


@pytest.mark.parametrize("cfl", [0.1, 0.2])
def test_adams_bashforth_lets_waves_grow_by_the_fourth_power(cfl):
    grid = StaggeredGrid((16, 16, 16), (1.0, 1.0, 1.0), periodic=(True,) * 3).constants
    assert Waves(ADAMS_BASHFORTH, grid).growth(cfl, 0.0) == pytest.approx(cfl**4 / 4, rel=0.2)
    assert Waves(ADAMS_BASHFORTH, grid).growth(cfl, 0.1) == 0.0
    assert np.isfinite(Waves(ADAMS_BASHFORTH, grid).growth(2.0, 0.0))
