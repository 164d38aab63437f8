"""Bodies among two phases: what they feel, what is kept, blocks change no bit, a step is proved, bad input is told."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.output import LOG, STORE, dataset, read_log
from taskflow.runs.estimate.estimate import estimate

GRAVITY = 9.81
TANK = {
    "grid": {"cells": [12, 1, 18], "lengths": [1.2, 0.1, 1.8]},
    "two_phase": {"density": [1000.0, 1.0], "viscosity": [1.0, 1e-3], "initial": "1.22 - z"},
    "body": {"gravity": [0, 0, -GRAVITY]},
    "boundaries": {"x_min": "slip", "x_max": "slip", "y": "periodic", "z_min": "wall", "z_max": "wall"},
    "time": {"steps": 2},
    "pressure": {"tolerance": 1e-13},
    "monitor": {"every": {"steps": 1}},
    "output": {"precision": "double"},
}  # fmt: skip


def box(low: list[float], high: list[float]) -> dict:
    return {"obstacles": [{"name": "body", "type": "box", "low": low, "high": high, "moment_about": [0.6, 0.05, 0.6]}]}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["levelset", "vof"])
@pytest.mark.parametrize(("low", "high", "tolerance"), [
    (0.4, 0.8, 1e-9),
    (0.8, 1.6, 1e-9),  # through the surface
    (1.0, 1.4, 1e-6),  # and so short that the interface feels its edges
])  # fmt: skip
def test_a_body_at_rest_feels_the_weight_of_what_it_displaces(tmp_path, method, low, high, tolerance):
    tank = TANK | {"two_phase": {**TANK["two_phase"], "method": method}}
    run = tf.run(tf.Case(**tank, **box([0.4, 0, low], [0.7, 0.1, high])), tmp_path / "run")
    body, f = run.log()[-1]["bodies"]["body"], run.dataset().f.values[-1]
    layers = f[round(low * 10) : round(high * 10), 0, 0]  # beside it, in its place
    weight = GRAVITY * (1 + 999 * layers).sum() * 3 * 1e-3
    assert body["force"] == pytest.approx([0, 0, weight], abs=tolerance * weight)
    assert body["moment"] == pytest.approx([0, 0.05 * weight, 0], abs=tolerance * weight)
    if high < 1:
        assert weight == pytest.approx(1000 * GRAVITY * 12e-3, rel=1e-9)


@pytest.mark.slow
def test_surfaces_between_walls_and_bodies_have_their_area_though_nothing_is_logged(tmp_path):
    """A flat interface between four sides of all kinds, with a body through it. A step has no ghost values of phi."""
    kinds = {"x_max": "wall", "y_min": "slip", "y_max": "symmetry", "y": None}
    sides = {face: side for face, side in {**TANK["boundaries"], **kinds}.items() if side}
    followed = [{"name": name, "field": name[3:], "value": value, "every": {"steps": 1}}
                for name, value in (("of_f", 0.5), ("of_phi", 0.0))]  # fmt: skip
    tables = {**TANK, "grid": {"cells": [12, 3, 18], "lengths": [1.2, 0.3, 1.8]}, "boundaries": sides}
    tank = {**tables, **box([0.4, 0, 0.8], [0.7, 0.3, 1.6]), "isosurfaces": followed, "monitor": {"every": 9.0}}
    run = tf.run(tf.Case(**tank), tmp_path / "run")
    for surface in followed:
        np.testing.assert_allclose(run.dataset(surface["name"]).area, 0.9 * 0.3, rtol=1e-6)


def channel(cells: int, **fluid: dict) -> tf.Case:
    """A flow past a square in a channel, by the same steps for any fluid."""
    profile = {"velocity": ["4 * z * (1 - z)", 0, 0]}
    sides = {"x_min": {"type": "inflow", **profile, **({"phase": "0.5"} if "two_phase" in fluid else {})}}
    return tf.Case(**{
        "grid": {"cells": [2 * cells, 1, cells], "lengths": [2.0, 0.1, 1.0]},
        "boundaries": {**sides, "x_max": "outflow", "y": "periodic", "z_min": "wall", "z_max": "wall"},
        **box([0.5, 0, 0.375], [0.75, 0.1, 0.625]),
        "initial": profile,
        "time": {"end": 0.05, "step": 0.64 / cells**2},
        "pressure": {"solver": "multigrid", "tolerance": 1e-8},
        "output": {"precision": "double"},
        **fluid,
    })  # fmt: skip


@pytest.mark.slow
def test_equal_fluids_push_a_body_as_one_does(tmp_path):
    """Upwind momentum differs from central by a higher order: so does the force, which friction and pressure share."""
    viscosity, density, apart = 0.05, 2.0, []
    two = {"density": [density] * 2, "viscosity": [density * viscosity] * 2, "initial": "0.31 - x"}
    for cells in (16, 32):
        forces = [
            tf.run(channel(cells, **fluid), tmp_path / f"{cells}_{n}").log()[-1]["bodies"]["body"]
            for n, fluid in enumerate(({"two_phase": two}, {"fluid": {"viscosity": viscosity}}))
        ]
        apart.append([forces[0][kind][0] / density / forces[1][kind][0] - 1 for kind in ("force", "pressure_force")])
    (coarse, _), (fine, of_pressure) = np.abs(apart)
    assert coarse <= 0.04
    assert fine <= min(0.006, coarse / 4)
    assert of_pressure <= 0.012


DROP = TANK | {
    "grid": {"cells": [16, 1, 24], "lengths": [1.0, 1 / 16, 1.5]},
    "two_phase": {
        "density": [100.0, 1.0], "viscosity": [0.1, 1e-3], "surface_tension": 1.0,
        "initial": "0.2 - sqrt((x - 0.5)**2 + (z - 0.95)**2)",
    },
    "obstacles": [{"name": "body", "type": "cylinder", "axis": "y", "centre": [0.45, 0, 0.5], "radius": 0.2}],
    "time": {"end": 0.28}, "pressure": {"tolerance": 1e-6},
}  # fmt: skip
PASSING = DROP | {
    "grid": {"cells": [32, 1, 16], "lengths": [2.0, 1 / 16, 1.0]},
    "two_phase": {**DROP["two_phase"], "initial": "0.5 - x + 0.05 * sin(2 * pi * z)"},
    "body": {},
    "boundaries": {
        "x_min": {"type": "inflow", "velocity": [1, 0, 0], "phase": 1}, "x_max": "outflow", "y": "periodic",
        "z_min": "slip", "z_max": "slip",
    },
    "initial": {"velocity": [1, 0, 0]},
    "obstacles": [{"name": "body", "type": "cylinder", "axis": "y", "centre": [0.8, 0, 0.45], "radius": 0.15}],
    "time": {"end": 0.5},
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("method", "most"), [("levelset", 1e-10), ("vof", 1e-12)])
@pytest.mark.parametrize("tables", [DROP, PASSING], ids=["drop", "passing"])
def test_the_volume_is_kept_where_an_interface_meets_a_body(tmp_path, tables, method, most):
    """V20: what is in the fluid; and a droplet that lands pushes the body down."""
    case = tf.Case(**tables | {"two_phase": {**tables["two_phase"], "method": method}})
    lines = tf.run(case, tmp_path / "run").log()
    assert max(abs(line["volume_change"]) for line in lines) <= most
    forces = np.array([line["bodies"]["body"]["force"] for line in lines[1:]])
    assert forces[:, 2].min() < -1 if tables is DROP else forces[-1, 0] > 1


JET = {
    "grid": {"cells": [16, 8, 13], "lengths": [0.8, 0.4, 0.65]},
    "two_phase": {
        "density": [50.0, 1.0], "viscosity": [0.05, 0.01], "surface_tension": 0.1,
        "initial": "0.25 - sqrt((y - 0.2)**2 + (z - 0.3)**2) - x",
    },
    "body": {"gravity": [0, 0, -1.0]},
    "boundaries": {
        "x_min": {
            "type": "inflow", "velocity": ["1 + 0.2 * sin(3 * t)", 0, 0],
            "phase": "where(sqrt((y - 0.2)**2 + (z - 0.3)**2) < 0.15, 1, 0)",
        },
        "x_max": "outflow", "y": "periodic", "z_min": "wall", "z_max": "slip",
    },
    "obstacles": [
        {"name": "ball", "type": "sphere", "centre": [0.35, 0.2, 0.3], "radius": 0.11},
        {"name": "step", "type": "box", "low": [0.4, 0, 0], "high": [0.6, 0.4, 0.1]},
    ],
    "phases": [{"name": "jet", "phase": 1, "every": {"steps": 1}}],
    "time": {"steps": 6},
    "pressure": {"solver": "multigrid", "outer": "none", "iterations": 3},
    "output": {"every": {"steps": 3}, "precision": "double"},
    "monitor": {"every": {"steps": 1}},
}  # fmt: skip


def jet(kind: str = "double", **tables) -> tf.Case:
    """The jet with a level set, in a precision, or with a volume of fluid."""
    if kind == "vof":
        return tf.Case(**JET | {"two_phase": {**JET["two_phase"], "method": "vof"}} | tables)
    return tf.Case(**JET | {"output": {**JET["output"], "precision": kind}} | tables)


def stored(run: tf.Run) -> tuple[xr.Dataset, xr.Dataset]:
    """Snapshots and the series of a phase."""
    fields, series = (dataset(run.directory / STORE, group).drop_attrs() for group in ("", "jet"))
    return fields, series


@pytest.fixture(scope="module", params=["single", "double", "vof"])
def whole(request, tmp_path_factory) -> tuple[str, tf.Run]:
    """The kind of jet, and the run on one block."""
    return request.param, tf.run(jet(request.param), tmp_path_factory.mktemp("whole") / "run")


@pytest.mark.slow
@pytest.mark.parametrize("machine", [
    {"blocks": [1, 1, 2], "overlap": "none"},
    {"blocks": [2, 2, 1], "threads": 2},
    {"blocks": [3, 1, 2], "overlap": "full"},  # of uneven widths
    {"blocks": [1, 2, 3], "threads": 1},
    {"threads": 3},
])  # fmt: skip
def test_blocks_threads_and_overlap_change_no_bit(tmp_path, whole, machine):
    precision, run = whole
    cut = tf.run(jet(precision, machine=machine), tmp_path / "cut")
    for expected, computed in zip(stored(run), stored(cut), strict=True):
        xr.testing.assert_identical(expected, computed)


@pytest.mark.slow
def test_a_stop_changes_no_bit_and_no_force(tmp_path, whole):
    precision, run = whole
    tf.run(jet(precision, time={"steps": 3}), tmp_path / "parts")
    parts = tf.run(jet(precision, machine={"blocks": [2, 1, 2]}), tmp_path / "parts", resume=True)
    for expected, computed in zip(stored(run), stored(parts), strict=True):
        xr.testing.assert_identical(expected, computed)
    lines, again = ({line["step"]: line for line in read_log(item.directory / LOG)} for item in (run, parts))
    for step, line in lines.items():
        for name, body in line["bodies"].items():
            expected = pytest.approx(body["force"], rel=1e-9, abs=1e-12)
            assert again[step]["bodies"][name]["force"] == expected, (step, name)


@pytest.mark.slow
def test_debug_meets_no_invalid_ghost_cell(tmp_path, whole):
    precision, run = whole
    seen = tf.run(jet(precision, time={"steps": 3}, machine={"debug": True, "blocks": [1, 1, 2]}), tmp_path / "seen")
    for expected, computed in zip(stored(run), stored(seen), strict=True):
        xr.testing.assert_identical(expected.isel(time=slice(computed.sizes["time"])), computed)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(("kind", "pressure"), [("double", None), ("double", 0), ("vof", None)])
def test_its_steps_are_proved(kind, pressure):
    """With the overlap that does most at a time: in all orders of `auto` that is four times as many pairs of passes."""
    outflow = {"type": "outflow"} | ({} if pressure is None else {"pressure": pressure})
    small = jet(
        kind, grid={"cells": [9, 4, 8], "lengths": [0.9, 0.4, 0.8]}, boundaries={**JET["boundaries"], "x_max": outflow},
        body={"gravity": [0, 0, -1] if pressure is None else [-1, 0, 0]},
        machine={"blocks": [1, 1, 2], "overlap": "full"},
    )  # fmt: skip
    proof = estimate(small).prove()
    assert proof.reads > 0
    assert not proof.faults


@pytest.mark.parametrize(("tables", "words"), [
    ({"bodies": {"treatment": "immersed"}},
     r'bodies.treatment = "immersed": not supported by the model "two_phase"; give "flagged"'),
    ({"obstacles": [{**JET["obstacles"][0], "temperature": 1}]},
     r"obstacles\[1\].temperature = 1.0: not supported by the model .two_phase.; omit it"),
    ({"pressure": {"forcing": 2}}, r'pressure.forcing = 2: only solver = "fft" needs it around bodies; omit it'),
    ({"pressure": {"solver": "fft"}, "two_phase": {**JET["two_phase"], "density": [2, 2]}},
     r'pressure.solver = "fft": its equation ignores faces of bodies; give "multigrid", or omit it'),
])  # fmt: skip
def test_bad_bodies_are_told_with_key_value_and_remedy(tables, words):
    with pytest.raises(tf.BadInput, match=words):
        jet(**tables)


@pytest.mark.fast("high0-*")
@pytest.mark.parametrize(("high", "words"), [
    ([0.8, 0.4, 0.65], r"obstacles: no cell is left for the fluid"),
    ([0.8, 0.4, 0.1], r"obstacles\[1\]: it covers .* behind the inflow x_min"),
])  # fmt: skip
def test_bodies_leave_room(high, words):
    with pytest.raises(tf.BadInput, match=words):
        estimate(jet(obstacles=[{"type": "box", "low": [0, 0, 0], "high": high}]))


def test_stair_steps_may_be_asked_for():
    assert jet(bodies={"treatment": "flagged"}).bodies.treatment == "flagged"
