"""Drag of a sphere of stair steps on few cells against that of others, and how the street on many begins."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from tests.validation.refining import velocity
from tests.validation.sphere import known, measured
from tests.validation.sphere_grid import case

EXAMPLE = Path(__file__).parents[2] / "examples" / "sphere.toml"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_drag(tmp_path):
    """8 cells per diameter, 5 diameters wide: 12 % too much."""
    short = ["grid.cells=[64, 40, 40]", "time.end=10", "machine.device=cpu"]
    found = measured(tf.run(tf.Case.load(EXAMPLE, short), tmp_path / "sphere"))
    print(found)
    assert found.drag == pytest.approx(known(100), rel=0.15)
    assert found.lift < 1e-6


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_drag_on_a_stretched_grid(tmp_path):
    """8 cells per diameter, 15 diameters wide, immersed: 116,000 cells and 4.5 % too much."""
    short = {"time": case(8, "immersed").time.model_copy(update={"end": 15.0})}
    found = measured(tf.run(case(8, "immersed").model_copy(update=short), tmp_path / "sphere"))
    print(found)
    assert found.drag == pytest.approx(known(100), rel=0.05)
    assert found.lift < 1e-4


def test_a_fine_grid_begins_with_what_is_between_the_points_of_a_coarse_one():
    """Linear fields come back; beyond the outer points they stay as they are there."""
    places = np.array([0.0, 0.5, 2.0])
    x, y, z = (xr.DataArray(places, dims=axis, coords={axis: places}) for axis in "xyz")
    stored = xr.Dataset({"u": 1 + y - 2 * z + 0 * x, "v": x + 0 * y * z, "w": 0 * x * y * z}).transpose("z", "y", "x")
    z, y, x = np.meshgrid([-1.5, 0.4, 2.4], [0.25, 0.5], [0.0, 1.0, 1.5, 2.0], indexing="ij")
    u, v, w = velocity(stored.expand_dims("time"))
    np.testing.assert_allclose(u(x, y, z), 1 + y - 2 * np.clip(z, 0, 2), atol=1e-6)
    np.testing.assert_allclose(v(x, y, z), x, atol=1e-6)
    assert not w(x, y, z).any()
