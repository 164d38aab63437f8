"""A run that was stopped on a cluster is resumed on other blocks. `runs/test_other_blocks.py` has every kind of run."""

import numpy as np
import pytest

import taskflow as tf
from tests.everyday.cases import CHANNEL

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

GRID = {"cells": [16, 4, 16], "lengths": [1.0, 0.25, 1.0]}
BASE = {
    "title": "r", "fluid": {"viscosity": 2e-3}, "grid": GRID, "boundaries": CHANNEL,
    "initial": {"velocity": ["4*z*(1-z)", 0, 0]}, "time": {"steps": 6, "step": 0.005},
    "checkpoint": {"every": {"steps": 3}}, "machine": {"device": "cpu", "threads": 1},
    "output": {"precision": "double"},
}  # fmt: skip
STRETCHED = {"grid": {**GRID, "stretching": {"z": {"tanh": 1.3}}}}
MOVING = {
    "obstacles": [{
        "name": "rod", "type": "cylinder", "axis": "y", "centre": [0.4, 0, 0.45], "radius": 0.2,
        "motion": {"displacement": ["0.1*sin(3*t)", 0, 0]},
    }],
    "bodies": {"treatment": "immersed"},
}  # fmt: skip


@pytest.mark.parametrize(("tables", "before", "after"), [
    (STRETCHED, (1, 1, 1), (1, 1, 2)), (MOVING, (2, 1, 1), (1, 2, 2)),
], ids=["stretched", "moving"])  # fmt: skip
@pytest.mark.fast("stretched")
def test_a_run_is_resumed_on_other_blocks(client, tmp_path, tables, before, after):
    """And ends where an undisturbed one does."""
    case = tf.Case(**{**BASE, **tables})
    quiet = {"progress": lambda _: None}
    whole = tf.run(case, tmp_path / "whole", client, **quiet).dataset().isel(time=-1).load()
    with tf.Simulation(case.replace(**{"machine.blocks": before}), client, tmp_path / "run", **quiet) as simulation:
        simulation.run(steps=4)
    resumed = tf.run(case.replace(**{"machine.blocks": after}), tmp_path / "run", client, resume=True, **quiet)
    end = resumed.dataset().isel(time=-1).load()
    assert max(float(np.nanmax(np.abs(end[name].values - whole[name].values))) for name in ("u", "w")) < 1e-6
