"""A boundary condition of another package that drives the flow: exact flows on a box and in an annulus, blocks."""

import numpy as np
import pytest

from taskflow import BadInput, Case
from taskflow.flow.boundaries.kinds import BOUNDARIES, register_boundary
from taskflow.output import tree
from taskflow.runs.state.setup import RunSetup
from tests.flows import compute
from tests.models.given_stress import GivenStress
from tests.nvrtc import messages
from tests.runs.going_on import go
from tests.runs.test_charts_run import assert_same_run
from tests.test_gpu_texts import texts_of

INNER, OUTER = 0.5, 1.5  # radii
DOUBLE = {"machine": {"precision": "double", "device": "cpu"}}


@pytest.fixture(autouse=True)
def known(monkeypatch):
    monkeypatch.setattr(BOUNDARIES, "_loaded", dict(BOUNDARIES.loaded))
    register_boundary(GivenStress)


def box(**changes):
    """Flow between a wall and a side that drags it along x and y; steady at the end."""
    return Case(**{
        "grid": {"cells": [4, 4, 8], "lengths": [4.0, 4.0, 1.0]},
        "boundaries": {
            "x": "periodic", "y": "periodic", "z_min": "wall",
            "z_max": {"type": "stress", "stress": [0.5, 0.25, 0.0]},
        },
        "fluid": {"viscosity": 0.5},
        "time": {"step": 0.1, "steps": 400, "implicit": ["z"]},
        **DOUBLE, **changes,
    })  # fmt: skip


def annulus(n, **changes):
    """Flow along the axis of an annulus, dragged by the inner cylinder."""
    return Case(**{
        "method": {"type": "artificial-compressibility", "march": "implicit", "reference_speed": 1.0},
        "grid": {"shape": "o-grid", "cells": [2 * n, n, 1], "far": OUTER},
        "boundaries": {"body": {"type": "stress", "stress": [0.0, 0.0, 0.5]}, "far": "wall", "ends": "symmetry"},
        "fluid": {"viscosity": 0.5},
        "time": {"steady": 1e-10, "steps": 500},
        "output": {"every": {"steps": 500}, "precision": "double"},
        **DOUBLE, **changes,
    })  # fmt: skip


@pytest.mark.parametrize("time", [{}, {"time": {"step": 0.005, "steps": 6000}}])
def test_flow_on_a_box_is_exact(time):
    flow = compute(box(**time))
    for name, shear in (("u", 1.0), ("v", 0.5)):
        assert np.abs(flow[name] - shear * flow.points(name)[2]).max() < 1e-12


def test_blocks_compute_the_same_bits_on_a_box():
    case = box(time={"step": 0.01, "steps": 6})
    one, four = compute(case), compute(case, (2, 1, 2))
    for name in ("u", "v", "w", "p"):
        assert np.array_equal(one[name], four[name])


def test_its_flow_is_driven():
    """Otherwise a growing kinetic energy is a warning, and the first step has any length."""
    assert not GivenStress().drives
    system = RunSetup(box(), (1, 1, 1)).system
    assert system.scales.driven
    assert not system.outlook.inert


@pytest.mark.parametrize(
    ("case", "task"), [(box, "sheared"), (lambda: annulus(8), "beyond_stress")], ids=["box", "annulus"]
)
def test_its_kernels_compile_for_gpus(case, task):
    own = [text for text in texts_of(case()) if task in text]
    assert own
    assert [message for text in own if (message := messages(text))] == []


@pytest.mark.slow
def test_flow_in_an_annulus_has_second_order(tmp_path):
    errors = []
    for n in (8, 16):
        go(annulus(n), tmp_path / str(n))
        for chart in tree(tmp_path / str(n) / "fields.zarr")["charts"].children.values():
            exact = -INNER * np.log(np.hypot(chart["x_c"], chart["y_c"]) / OUTER)
            error = float(np.abs(chart["w"].isel(time=-1) - exact).max())
        errors.append(error)
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.05)


@pytest.mark.slow
def test_blocks_compute_the_same_bits_in_an_annulus(tmp_path):
    method = {"type": "artificial-compressibility", "march": "rk3", "reference_speed": 1.0}
    case = annulus(8, method=method, time={"steady": 1e-10, "steps": 6}, output={"every": {"steps": 3}})
    go(case, tmp_path / "one")
    go(case, tmp_path / "four", (1, 1, 4))
    assert_same_run(tmp_path / "one", tmp_path / "four")


def test_two_phases_are_refused():
    phases = {"density": [1.0, 0.1], "viscosity": [0.05, 0.01], "initial": "0.5 - z"}
    case = box(fluid={}, two_phase=phases, time={"steps": 2})
    with pytest.raises(BadInput, match=r'boundaries.z_max.type = "stress": phases differ in viscosity; give "slip"'):
        compute(case)
