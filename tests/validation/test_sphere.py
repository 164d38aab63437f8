"""Drag of a sphere of stair steps on few cells against that of others."""

from __future__ import annotations

from pathlib import Path

import pytest

import taskflow as tf
from tests.validation.sphere import known, measured

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
