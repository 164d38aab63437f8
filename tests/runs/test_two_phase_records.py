"""f, phi and kappa in all that is recorded, and surfaces of f and phi: on blocks, and after a restart."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.output import LOG, read_log
from tests.cases.two_phases import case
from tests.runs.going_on import found, go

FIELDS = ["f", "phi", "kappa"]
POINTS = [[0.31, 0.21, 0.22], [0.0, 0.4, 0.0], [0.42, 0.24, 0.4]]
FOLLOWED = {
    "time": {"steps": 9},
    "output": {"every": {"steps": 1}, "fields": [*FIELDS, "p"]},
    "probes": [{"name": "points", "points": POINTS, "every": {"steps": 1}}],
    "planes": [{"name": "cut", "y": 0.2, "every": {"steps": 3}, "fields": FIELDS}],
    "statistics": {"fields": FIELDS, "every": {"steps": 1}},
    "isosurfaces": [
        {"name": "by_f", "field": "f", "value": 0.5, "every": {"steps": 1}},
        {"name": "by_phi", "field": "phi", "value": 0.0, "every": {"steps": 1}},
    ],
}
GROUPS = ("", "points", "cut", "statistics", "by_f", "by_phi", "drop")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "run"
    go(case(**FOLLOWED), path)
    return path


@pytest.mark.slow
def test_what_is_recorded_is_what_snapshots_have(whole):
    snapshots, points, cut = found(whole), found(whole, "points"), found(whole, "cut")
    assert {"u", "v", "w", "p", *FIELDS} <= set(points.data_vars)
    for name in FIELDS:
        between = snapshots[name].interp(x_c=POINTS[0][0], y_c=POINTS[0][1], z_c=POINTS[0][2])
        np.testing.assert_allclose(points[name][:, 0], between, rtol=0, atol=1e-12, err_msg=name)
        assert np.isfinite(points[name]).all()
        xr.testing.assert_identical(cut[name].drop_attrs(), snapshots[name][::3].isel(y_c=[3]).drop_attrs())
        mean = found(whole, "statistics")[f"mean_{name}"][-1]
        over_time = snapshots[name][1:].weighted(snapshots["time"].diff("time")).mean("time")
        np.testing.assert_allclose(mean, over_time, rtol=0, atol=1e-12)
    lines = read_log(whole / LOG)
    assert max(abs(line["volume_change"]) for line in lines) < 1e-12  # samples do not change what is measured


@pytest.mark.slow
def test_the_curvature_is_there_from_the_start(whole):
    """2 / R beside a droplet, three cells wide."""
    kappa, phi = (found(whole)[name][0] for name in ("kappa", "phi"))
    beside = kappa.values[np.abs(phi.values) < 0.05]
    assert (beside > 0).all()
    assert beside.mean() == pytest.approx(2 / 0.15, rel=0.15)


@pytest.mark.slow
def test_surfaces_of_f_and_phi_have_the_area_of_the_droplet(whole):
    by_f, by_phi, drop = (found(whole, name)["area"].values for name in ("by_f", "by_phi", "drop"))
    assert by_f.size == by_phi.size == 10
    np.testing.assert_allclose(by_f, 4 * np.pi * 0.15**2, rtol=0.05)
    np.testing.assert_allclose(by_phi, by_f, rtol=0.02)
    np.testing.assert_allclose(drop, by_phi[::2], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "stopped"), [
    ((2, 1, 2), {}), pytest.param((1, 2, 3), {"stop": 4}, marks=pytest.mark.slow),
])  # fmt: skip
def test_the_bits_depend_neither_on_blocks_nor_on_a_restart(blocks, stopped, whole, tmp_path):
    drop = case(**FOLLOWED)
    if stopped:
        go(drop, tmp_path / "run", **stopped)
    go(drop, tmp_path / "run", blocks, resume=bool(stopped))
    for group in GROUPS:
        xr.testing.assert_identical(found(tmp_path / "run", group).drop_attrs(), found(whole, group).drop_attrs())


def test_a_phase_ends_where_its_box_does(tmp_path):
    """All that is around it lies in the phase, too, but for the lowest cells of the box."""
    box = {"name": "part", "phase": 1, "box": [[0.2, 0.1, 0.15], [0.4, 0.3, 0.4]]}
    go(case(phases=[box], time={"steps": 1}), tmp_path / "run")
    part = found(tmp_path / "run", "part").isel(time=0)
    ends = [float(part[f"extent_{axis}_{end}"]) for end in ("min", "max") for axis in "xyz"]
    f = found(tmp_path / "run").f.isel(time=0).sel(x_c=0.275, y_c=0.175, method="nearest")
    lowest = float(np.interp(0.5, f.values[:7], f.z_c.values[:7]))  # of the droplet, in the centres of cells
    np.testing.assert_allclose(ends, [0.2, 0.1, lowest, 0.4, 0.3, 0.4], rtol=0, atol=1e-3)
