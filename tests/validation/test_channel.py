"""A turbulent channel on few cells against the direct simulation of Moser, Kim & Mansour (1999)."""

from __future__ import annotations

from pathlib import Path

import pytest

import taskflow as tf
from tests.validation.channel import errors, main, measured, moser

EXAMPLE = Path(__file__).parents[2] / "examples" / "turbulent_channel.toml"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_large_eddies(tmp_path):
    """The layer beside the wall has one cell where turbulence is made; a short time is averaged over."""
    short = ["grid.cells=[32, 32, 40]", "time.end=6", "statistics.start=3", "machine.device=cpu"]
    run = tf.run(tf.Case.load(EXAMPLE, short), tmp_path / "channel")
    found = errors(measured(run.directory), moser())
    print(found)
    assert found["U"] < 0.1
    assert found["u_rms"] < 0.2
    main(run.directory, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
