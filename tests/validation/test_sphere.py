"""Drag of a sphere on few cells against that of others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from tests.validation.sphere import known, mean, measured, periods
from tests.validation.sphere_grid import case

EXAMPLE = Path(__file__).parents[2] / "examples" / "sphere.toml"


class Swinging:
    """A run whose drag and lift are known."""

    def log(self):
        return [self.line(time, 2 * np.pi * 0.136 * time) for time in np.arange(0, 40, 0.1)]

    def line(self, time, swing):
        coefficients = np.array([0.66 + 0.0035 * np.sin(swing), 0, -0.07 - 0.016 * np.cos(swing)])
        return {"time": time, "bodies": {"sphere": {"force": np.pi / 8 * coefficients}}}


def test_periods():
    several = periods(Swinging(), 10.0)
    assert [item.start * 0.136 for item in several] == pytest.approx([2, 3, 4], rel=2e-3)
    result = mean(several)
    assert (result.drag, result.lift, result.swing) == pytest.approx((0.66, 0.07, 0.016), rel=1e-3)
    assert result.strouhal == pytest.approx(0.136, rel=1e-4)
    assert not periods(Swinging(), 50.0)


@pytest.mark.slow
def test_drag(tmp_path):
    """8 cells per diameter, 5 diameters wide: 12 % too much."""
    short = ["grid.cells=[64, 40, 40]", "time.end=10", "machine.device=cpu"]
    result = measured(tf.run(tf.Case.load(EXAMPLE, short), tmp_path / "sphere"))
    print(result)
    assert result.drag == pytest.approx(known(100), rel=0.15)
    assert result.lift < 1e-6


@pytest.mark.slow
def test_drag_on_a_stretched_grid(tmp_path):
    """8 cells per diameter, 15 diameters wide, immersed: 116,000 cells and 3.9 % too much."""
    short = {"time": case(8, "immersed").time.model_copy(update={"end": 15.0})}
    result = measured(tf.run(case(8, "immersed").model_copy(update=short), tmp_path / "sphere"))
    print(result)
    assert result.drag == pytest.approx(known(100), rel=0.05)
    assert result.lift < 1e-4
