"""Drag of a sphere of stair steps on few cells against that of others."""

from __future__ import annotations

from pathlib import Path

import pytest

import taskflow as tf
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
