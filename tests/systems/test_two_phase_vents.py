"""Vents in two phases: what the loss says of the speed, what enters, exact volumes, blocks, restarts, refusals."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.output import STORE, dataset
from tests.flows import Flow, compute

METHODS = pytest.mark.parametrize("method", ["vof", pytest.param("levelset", marks=pytest.mark.slow)])
WATER = {"density": [1000.0, 1.0], "viscosity": [1e-3, 2e-5]}
DOUBLE = {"machine": {"precision": "double", "threads": 1}, "output": {"precision": "double"}}


def emptying(method: str, cells: int, drain: dict, end: float) -> tf.Case:
    """A tank with water 1 deep, a drain in a quarter of its floor, and a vent in half of its roof."""
    floor, roof = ([[low, 0, z], [high, 1 / cells, z]] for low, high, z in ((0.375, 0.625, 0), (0.25, 0.75, 1.5)))
    return tf.Case(**{
        "grid": {"cells": [cells, 1, 3 * cells // 2], "lengths": [1.0, 1 / cells, 1.5]},
        "body": {"gravity": [0, 0, -10.0]}, "two_phase": {**WATER, "initial": "1 - z", "method": method},
        "boundaries": {**dict.fromkeys(("x_min", "x_max", "z_min", "z_max"), "slip"), "y": "periodic"},
        "openings": [
            {"name": "drain", "side": "z_min", "box": floor, **drain},
            {"name": "roof", "side": "z_max", "box": roof, "type": "vent", "phase": 2},
        ],
        "time": {"end": end, "cfl": 0.3}, "pressure": {"tolerance": 1e-10}, "monitor": {"every": {"steps": 1}},
        **DOUBLE,
    })  # fmt: skip


def changes_of_volume(flow: Flow) -> list[float]:
    return [flow.setup.measures.monitor.numbers(scalars)["volume_change"] for scalars in flow.history]


@pytest.mark.parametrize(("method", "cells", "tolerance"), [
    ("vof", 8, 0.035), *(pytest.param(method, 16, 0.015, marks=pytest.mark.slow) for method in ("vof", "levelset")),
])  # fmt: skip
def test_a_tank_drains_as_torricelli_and_the_loss_say(method, cells, tolerance):
    """The speed through the drain is sqrt(2 g h / (1 + K)). The tank's own speed, and its deceleration, add 1 % to it
    for K = 8 and a quarter of the floor, and the cells of the drain the rest.
    """
    flow = compute(emptying(method, cells, {"type": "vent", "loss": 8.0}, end=1.0))
    passed = [flow.setup.measures.monitor.passed(scalars) for scalars in flow.history[1:]]
    through = np.array([[one[name]["volume_flux"] for name in ("drain", "roof")] for one in passed])
    steps = np.array([scalars["dt"] for scalars in flow.history[1:]])
    depth, speed = 1 - np.cumsum(through[:, 0] * steps) * cells, through[:, 0] * cells / 0.25
    steady = np.cumsum(steps) > 0.2
    assert depth[-1] < 0.7
    np.testing.assert_allclose(speed[steady], np.sqrt(20 * depth[steady] / 9), rtol=tolerance)
    assert abs(through.sum(axis=1)).max() < 1e-10
    assert max(map(abs, changes_of_volume(flow))) < 1e-12


@METHODS
def test_a_vent_without_loss_is_an_outflow_if_all_leaves(method):
    """To the bit as planes. Beyond an outflow phi is that of three layers of cells, mirrored, and beyond a vent that of
    the last one: far from the interface phi differs by 5e-5, and other fields by 1e-9 of their largest values.
    """
    vent, outflow = (
        compute(emptying(method, 8, drain, end=0.1)) for drain in ({"type": "vent"}, {"type": "outflow", "pressure": 0})
    )
    assert vent["w"].min() < -1
    for name in ("u", "w", "p", "f"):
        most = 0 if method == "vof" else 2e-9 * abs(outflow[name]).max()
        assert abs(vent[name] - outflow[name]).max() <= most, name


def pipe(method: str, inside: int, phase: int, **tables) -> tf.Case:
    """A pipe of length 1, in which a phase moves at speed 1, between vents that let a phase in."""
    vents = {"x_min": {"type": "vent", "phase": phase, "loss": 2.0}, "x_max": {"type": "vent", "phase": phase}}
    return tf.Case(**{
        "grid": {"cells": [16, 1, 1], "lengths": [1.0, 1.0, 1.0]}, "initial": {"velocity": [1.0, 0, 0]},
        "two_phase": {**WATER, "initial": 2 - inside, "method": method},
        "boundaries": {**vents, "y": "periodic", "z": "periodic"},
        "time": {"end": 0.5, "cfl": 0.1}, "pressure": {"tolerance": 1e-10}, "monitor": {"every": {"steps": 1}},
        **DOUBLE, **tables,
    })  # fmt: skip


@METHODS
def test_one_phase_in_a_pipe_slows_down_by_the_loss(method):
    """By Bernoulli's law du/dt = -(1 + K) u^2 / 2L, so that u = 1 / (1 + (1 + K) t / 2L)."""
    flow = compute(pipe(method, inside=1, phase=1))
    np.testing.assert_allclose(flow["u"], 1 / 1.75, rtol=0.005)
    assert flow["f"].min() > 1 - 1e-9


@METHODS
def test_air_that_follows_water_costs_a_thousandth(method):
    """The pressure at the vent has the density of what enters: water moves on, and takes a scalar along."""
    dust = {"name": "dust", "diffusivity": 0.0, "boundaries": {"x_min": {"value": 3.0}}}
    flow = compute(pipe(method, inside=1, phase=2, scalars=[dust]))
    np.testing.assert_allclose(flow["u"], 1, rtol=0.003)
    assert flow["f"][..., :5].max() < 1e-9
    assert flow["f"][..., 11:].min() > 1 - 1e-9
    np.testing.assert_allclose(flow["dust"][:, :, :4], 3.0, rtol=1e-3)
    kept = 1e-12 if method == "vof" else 1e-10  # the front appears at once, and Newton's method leaves a large shift
    assert max(map(abs, changes_of_volume(flow))) < kept


def vessel(method: str, **tables) -> tf.Case:
    """A vessel with an obstacle: water leaves through a disk and a partly submerged side, air enters through a roof."""
    return tf.Case(**{
        "grid": {"cells": [8, 6, 12], "lengths": [0.8, 0.6, 1.2]}, "body": {"gravity": [0, 0, -10.0]},
        "two_phase": {
            "density": [50.0, 1.0], "viscosity": [0.05, 0.01], "surface_tension": 0.1, "initial": "0.6 - z + 0.1*x",
            "method": method,
        },
        "boundaries": {
            "x_min": "wall", "x_max": {"type": "vent", "loss": 1.5}, "y_min": "slip", "y_max": "slip", "z_min": "wall",
            "z_max": {"type": "vent"},
        },
        "openings": [
            {"name": "drain", "side": "z_min", "disk": {"centre": [0.4, 0.3, 0], "radius": 0.15}, "type": "vent",
             "loss": 0.5, "scalars": {"dust": 1.0}},
            {"name": "pipe", "side": "x_min", "box": [[0, 0.2, 0.7], [0, 0.4, 0.9]], "type": "vent", "phase": 1},
        ],
        "obstacles": [{"type": "box", "low": [0.2, 0.1, 0.3], "high": [0.4, 0.3, 0.5]}],
        "scalars": [{"name": "dust", "diffusivity": 1e-3}],
        "initial": {"velocity": ["0.2*sin(9*y)", "0.2*cos(8*z)", "0.2*sin(7*x)"]},
        "time": {"steps": 20, "step": 0.002}, "pressure": {"solver": "multigrid", "outer": "none", "iterations": 6},
        "monitor": {"every": {"steps": 1}}, **DOUBLE, **tables,
    })  # fmt: skip


FIELDS = "u", "v", "w", "p", "f", "dust"


@pytest.mark.slow
@METHODS
def test_blocks_change_no_bit_and_volume_is_kept(method):
    one = compute(vessel(method))
    assert max(map(abs, changes_of_volume(one))) < 1e-12
    through = one.setup.measures.monitor.passed(one.scalars)
    assert {"drain", "pipe"} <= through.keys()
    assert all(opening["volume_flux"] for opening in through.values())
    for blocks in ((1, 1, 2), (2, 2, 1)):
        many = compute(vessel(method), blocks)
        for name in FIELDS:
            assert np.array_equal(one[name], many[name]), (name, blocks)


@pytest.mark.slow
@METHODS
def test_a_restart_changes_no_bit(method, tmp_path):
    tf.run(vessel(method), tmp_path / "whole", progress=lambda _: None)
    tf.run(vessel(method, time={"steps": 10, "step": 0.002}), tmp_path / "half", progress=lambda _: None)
    tf.run(vessel(method), tmp_path / "half", progress=lambda _: None, resume=True)
    whole, half = (dataset(tmp_path / name / STORE).isel(time=-1).drop_attrs() for name in ("whole", "half"))
    xr.testing.assert_identical(whole, half)
    assert float(abs(whole.u).max()) > 0


def test_reports_name_the_phase_and_the_loss():
    case = pipe("vof", inside=1, phase=1)
    assert case.boundaries.x_min.phase == 1
    lighter = vessel("vof").boundaries.z_max
    assert lighter.phase == 2
    flow = compute(pipe("vof", inside=1, phase=1, time={"steps": 1, "step": 0.01}))
    words = flow.setup.model.boundaries["x_min"].described
    assert words == "the pressure 0 outside sets the flow in or out, with the loss coefficient 2; phase 1 enters"


VENT = {"type": "vent"}


@pytest.mark.parametrize(("side", "words"), [
    ({"loss": -1}, r"boundaries.x_min.loss = -1: give a number >= 0"),
    ({"phase": 3}, r"boundaries.x_min.phase = 3: give 1 or 2"),
    ({"phase": "z"}, r'boundaries.x_min.phase = "z": .* give a number'),
    ({"phase": "t"}, r'boundaries.x_min.phase = "t": through a vent one phase enters; give 1 or 2'),
    ({"pressure": 1}, r"boundaries.x_min.pressure = 1.0: not supported by the model \"two_phase\"; give 0"),
    ({"pressure": "t"}, r'boundaries.x_min.pressure = "t": not supported by the model "two_phase"; give 0'),
    ({"temperature": 1}, r"boundaries.x_min.temperature = 1.0: not supported by the model \"two_phase\""),
])  # fmt: skip
def test_what_is_wrong_is_named(side, words):
    plain = pipe("vof", inside=1, phase=1).written()
    kept = {name: plain[name] for name in ("grid", "two_phase", "boundaries", "time")}
    with pytest.raises(tf.BadInput, match=words):
        tf.Case(**kept | {"boundaries": kept["boundaries"] | {"x_min": VENT | side}})


def test_weight_acts_along_one_axis_of_a_vent():
    plain = pipe("vof", inside=1, phase=1).written()
    kept = {name: plain[name] for name in ("grid", "two_phase", "time")}
    sides = {"x_min": VENT, "x_max": VENT, "y_min": "slip", "y_max": "slip", "z_min": "slip", "z_max": "slip"}
    words = r'boundaries.x_min.type = "vent": the pressure on it is the weight of the fluid above'
    with pytest.raises(tf.BadInput, match=words):
        tf.Case(**kept | {"boundaries": sides, "body": {"gravity": [0, 1, -1]}})


def test_one_fluid_has_no_phase():
    with pytest.raises(tf.BadInput, match=r"boundaries.x_min.phase = 1.0: one fluid has no phases; omit it"):
        tf.Case(
            grid={"cells": [4, 1, 1], "lengths": [1, 1, 1]}, fluid={"viscosity": 1}, time={"steps": 1},
            boundaries={"x_min": {**VENT, "phase": 1}, "x_max": VENT, "y": "periodic", "z": "periodic"},
        )  # fmt: skip
