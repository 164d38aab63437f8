"""A run that was stopped is resumed on more, fewer and other blocks, whatever it computes."""

import numpy as np
import pytest

import taskflow as tf
from tests.everyday.cases import CHANNEL

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ROD = {"name": "rod", "type": "cylinder", "axis": "y", "centre": [0.4, 0, 0.45], "radius": 0.2}
IMMERSED = {"bodies": {"treatment": "immersed"}}
GRID = {"cells": [16, 4, 16], "lengths": [1.0, 0.25, 1.0]}
STRETCHED = {**GRID, "stretching": {"z": {"tanh": 1.3}}}
TIME = {"steps": 6, "step": 0.005}
WALLS = {"y": "periodic", "z_min": "wall", "z_max": "wall"}
PROFILE = ["4*z*(1-z)", 0, 0]
BASE = {
    "title": "r", "fluid": {"viscosity": 2e-3}, "grid": GRID, "boundaries": CHANNEL, "initial": {"velocity": PROFILE},
    "time": TIME, "checkpoint": {"every": {"steps": 3}}, "machine": {"device": "cpu", "threads": 1},
    "output": {"precision": "double"},
}  # fmt: skip
CASES = {
    "uniform": {}, "stretched z": {"grid": STRETCHED},
    "stretched z, multigrid": {"grid": STRETCHED, "pressure": {"solver": "multigrid"}},
    "stretched x": {
        "grid": {**GRID, "stretching": {"x": {"geometric": 1.1}}},
        "boundaries": {**WALLS, "x_min": "wall", "x_max": "wall"},
    },
    "implicit diffusion": {
        "grid": STRETCHED, "time": {**TIME, "implicit": ["z"]}, "pressure": {"solver": "multigrid"},
    },
    "immersed": {"obstacles": [ROD], **IMMERSED}, "flagged": {"obstacles": [ROD]},
    "moving": {"obstacles": [{**ROD, "motion": {"displacement": ["0.1*sin(3*t)", 0, 0]}}], **IMMERSED},
    "open": {"boundaries": {**WALLS, "x_min": {"type": "inflow", "velocity": PROFILE}, "x_max": "outflow"}},
    "heat and a scalar": {
        "heat": {"diffusivity": 1e-3, "expansion": 1.0}, "body": {"gravity": [0, 0, -1]},
        "scalars": [{"name": "dye", "diffusivity": 1e-3, "initial": "1.0*(x<0.5)"}],
    },
    "smagorinsky": {"turbulence": {"model": "smagorinsky"}},
    "rough": {
        "turbulence": {"model": "vreman"}, "boundaries": {**CHANNEL, "z_min": {"type": "wall", "roughness": 0.002}},
    },
    "bulk velocity": {"body": {"bulk_velocity": {"x": 0.7}}}, "rk3": {"time": {**TIME, "scheme": "rk3"}},
    "rk3, stretched": {"grid": STRETCHED, "time": {**TIME, "scheme": "rk3"}},
    "jacobi": {"pressure": {"solver": "jacobi", "iterations": 20}},
    "fft around a body": {"obstacles": [ROD], "pressure": {"solver": "fft"}},
    "two phases": {
        "grid": {"cells": [16, 8, 16], "lengths": [1.0, 0.5, 1.0]}, "fluid": None, "initial": None,
        "two_phase": {
            "density": [1000.0, 1.0], "viscosity": [0.1, 1e-3], "surface_tension": 0.1,
            "initial": "0.3 - sqrt((x-0.5)**2 + (z-0.5)**2)",
        },
        "body": {"gravity": [0, 0, -1]}, "time": {"steps": 6, "step": 1e-3},
    },
}  # fmt: skip


@pytest.mark.fast("before0*-stretched z", "before2*-moving")
@pytest.mark.parametrize("what", CASES)
@pytest.mark.parametrize(("before", "after"), [
    ((1, 1, 1), (1, 1, 2)), ((1, 1, 2), (1, 1, 1)), ((2, 1, 1), (1, 2, 2)),
])  # fmt: skip
def test_a_run_is_resumed_on_other_blocks(client, tmp_path, what, before, after):
    """And ends where an undisturbed one does."""
    case = tf.Case(**{name: table for name, table in {**BASE, **CASES[what]}.items() if table is not None})
    quiet = {"progress": lambda _: None}
    whole = tf.run(case, tmp_path / "whole", client, **quiet).dataset().isel(time=-1).load()
    with tf.Simulation(case.replace(**{"machine.blocks": before}), client, tmp_path / "run", **quiet) as simulation:
        simulation.run(steps=4)
    resumed = tf.run(case.replace(**{"machine.blocks": after}), tmp_path / "run", client, resume=True, **quiet)
    end = resumed.dataset().isel(time=-1).load()
    assert max(float(np.nanmax(np.abs(end[name].values - whole[name].values))) for name in ("u", "w")) < 1e-6
