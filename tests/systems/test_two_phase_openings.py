"""Two phases that enter and leave: what enters is counted, nothing disturbs a uniform stream, blocks change no bit."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.output import STORE, dataset
from tests.flows import compute

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


def test_a_front_in_the_first_cells_at_an_inflow_stays_plane_at_walls():
    """Without surface tension, and whatever rounding has made of it."""
    plain = stream("x_min", "outflow", "vof").written()
    phases = plain["two_phase"] | {"initial": "0.012 + 1e-12*sin(90*y + 50*z) - x"}
    f = compute(tf.Case(**plain | {"two_phase": phases, "time": {"steps": 3, "step": 0.004}}))["f"]
    assert 0.9 < f[0, 0, 0] < 1
    assert np.ptp(f, axis=(0, 1)).max() < 1e-8


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


@pytest.mark.parametrize(("gravity", "change"), [([1, 1, -1], {}), ([0, 0, -1], {"z": "periodic"})])
def test_weight_is_along_one_axis_of_an_outflow_and_ends(gravity, change):
    sides = {**JET["boundaries"], "x_max": {"type": "outflow", "pressure": 0}}
    sides = {key: side for key, side in sides.items() if key[0] not in change} | change
    words = r"boundaries.x_max.pressure = 0.0: the pressure on it is the weight of the fluid above, and gravity acts"
    with pytest.raises(tf.BadInput, match=words):
        tf.Case(**JET | {"boundaries": sides, "body": {"gravity": gravity}})


CHANNEL = {
    "grid": {"cells": [24, 1, 16], "lengths": [1.5, 1 / 16, 1.0]}, "body": {"gravity": [0, 0, -10.0]},
    "two_phase": {"density": [1000.0, 1.0], "viscosity": [1e-3, 1e-5], "initial": "0.53 - z"},
    "boundaries": {
        "x_min": {  # phi beyond it is the distance
            "type": "inflow", "velocity": [1.0, 0, 0], "phase": "minimum(1, maximum(0, 0.5 + (0.53 - z)*16/6))",
        },
        "x_max": {"type": "outflow", "pressure": 0}, "y": "periodic", "z_min": "slip", "z_max": "slip",
    },
    "initial": {"velocity": [1.0, 0, 0]}, "time": {"steps": 15}, "pressure": {"tolerance": 1e-12},
    "output": {"precision": "double"},
}  # fmt: skip


@pytest.mark.parametrize("high", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_two_layers_leave_along_gravity(tmp_path, high):
    """At uniform speed, 1000 : 1: the pressure of the outflow is the weight of what lies above. The departure is that
    of the inflow, 1e-6 on these cells; without the weight it would be above 1.
    """
    channel = CHANNEL
    if not high:
        sides = dict(CHANNEL["boundaries"])
        sides["x_min"], sides["x_max"] = sides["x_max"], {**sides["x_min"], "velocity": [-1.0, 0, 0]}
        channel = CHANNEL | {"boundaries": sides, "initial": {"velocity": [-1.0, 0, 0]}}
    last = tf.run(tf.Case(**channel), tmp_path / "run", progress=lambda _: None).dataset().isel(time=-1)
    assert float(abs(abs(last.u) - 1).max()) < 2e-6
    assert float(abs(last.w).max()) < 2e-6


def test_two_layers_leave_along_gravity_as_planes(tmp_path):
    """Planes are exact: already the pressure of the first step is the weight of what lies above."""
    sides = CHANNEL["boundaries"] | {
        "x_min": {**CHANNEL["boundaries"]["x_min"], "phase": "minimum(1, maximum(0, 0.5 + (0.53 - z)*16))"},
    }
    two_phase = CHANNEL["two_phase"] | {"method": "vof"}
    channel = tf.Case(**CHANNEL | {"boundaries": sides, "two_phase": two_phase, "time": {"steps": 2}})
    last = tf.run(channel, tmp_path / "run", progress=lambda _: None).dataset().isel(time=-1)
    assert float(abs(last.u - 1).max()) < 1e-11
    assert float(abs(last.w).max()) < 1e-11


@pytest.mark.slow
def test_an_outflow_along_gravity_has_the_same_bits_on_blocks_and_after_a_stop(tmp_path):
    exact = CHANNEL | {"pressure": {"solver": "multigrid", "outer": "none", "iterations": 3}, "time": {"steps": 4}}
    channel = exact | {"output": {"every": {"steps": 2}, "precision": "double"}}
    whole = tf.run(tf.Case(**channel), tmp_path / "whole")
    tf.run(tf.Case(**channel | {"time": {"steps": 2}}), tmp_path / "parts")
    parts = tf.run(tf.Case(**channel | {"machine": {"blocks": [2, 1, 3]}}), tmp_path / "parts", resume=True)
    expected, computed = (dataset(run.directory / STORE).drop_attrs() for run in (whole, parts))
    xr.testing.assert_identical(expected, computed)


def test_a_tank_with_an_open_top_stays_at_rest(tmp_path):
    """Its pressure is the weight of what is above; where cells have both phases, the share f of the water's."""
    sides = dict.fromkeys(("x_min", "x_max", "z_min"), "slip") | {"y": "periodic"}
    tank = tf.Case(
        grid={"cells": [6, 1, 16], "lengths": [0.6, 0.1, 1.6]}, body={"gravity": [0, 0, -10]},
        two_phase={"density": [1000, 1], "viscosity": [1e-3, 2e-5], "initial": "0.8 - z"},
        boundaries={**sides, "z_max": {"type": "outflow", "pressure": 0}}, time={"steps": 4},
        pressure={"tolerance": 1e-10}, output={"precision": "double"},
    )  # fmt: skip
    fields = tf.run(tank, tmp_path / "run").dataset().isel(time=-1)
    assert abs(fields.w).max() <= 1e-10
    z = fields.z_c.values[:, None, None]
    np.testing.assert_allclose(fields.p, 10 * ((1.6 - z) + 999 * fields.f.values * (0.8 - z)), rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", ["levelset", "vof"])
@pytest.mark.parametrize("down", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_what_enters_through_an_open_side_comes_from_rest(tmp_path, down, method):
    """Between two open ends at a distance L a stream slows down: dw/dt = -w^2 / 2L, by the pressure where it enters."""
    ends = {face: {"type": "outflow", "pressure": 0} for face in ("z_min", "z_max")}
    pipe = tf.Case(
        grid={"cells": [4, 1, 16], "lengths": [0.25, 0.0625, 1]}, initial={"velocity": [0, 0, -1 if down else 1]},
        two_phase={"density": [1000, 1], "viscosity": [1e-3, 2e-5], "initial": 0, "method": method},
        boundaries={"x_min": "slip", "x_max": "slip", "y": "periodic"} | ends, time={"end": 1, "cfl": 0.1},
        pressure={"tolerance": 1e-10}, machine={"threads": 1},
    )  # fmt: skip
    w = tf.run(pipe, tmp_path / "run", progress=lambda _: None).dataset().w.isel(time=-1)
    np.testing.assert_allclose(w, (-1 if down else 1) / 1.5, rtol=0.003)


@pytest.mark.parametrize("cells", [16, pytest.param(32, marks=pytest.mark.slow)])
def test_a_drop_that_leaves_is_not_missed(tmp_path, cells):
    """Through an outflow: `volume_change` is over what was there and entered, and what cannot be kept has left."""
    case = tf.Case(
        grid={"cells": [cells, 1, cells], "lengths": [1.0, 1 / cells, 1.0]}, initial={"velocity": [1.0, 0.0, 0.0]},
        two_phase={"density": [1000.0, 1.0], "viscosity": [0.1, 0.001], "shapes": [
            {"phase": 1, "type": "sphere", "centre": [0.7, 0.5 / cells, 0.5], "radius": 0.15}]},
        boundaries={"x_min": {"type": "inflow", "velocity": [1.0, 0.0, 0.0], "phase": 2}, "x_max": "outflow",
                    "y": "periodic", "z_min": "slip", "z_max": "slip"},
        monitor={"every": {"steps": 1}}, time={"end": 0.7, "cfl": 0.3},
    )  # fmt: skip
    log = tf.run(case, tmp_path / "run", progress=lambda _: None).log()
    assert max(abs(line["volume_change"]) for line in log) < 1e-6
    assert log[0]["area"] > 0.02 / cells
    assert log[-1]["area"] == 0


def test_a_phase_without_two_phases_is_not_read():
    enters = {"type": "inflow", "velocity": [1, 0, 0], "phase": 1}
    sides = {"x_min": enters, "x_max": "outflow", "y": "periodic", "z": "periodic"}
    with pytest.raises(tf.BadInput, match=r"boundaries.x_min.phase = 1.0: one fluid has no phases"):
        tf.Case(grid=JET["grid"], fluid={"viscosity": 1.0}, boundaries=sides, time={"steps": 1})


def test_shares_that_enter_are_between_0_and_1(tmp_path):
    sides = {**JET["boundaries"], "x_min": {"type": "inflow", "velocity": [1, 0, 0], "phase": "2 * y + 1"}}
    with pytest.raises(tf.BadInput, match=r"boundaries.x_min.phase: values from 1.05 to 1.75 .* between 0 and 1"):
        tf.run(tf.Case(**JET | {"boundaries": sides}), tmp_path / "run")
