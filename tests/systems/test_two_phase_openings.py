"""Two phases that enter and leave: what enters is counted, nothing disturbs a uniform stream, blocks change no bit."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.output import STORE, dataset

FRONT = 0.15  # of phase 1, from the inflow, at the start


def stream(face: str, outflow: object, method: str = "levelset", **tables) -> tf.Case:
    """A stream of speed 1 from a face: phase 1 pushes phase 2, a hundred times as light, out through the other end."""
    axis, high = "xyz".index(face[0]), face.endswith("max")
    cells, lengths = [4, 4, 4], [0.1, 0.1, 0.1]
    cells[axis], lengths[axis] = 16, 0.4
    velocity = [0.0, 0.0, 0.0]
    velocity[axis] = -1.0 if high else 1.0
    opposite = f"{face[0]}_{'min' if high else 'max'}"
    inside = f"{face[0]} - {0.4 - FRONT}" if high else f"{FRONT} - {face[0]}"
    sides = {f"{other}_{end}": "slip" for other in "xyz" if other != face[0] for end in ("min", "max")}
    return tf.Case(**{
        "grid": {"cells": cells, "lengths": lengths},
        "two_phase": {"density": [100.0, 1.0], "viscosity": [0.1, 0.01], "initial": inside, "method": method},
        "boundaries": {**sides, face: {"type": "inflow", "velocity": velocity, "phase": 1}, opposite: outflow},
        "initial": {"velocity": velocity},
        "time": {"end": 0.1, "cfl": 0.3},
        "pressure": {"tolerance": 1e-12},
        "monitor": {"every": {"steps": 1}},
        "phases": [{"name": "pushed", "phase": 1, "every": {"steps": 1}}],
        "output": {"precision": "double"},
        **tables,
    })  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("face", "pressure"),
    [
        ("x_min", None),
        ("z_max", 0),
        *(pytest.param(*side, marks=pytest.mark.slow) for side in (("x_max", 0), ("y_min", 0), ("y_max", None))),
    ],
)
@pytest.mark.parametrize("method", ["levelset", "vof"])
def test_a_stream_stays_uniform_and_what_enters_is_counted(tmp_path, face, pressure, method):
    outflow = "outflow" if pressure is None else {"type": "outflow", "pressure": pressure}
    run = tf.run(stream(face, outflow, method), tmp_path / "run")
    fields, axis = run.dataset(), "xyz".index(face[0])
    for number, name in enumerate("uvw"):
        expected = (-1.0 if face.endswith("max") else 1.0) if number == axis else 0.0
        np.testing.assert_allclose(fields[name].values[-1], expected, atol=1e-10)
    volume = run.dataset("pushed").volume.values
    assert volume[-1] - volume[0] == pytest.approx(0.1 * 0.01, rel=1e-3)
    assert max(abs(line["volume_change"]) for line in run.log()) <= 1e-12


JET = {
    "grid": {"cells": [16, 8, 12], "lengths": [0.8, 0.4, 0.6]},
    "two_phase": {
        "density": [50.0, 1.0], "viscosity": [0.05, 0.01], "surface_tension": 0.1,
        "initial": "0.2 - sqrt((y - 0.2)**2 + (z - 0.3)**2) - x",
    },
    "boundaries": {
        "x_min": {
            "type": "inflow", "velocity": ["1 + 0.2 * sin(3 * t)", 0, 0],
            "phase": "where(sqrt((y - 0.2)**2 + (z - 0.3)**2) < 0.15, 1, 0)",
        },
        "x_max": "outflow", "y_min": "slip", "y_max": "slip", "z_min": "wall", "z_max": "wall",
    },
    "time": {"steps": 4},
    "pressure": {"solver": "multigrid", "outer": "none", "iterations": 3},
    "output": {"every": {"steps": 2}, "precision": "double"},
    "monitor": {"every": {"steps": 1}},
}  # fmt: skip

VOF = {"two_phase": {**JET["two_phase"], "method": "vof"}, "machine": {"debug": True}}
VELOCITY_FORM = {
    "fluid": {"scheme": "weno5"}, "two_phase": {**JET["two_phase"], "density": [5.0, 1.0]},
    "obstacles": [{"type": "box", "low": [0.4, 0.0, 0.0], "high": [0.5, 0.4, 0.1]}],
    "machine": {"debug": True},
}  # fmt: skip


@pytest.mark.parametrize(("pressure", "tables"), [
    pytest.param(None, {}, marks=pytest.mark.slow), pytest.param(0, {}, marks=pytest.mark.slow),
    pytest.param(None, VELOCITY_FORM, marks=pytest.mark.slow), pytest.param(0, VOF, marks=pytest.mark.slow),
])  # fmt: skip
def test_a_jet_has_the_same_bits_on_blocks_and_after_a_stop(tmp_path, pressure, tables):
    outflow = {"type": "outflow"} | ({} if pressure is None else {"pressure": pressure})
    jet = {**JET, "boundaries": {**JET["boundaries"], "x_max": outflow}, **tables}
    whole = tf.run(tf.Case(**jet), tmp_path / "whole")
    tf.run(tf.Case(**jet | {"time": {"steps": 2}}), tmp_path / "parts")
    cut = {"machine": {"blocks": [2, 1, 2], "debug": bool(tables)}}
    parts = tf.run(tf.Case(**jet | cut), tmp_path / "parts", resume=True)
    expected, computed = (dataset(run.directory / STORE).drop_attrs() for run in (whole, parts))
    xr.testing.assert_identical(expected, computed)
    # Two steps of Newton's method leave the fourth power of the shift, here 0.017 of the width of the interface
    assert max(abs(line["volume_change"]) for line in whole.log()) <= 1e-10
    assert expected.f.values[-1].sum() > expected.f.values[0].sum()


@pytest.mark.parametrize(("sides", "words"), [
    ({"x_min": {"type": "inflow", "velocity": [1, 0, 0]}}, r"boundaries.x_min.phase: missing; give the phase"),
    ({"x_min": {"type": "inflow", "velocity": [1, 0, 0], "phase": 3}}, r"boundaries.x_min.phase = 3: give 1 or 2"),
    ({"z_min": {"type": "wall", "phase": 1}}, r"boundaries.z_min.phase = 1: a wall boundary has none"),
    ({"x_max": {"type": "outflow", "pressure": "advected"}}, r'boundaries.x_max.pressure = "advected": not supported'),
])  # fmt: skip
def test_bad_sides_are_told_with_key_value_and_remedy(sides, words):
    with pytest.raises(tf.BadInput, match=words):
        tf.Case(**JET | {"boundaries": {**JET["boundaries"], **sides}})


def test_the_pressure_is_not_the_same_along_the_weight():
    sides = {**JET["boundaries"], "x_max": {"type": "outflow", "pressure": 0}}
    with pytest.raises(tf.BadInput, match=r"boundaries.x_max.pressure = 0.0: the weight of the fluid acts along z"):
        tf.Case(**JET | {"boundaries": sides, "body": {"gravity": [1, 0, -1]}})


def test_a_tank_with_an_open_top_stays_at_rest(tmp_path):
    """Its pressure is the weight of what is above."""
    sides = dict.fromkeys(("x_min", "x_max", "z_min"), "slip") | {"y": "periodic"}
    tank = tf.Case(
        grid={"cells": [6, 1, 16], "lengths": [0.6, 0.1, 1.6]}, body={"gravity": [0, 0, -10]},
        two_phase={"density": [1000, 1], "viscosity": [1e-3, 2e-5], "initial": "0.8 - z"},
        boundaries={**sides, "z_max": {"type": "outflow", "pressure": 0}}, time={"steps": 4},
        pressure={"tolerance": 1e-10}, output={"precision": "double"},
    )  # fmt: skip
    fields = tf.run(tank, tmp_path / "run").dataset().isel(time=-1)
    assert abs(fields.w).max() <= 1e-10
    rho = 1 + 999 * fields.f.values
    above = rho[::-1].cumsum(0)[::-1] - rho / 2  # in half a cell, and those higher up
    np.testing.assert_allclose(fields.p, 10 * 0.1 * above, rtol=1e-9)


def test_a_phase_without_two_phases_is_not_read():
    enters = {"type": "inflow", "velocity": [1, 0, 0], "phase": 1}
    sides = {"x_min": enters, "x_max": "outflow", "y": "periodic", "z": "periodic"}
    with pytest.raises(tf.BadInput, match=r"boundaries.x_min.phase = 1.0: one fluid has no phases"):
        tf.Case(grid=JET["grid"], fluid={"viscosity": 1.0}, boundaries=sides, time={"steps": 1})


def test_shares_that_enter_are_between_0_and_1(tmp_path):
    sides = {**JET["boundaries"], "x_min": {"type": "inflow", "velocity": [1, 0, 0], "phase": "2 * y + 1"}}
    with pytest.raises(tf.BadInput, match=r"boundaries.x_min.phase: values from 1.05 to 1.75 .* between 0 and 1"):
        tf.run(tf.Case(**JET | {"boundaries": sides}), tmp_path / "run")
