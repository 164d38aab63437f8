"""Fields of several values per cell in checkpoints."""

import numpy as np

from taskflow.output import Checkpoint, Checkpoints
from taskflow.runtime.regions import Box, Field


def test_checkpoints(tmp_path):
    field, cells = Field("a", values=5), Box.of((9, 6, 7))
    values = np.random.default_rng(3).uniform(-1, 1, field.shape(cells))
    halves = [cells.layer(0, 0, 0, 4), cells.layer(0, 1, 0, 5)]
    checkpoints = Checkpoints(tmp_path, "run")
    for block, half in enumerate(halves):
        state = None if block else {"time": 0.0}
        checkpoints.write(3, block, [("a", half, values[half.slices((0, 0, 0))])], state)
    checkpoints.commit(3, 1)
    result = np.zeros_like(values)
    Checkpoint.load(next(iter(checkpoints.paths()))).fill("a", result, cells)
    np.testing.assert_array_equal(result, values)
