"""The sections of figures 1 and 6 of Luo et al. (2014)."""

from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from tests.validation.real_time import Forces, frequency

CASE = Path(__file__).parents[2] / "examples" / "papers" / "luo_2014" / "sd7003.toml"


def test_the_case_is_valid_and_names_its_source():
    assert tf.Case.load(CASE).grid.cells == (192, 48, 1)
    assert "UIUC Airfoil Coordinates Database" in CASE.with_suffix(".dat").read_text().splitlines()[0]


def test_the_pitching_section_of_figure_1_has_as_many_cells():
    assert np.prod(tf.Case.load(CASE.with_name("pitching.toml")).grid.cells) == 8_000_000


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_it_sheds_vortices(tmp_path):
    """Measured: 0.4938, 0.949 and 0.398 from t = 8 to 14, of lift and drag in the directions of the stream."""
    keys = ("grid.cells=[96,24,1]", "grid.first=6e-3", "time.step=0.08", "time.end=14.0")
    forces = Forces.of(tf.run(tf.Case.load(CASE, keys), tmp_path / "run"))
    turn, late = np.radians(20), forces.time > 8
    x, y = forces.coefficients[late, :2].mean(axis=0)
    drag, lift = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    assert frequency(forces, 20.0, 8.0) == pytest.approx(0.4938, rel=0.01)
    assert (lift, drag) == (pytest.approx(0.949, rel=0.01), pytest.approx(0.398, rel=0.01))
