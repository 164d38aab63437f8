"""Runs of every kind, stopped and resumed on more, fewer and other blocks, end where a whole run does."""

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.output import read_log, tree
from taskflow.output.disk.disk import has_charts
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.tasks import overwritten
from taskflow.systems import solved
from tests.cases import on_charts, two_phases
from tests.cases.on_charts import changed
from tests.runs.going_on import found, go

WALLS = {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"}
BOX = {
    "fluid": {"viscosity": 2e-3}, "grid": {"cells": [16, 4, 16], "lengths": [1.0, 0.25, 1.0]}, "boundaries": WALLS,
    "initial": {"velocity": ["4*z*(1-z)", "0.1*sin(6*x)", "0.1*cos(8*y)"]}, "time": {"steps": 6, "step": 0.005},
    "machine": {"device": "cpu", "threads": 1}, "output": {"precision": "double"},
}  # fmt: skip
TALL = {"grid__stretching": {"z": {"tanh": 1.3}}}
ROD = {"name": "rod", "type": "cylinder", "axis": "y", "centre": [0.4, 0, 0.45], "radius": 0.2}
SWINGING = {"obstacles": [{**ROD, "motion": {"displacement": ["0.1*sin(3*t)", 0, 0]}}], "bodies__treatment": "immersed"}
HEAT = {
    "heat": {"diffusivity": 1e-3, "expansion": 1.0}, "body": {"gravity": [0, 0, -1]},
    "scalars": [{"name": "dye", "diffusivity": 1e-3, "initial": "1.0*(x<0.5)"}],
}  # fmt: skip
OPEN = {
    "boundaries": {
        "y": "periodic", "z_min": "wall", "z_max": "slip", "x_max": "outflow",
        "x_min": {"type": "inflow", "velocity": ["4*z*(1-z)", 0, 0]},
    },
}  # fmt: skip
MULTIGRID, EDDIES = {"pressure__solver": "multigrid"}, {"turbulence__model": "smagorinsky"}
FOLLOWED = {
    "statistics": {"fields": ["u", "v", "w", "p"], "every": {"steps": 1}, "write": {"steps": 3}},
    "probes": [{"name": "points", "points": [[0.3, 0.1, 0.4]], "every": {"steps": 1}}],
    "particles": [{"name": "tracers", "points": [[0.2, 0.1, 0.3], [0.9, 0.2, 0.8]], "every": {"steps": 2}}],
}  # fmt: skip
KINDS = {
    "plain": {}, "rk3": {"time__scheme": "rk3"}, "stretched": TALL, "stretched, multigrid": {**TALL, **MULTIGRID},
    "stretched, rk3": {**TALL, "time__scheme": "rk3"}, "stretched, single": {**TALL, "machine__precision": "single"},
    "stretched along x": {
        "grid__stretching": {"x": {"geometric": 1.1}},
        "boundaries": {"y": "periodic", **dict.fromkeys(("x_min", "x_max", "z_min", "z_max"), "wall")},
    },
    "implicit": {**TALL, **MULTIGRID, "time__implicit": ["z"]}, "implicit, direct": {**TALL, "time__implicit": ["z"]},
    "immersed": {"obstacles": [ROD], "bodies__treatment": "immersed"}, "flagged": {"obstacles": [ROD]},
    "flagged, direct": {"obstacles": [ROD], "pressure__solver": "fft"},
    "immersed, stretched": {**TALL, "obstacles": [ROD], "bodies__treatment": "immersed"},
    "immersed, jacobi": {"obstacles": [ROD], "bodies__treatment": "immersed", "pressure__solver": "jacobi"},
    "moving": SWINGING, "moving, warm": {**SWINGING, **HEAT}, "open": OPEN, "open, stretched": {**OPEN, **TALL},
    "heat": HEAT, "heat, stretched": {**HEAT, **TALL}, "eddies": EDDIES, "eddies, stretched": {**EDDIES, **TALL},
    "rough": {"turbulence__model": "vreman", "boundaries": {**WALLS, "z_min": {"type": "wall", "roughness": 0.002}}},
    "bulk": {"body__bulk_velocity": {"x": 0.7}, **TALL}, "jacobi": {"pressure": {"solver": "jacobi", "iterations": 20}},
    "bulk, bodies": {"body__bulk_velocity": {"x": 0.7}, "obstacles": [ROD], "bodies__treatment": "immersed"},
    "rotating": {"body__rotation": [0, 0, 0.5], **TALL}, "pushed": {"body__force": ["sin(t)", 0, 0], **TALL},
    "followed": {**FOLLOWED, **TALL},
}  # fmt: skip
CHARTS = {
    "o-grid": on_charts.CYLINDER, "closed": on_charts.LID, "turned": on_charts.TURNED,
    "implicit": changed(on_charts.CYLINDER, method__march="implicit"),
    "implicit, turned": changed(on_charts.TURNED, method__march="implicit", time__steps=6),
    "corrections": changed(on_charts.CYLINDER, method__march="implicit", method__linear={"solver": "correction"}),
    "real time": changed(on_charts.CYLINDER, time={"step": 0.05, "steps": 6}, method__march="implicit"),
    "explicit, real time": changed(on_charts.CYLINDER, time={"step": 0.05, "steps": 6}),
    "moving": changed(
        on_charts.CYLINDER, time={"step": 0.05, "steps": 6}, motion={"displacement": ["0.1*sin(t)", 0, 0]},
        method={"type": "artificial-compressibility", "march": "implicit", "compressibility": 4.0},
    ),
}  # fmt: skip
NAMES = ("p", "u", "v", "w", "T", "f", "dye")
BLOCKS = ((1, 1, 1), (1, 1, 2)), ((1, 1, 2), (1, 1, 1)), ((2, 1, 1), (1, 2, 2)), ((1, 1, 2), (1, 1, 3))
ON_CHARTS = ((1, 1, 1), (1, 1, 2)), ((1, 1, 2), (1, 1, 1))


def last(path):
    """The fields of the last snapshot of a run by name, of all charts, and its time."""
    if has_charts(path / "fields.zarr"):
        parts = dict(tree(path / "fields.zarr").load()["charts"].children)
    else:
        parts = {"": found(path)}
    ends = {n: ds.isel(time=-1) for n, ds in parts.items()}
    values = {f"{n}/{name}": ds[name].values for n, ds in ends.items() for name in ds.data_vars if name in NAMES}
    return values, read_log(path / "log.jsonl")[-1]["time"]


def compare(case, folder, blocks):
    """Runs on changing blocks end where a whole run does, to the tolerance of the solver."""
    go(case, folder / "whole")
    whole, end = last(folder / "whole")
    assert whole
    bound = 1e-4 if case.machine.precision == "single" else 1e-6
    for before, after in blocks:
        path = folder / f"{before}{after}"
        go(case, path, before, stop=3)
        go(case, path, after, resume=True)
        values, time = last(path)
        assert (time, values.keys()) == (end, whole.keys())
        for name, expected in whole.items():
            most = bound * max(1.0, float(np.nanmax(np.abs(expected))))
            np.testing.assert_allclose(values[name], expected, rtol=0, atol=most, err_msg=f"{name} {before} {after}")


@pytest.mark.fast("bulk")
@pytest.mark.parametrize("kind", KINDS)
def test_of_a_flow(tmp_path, kind):
    compare(Case(**changed(BOX, **KINDS[kind])), tmp_path, BLOCKS[:2] if kind == "bulk" else BLOCKS)


@pytest.mark.slow
@pytest.mark.parametrize("changes", [
    {}, {"obstacles": [{"type": "box", "low": [0, 0, 0], "high": [0.2, 0.4, 0.1]}]},
])  # fmt: skip
def test_of_two_phases(tmp_path, changes):
    compare(two_phases.case(**changes), tmp_path, BLOCKS)


@pytest.mark.slow
@pytest.mark.parametrize("kind", CHARTS)
def test_on_charts(tmp_path, kind):
    compare(Case(**CHARTS[kind]), tmp_path, ON_CHARTS)


def test_a_checkpoint_has_no_constants_of_the_grid(tmp_path, monkeypatch):
    """Those of earlier builds, which have them, are still resumed."""
    case, constants = Case(**changed(BOX, **TALL)), {"pivots", "through", "reach"}
    assert not RunSetup(case, (1, 1, 2)).carried.keys() & constants
    go(case, tmp_path / "whole")
    with monkeypatch.context() as patch:
        patch.setattr(solved, "overwritten", lambda many, *on: overwritten(many, *on) if len(many) > 1 else {})
        assert constants <= RunSetup(case, (1, 1, 2)).carried.keys()
        go(case, tmp_path / "run", (1, 1, 2), stop=3)
    go(case, tmp_path / "run", (1, 1, 3), resume=True)
    (values, _), (whole, _) = last(tmp_path / "run"), last(tmp_path / "whole")
    for name, expected in whole.items():
        np.testing.assert_allclose(values[name], expected, rtol=0, atol=1e-6, err_msg=name)
