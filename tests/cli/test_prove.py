"""`check --prove` of a small case of each model, on two blocks: what is recorded does what the program means."""

import pytest

import taskflow as tf
from tests.speed import seconds

CUBE = {"cells": [8, 4, 8], "lengths": [1.0, 0.5, 1.0]}
WALLS = {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"}
POST = {"name": "post", "type": "box", "low": [0.2, 0.0, 0.0], "high": [0.4, 0.5, 0.3]}
DYE = {"name": "dye", "box": [[0.5, 0.0, 0.5], [0.8, 0.5, 0.9]], "count": 20, "every": 1e-3}
CAVITY = {
    "grid": {"shape": "box", "cells": [16, 8, 1], "lengths": [2.0, 1.0, 1.0]}, "fluid": {"viscosity": 0.01},
    "boundaries": {
        "x_min": "wall", "x_max": "wall", "y_min": "wall", "y_max": {"type": "wall", "velocity": [1.0, 0.0, 0.0]},
        "z_min": "symmetry", "z_max": "symmetry",
    },
    "time": {"steady": 1e-6, "steps": 10},
}  # fmt: skip
CASES = {
    "projection": {
        "grid": CUBE, "fluid": {"viscosity": 0.01}, "boundaries": WALLS, "heat": {"diffusivity": 0.01},
        "obstacles": [POST], "particles": [DYE], "time": {"steps": 4, "step": 1e-3},
    },
    "two phases": {
        "grid": CUBE, "boundaries": WALLS, "body": {"gravity": [0, 0, -1]}, "obstacles": [POST], "particles": [DYE],
        "two_phase": {
            "density": [1000.0, 1.0], "viscosity": [0.1, 1e-3], "surface_tension": 0.1,
            "initial": "0.3 - sqrt((x-0.5)**2 + (z-0.5)**2)",
        },
        "time": {"steps": 4, "step": 1e-3},
    },
    **{
        march: {**CAVITY, "method": {"type": "artificial-compressibility", "march": march}}
        for march in ("rk4", "implicit")
    },
}  # fmt: skip


@pytest.mark.fast("auto-projection", "auto-rk4", "comm-two phases", "comm-implicit")
@pytest.mark.parametrize("model", CASES)
@pytest.mark.parametrize("overlap", ["auto", "comm"])
def test_a_case_of_each_model_is_proved(give, here, overlap, model):
    """Within a minute of processor time. "auto" proves each pass with and without overlap, next to either."""
    charts = "method" in CASES[model]
    machine = {"device": "cpu", "threads": 1, "blocks": 2 if charts else [1, 1, 2], "overlap": overlap}
    (here / "case.toml").write_text(tf.Case(**CASES[model], machine=machine).to_toml())
    results = []
    assert seconds(lambda: results.append(give("check", "case.toml", "--prove"))) < 60
    assert results[0].exit_code == 0, results[0].stderr
    assert "reads find what the program means" in results[0].stdout
