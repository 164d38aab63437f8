"""The time step: bounded by what sets a flow in motion, not by a cell alone in its direction; the clock stays exact."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import taskflow as tf
from tests.everyday.cases import CHANNEL, PERIODIC, last

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

BOX = {"x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall"}
BUBBLE = {
    "boundaries": CHANNEL, "heat": {"diffusivity": 1e-5, "expansion": 1.0}, "body": {"gravity": [0, 0, -1]},
    "initial": {"temperature": "exp(-((x-0.5)**2+(z-0.3)**2)/0.02)"},
}  # fmt: skip
STARTS = ["minimum(t,1)", 0, 0]
FROM_REST = {
    "buoyancy": BUBBLE,
    "buoyancy, rk3": {**BUBBLE, "time": {"end": 4.0, "scheme": "rk3"}},
    "a force": {"boundaries": CHANNEL, "body": {"force": ["1 + 0.5*sin(3*t)", 0, 0]}},
    "forcing": {"boundaries": CHANNEL, "forcing": [{"on": "u", "expression": "sin(2*pi*z)"}]},
    "a lid": {"boundaries": {**BOX, "z_max": {"type": "wall", "velocity": [1.0, 0, 0]}}},
    "a lid that starts": {"boundaries": {**BOX, "z_max": {"type": "wall", "velocity": STARTS}}},
    "an inflow that starts": {
        "boundaries": {**BOX, "x_min": {"type": "inflow", "velocity": STARTS}, "x_max": "outflow", "z_max": "wall"},
    },
    "a tide": {
        "boundaries": {
            **BOX, "x_min": {"type": "outflow", "pressure": "sin(2*t)"}, "x_max": {"type": "outflow", "pressure": 0.0},
            "z_max": "wall",
        },
    },
    "a wind": {
        "boundaries": {**CHANNEL, "z_max": "slip"}, "body": {"rotation": [0, 0, 0.5], "geostrophic_wind": [1.0, 0, 0]},
    },
}  # fmt: skip


@pytest.mark.fast("a lid")
@pytest.mark.parametrize("what", FROM_REST)
def test_no_step_from_rest_carries_anything_farther_than_asked(compute, what):
    """Nearly inviscid flows that start from rest, whatever sets them in motion."""
    tables = {
        "grid": {"cells": [32, 1, 32], "lengths": [1.0, 1.0, 1.0]}, "fluid": {"viscosity": 1e-5}, "time": {"end": 4.0},
        "monitor": {"every": {"steps": 1}}, **FROM_REST[what],
    }  # fmt: skip
    log, target = compute(**tables).log(), 0.5
    worst = max(line["cfl"] for line in log)
    assert worst <= 1.6 * target, f"CFL number {worst:.3g}, {log[-1]['step']} steps, the first {log[1]['dt']:.3g} long"


def cavity(compute, name, thickness, axis, solver="fft"):
    first, second = (direction for direction in "xyz" if direction != axis)
    along = {"x": 24, "y": 24, "z": 24, axis: 1}
    lid = [float(direction == first) for direction in "xyz"]
    return compute(
        name, grid={"cells": [*along.values()], "lengths": [thickness if d == axis else 1.0 for d in "xyz"]},
        fluid={"viscosity": 0.02}, time={"end": 0.3}, pressure={"solver": solver},
        boundaries={
            axis: "periodic", f"{first}_min": "wall", f"{first}_max": "wall", f"{second}_min": "wall",
            f"{second}_max": {"type": "wall", "velocity": lid},
        },
    )  # fmt: skip


@pytest.mark.fast("y-fft-1e-09")
@pytest.mark.parametrize(("axis", "solver", "within"), [
    *((axis, "fft", 1e-9) for axis in "xyz"), ("y", "multigrid", 1e-5),
])  # fmt: skip
def test_the_thickness_of_a_two_dimensional_flow_changes_nothing(compute, axis, solver, within):
    wide, thin = (cavity(compute, name, size, axis, solver) for name, size in (("wide", 1 / 24), ("thin", 1e-2)))
    if solver == "fft":
        assert wide.log()[-1]["step"] == thin.log()[-1]["step"]
    assert max(float(np.abs(last(wide)[n].values - last(thin)[n].values).max()) for n in "uvw") < within


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["single", "double"])
def test_many_steps_make_the_time_that_they_should(compute, precision):
    """Time stays exact, and records of a late start come when they are due."""
    result = compute(
        grid={"cells": [4, 1, 4], "lengths": [4.0, 1.0, 4.0]}, fluid={"viscosity": 1e-9}, boundaries=PERIODIC,
        body={"force": ["cos(t)", 0, 0]}, time={"step": 0.1, "end": 3000.0},
        output={"every": 500.0, "precision": "double"}, machine={"precision": precision},
        monitor={"every": {"steps": 10000}}, probes=[{"name": "pp", "points": [[1.0, 0.5, 1.0]], "every": 100.0}],
    )  # fmt: skip
    line = result.log()[-1]
    assert line["step"] == 30000
    assert abs(line["time"] - 3000.0) < 1e-9
    np.testing.assert_allclose(result.dataset().time.values, np.arange(7) * 500.0, rtol=1e-12)
    records = result.dataset("pp").time.values
    assert records.size == 31
    np.testing.assert_allclose(records, np.arange(31) * 100.0, atol=0.1 + 1e-6)
    assert abs(float(last(result)["u"].values.mean()) - np.sin(3000.0)) < 0.01


@pytest.mark.slow
def test_a_step_of_two_phases_beyond_the_joint_bound_is_refused_or_told(compute):
    """`time.cfl`, `time.capillary` and `time.diffusion` of 5: longer steps, or a warning that they cannot be had."""
    tables = {
        "grid": {"cells": [24, 1, 24], "lengths": [1.0, 0.0416666666, 1.0]},
        "two_phase": {
            "density": [1000.0, 1.0], "viscosity": [1.0, 0.01], "surface_tension": 10.0,
            "shapes": [{"phase": 1, "type": "sphere", "centre": [0.5, 0.02, 0.5], "radius": 0.2}],
        },
        "body": {"gravity": [0.0, 0.0, -9.8]}, "monitor": {"every": {"steps": 10}},
        "boundaries": {"x_min": "slip", "x_max": "slip", "y": "periodic", "z_min": "wall", "z_max": "wall"},
    }  # fmt: skip
    ends, told = [], []
    for name, time in (("one", {"cfl": 1.0}), ("five", {"cfl": 5.0, "capillary": 5.0, "diffusion": 5.0})):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            ends.append(compute(name, time={"steps": 60, **time}, **tables).log()[-1]["time"])
        told = [str(warning.message) for warning in seen]
    said = any(word in text for text in told for word in ("reach", "joint", "together"))
    assert ends[0] != ends[1] or said, told


PAIR = {
    "grid": {"cells": [80, 1, 48], "lengths": [10.0, 0.125, 6.0]}, "fluid": {"viscosity": 0.01},
    "boundaries": {
        "x_min": {"type": "inflow", "velocity": [1.0, 0.0, 0.0]}, "x_max": "outflow", "y": "periodic", "z_min": "slip",
        "z_max": "slip",
    },
    "initial": {"velocity": [1.0, 0.0, 0.0]}, "time": {"end": 6.0}, "machine": {"device": "cpu", "threads": 1},
    "obstacles": [
        {"name": name, "type": "cylinder", "axis": "y", "centre": [3.0, 0.0, z], "radius": 0.5}
        for name, z in (("low", 2.0), ("high", 4.0))
    ],
}  # fmt: skip
DAM = ("--set", "grid.cells=[64,1,40]", "--set", "machine.device=cpu", "--set", "machine.threads=1")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "more"), [("pair", ()), ("dam", DAM)])
def test_check_predicts_the_number_of_steps(here, command, name, more):
    """Within a factor of 1.5, past two cylinders and where weight sets water in motion."""
    if name == "pair":
        Path("pair.toml").write_text(tf.Case(**PAIR).to_toml())
    else:
        command("new", "dam.toml", "--example", "dam_break")
    told = command("check", f"{name}.toml", *more)[1]
    found = re.findall(r"about ([\d, ]+) steps?", told) or re.findall(r"([\d,]+) steps?", told)
    assert command("run", f"{name}.toml", "-o", name, "-q", *more)[0] == 0
    taken = json.loads(Path(name, "log.jsonl").read_text().splitlines()[-1])["step"]
    said = int(re.sub(r"[, ]", "", found[0]))
    assert taken / said < 1.5, f"told {said}, taken {taken}"
