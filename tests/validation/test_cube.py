"""A cube on the floor of a channel on few cells: the wake has the signs that Martinuzzi & Tropea (1993) measured."""

from __future__ import annotations

from pathlib import Path

import pytest

import taskflow as tf
from tests.validation.cube import main, reattachment, stations

CASE = Path(__file__).parent / "cases" / "cube.toml"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_few_cells(tmp_path):
    """8 per height of the cube; above the roof (x = 0.5 and 1) the layer that flows back is thinner than a cell."""
    short = ["grid.cells=[104, 56, 16]", "time.end=16", "statistics.start=8", "machine.device=cpu"]
    run = tf.run(tf.Case.load(CASE, short), tmp_path / "cube")
    lines = {line.x: line for line in stations(run.directory)}
    print({x: (line.difference, line.signs) for x, line in lines.items()}, reattachment(run.directory))
    for x in (-1.0, 1.5, 2.0, 4.0, 8.0):
        assert lines[x].signs > 0.9
        assert lines[x].difference < 0.2
    assert 1.2 < reattachment(run.directory) < 3
    main(run.directory, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
