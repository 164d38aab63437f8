"""Probes and planes: the right values at the right places and times, whatever the blocks and whatever breaks off."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.systems.records.series import corners
from tests.runs.going_on import found, go
from tests.runs.test_restart import stirred

POINTS = [[0.31, 0.36, 0.4], [0.93, 0.68, 1.29], [0.0, 0.7, 0.0]]
FOLLOWED = {
    "probes": [{"name": "three", "points": POINTS, "every": {"steps": 2}},
               {"name": "line", "line": {"low": [0.5, 0.3, 0], "high": [0.5, 0.3, 1.3], "points": 5}, "fields": ["w"]}],
    "planes": [{"name": "across-z", "z": 0.75, "every": {"steps": 3}},
               {"name": "across-x", "x": 0.99, "every": {"steps": 3}, "fields": ["u", "T"]}],
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run with all of them in one block, every step a snapshot."""
    path = tmp_path_factory.mktemp("whole") / "run"
    go(stirred(output={"precision": "double", "every": {"steps": 1}}, **FOLLOWED), path)
    return path


@pytest.mark.parametrize("ends", ["ghost", "sides", "linear", "nearest"])
def test_corners_are_exact_for_what_is_linear(ends):
    """Between the places of a field; up to walls but for the `nearest` value."""
    grid = StaggeredGrid((4, 5, 3), (1.0, 2.0, 1.5), (0.1, -1.0, 0.0), (False, False, False))
    inside, whole = ([0.25, -0.8, 0.25], [0.95, 0.8, 1.25]), ([0.1, -1.0, 0.0], [1.1, 1.0, 1.5])
    points = np.random.default_rng(1).uniform(*(inside if ends == "nearest" else whole), (200, 3))
    for location in ("c", "fx", "fy", "fz"):
        made = corners(grid, location, points, ends)
        places = [grid.coordinates(location, axis, -1, 7)[made.cells[..., axis] + 1] for axis in range(3)]
        np.testing.assert_allclose(made.weights.sum(axis=1), 1.0, rtol=1e-14)
        for axis, item in enumerate(places):
            np.testing.assert_allclose((made.weights * item).sum(axis=1), points[:, axis], rtol=0, atol=4e-15)
        last = [len(grid.coordinates(location, axis)) - 1 for axis in range(3)]
        outside = ((made.cells < 0) | (made.cells > last)).sum(axis=2)
        assert outside.max() == (3 - (location != "c") if ends in ("ghost", "sides") else 0)
        assert ends != "sides" or not made.weights[outside > 1].any()
    beyond = corners(grid, "c", np.array([[0.1, -1.0, 1.5]]), "nearest")
    assert (beyond.cells[0] * (beyond.weights[0] > 0)[:, None]).sum(axis=0).tolist() == [0, 0, 2]


def test_corners_go_round_periodic_directions():
    grid = StaggeredGrid((4, 1, 1), (1.0, 1.0, 1.0), periodic=(True, True, True))
    made = corners(grid, "c", np.array([[0.0, 0.5, 0.5], [0.95, 0.5, 0.5]]), "ghost")
    for cells, weights, expected in zip(made.cells, made.weights, ({3: 0.5, 0: 0.5}, {3: 0.7, 0: 0.3}), strict=True):
        shares = {n: weights[cells[:, 0] == n].sum() for n in expected}
        assert shares == pytest.approx(expected, abs=1e-14)
    face = corners(grid, "fx", np.array([[0.9, 0.5, 0.5]]), "ghost")
    assert {n: face.weights[0][face.cells[0][:, 0] == n].sum() for n in (3, 0)} == pytest.approx({3: 0.4, 0: 0.6})


def test_probes_have_what_lies_between_the_points_of_snapshots(whole):
    """As xarray interpolates them, where that does not reach beyond the outermost points."""
    ds, snapshots = found(whole, "three"), found(whole)
    np.testing.assert_array_equal(ds.time, snapshots.time[::2])
    np.testing.assert_array_equal(np.stack([ds.x, ds.y, ds.z], axis=1), POINTS)
    for name in ("u", "v", "w", "p", "T"):
        z, y, x = snapshots[name].dims[1:]
        expected = snapshots[name][::2].interp({x: 0.31, y: 0.36, z: 0.4})
        np.testing.assert_allclose(ds[name][:, 0], expected, rtol=0, atol=1e-14)


BOX = {"x_min": {"type": "wall", "temperature": "2 + t"}, "x_max": {"type": "wall", "temperature": 1.0},
       "y_min": {"type": "wall", "velocity": [0.0, 0.0, 4.0], "temperature": "x"}, "y_max": "slip",
       "z_min": {"type": "wall", "heat_flux": 0.5}, "z_max": {"type": "wall", "velocity": ["1 + x", 0.0, 0.0]}}
CHANNEL = {"x_min": {"type": "inflow", "velocity": ["1 + z", 0.0, 0.0], "temperature": 7.0}, "x_max": "outflow",
           "y_min": "wall", "y_max": {"type": "wall", "velocity": [0.5, 0.0, 0.0], "temperature": 3.0},
           "z_min": "slip", "z_max": {"type": "wall", "temperature": 4.0}}  # fmt: skip


@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 2)])
@pytest.mark.fast("blocks0")
def test_probes_on_walls_have_what_the_walls_have(tmp_path, blocks):
    """Also where walls change in time and in place; on sides that prescribe a flux what their ghost values say."""
    tables = {
        "grid": {"cells": [8, 6, 8], "lengths": [1.0, 1.0, 1.0], "stretching": {"z": {"tanh": 1.5}}},
        "fluid": {"viscosity": 0.1}, "heat": {"diffusivity": 0.1, "expansion": 0.0},
        "time": {"steps": 3, "step": 1e-3}, "output": {"precision": "double"}, "initial": {"temperature": 2.0},
        "machine": {"device": "cpu", "threads": 1},
    }  # fmt: skip
    points = {"left": [0, 0.5, 0.4], "right": [1, 0.5, 0.4], "front": [0.25, 0, 0.4], "bottom": [0.4, 0.5, 0],
              "top": [0.3, 0.5, 1], "corner": [1, 0.5, 1]}  # fmt: skip
    probes = [{"name": "walls", "points": list(points.values()), "every": {"steps": 3}}]
    go(Case(boundaries=BOX, probes=probes, **tables), tmp_path / "box", blocks)
    ds = found(tmp_path / "box", "walls").isel(time=-1)
    at = {name: ds.isel(point=n) for n, name in enumerate(points)}
    assert float(at["left"].T) == pytest.approx(2.003, rel=1e-12)
    assert float(at["right"].T) == pytest.approx(1.0, rel=1e-12)
    assert float(at["front"].T) == pytest.approx(0.25, rel=1e-2)  # between the values on two faces
    assert float(at["front"].w) == pytest.approx(4.0, rel=1e-12)
    assert float(at["top"].u) == pytest.approx(1.3, rel=1e-12)
    assert float(at["bottom"].T) > 2.0  # heat comes in
    for name in ("left", "right", "bottom"):
        assert max(abs(float(at[name][field])) for field in "uvw") < 1e-12
    go(Case(boundaries=CHANNEL, probes=probes, **tables), tmp_path / "channel", blocks)
    ds = found(tmp_path / "channel", "walls").isel(time=-1)
    assert all(np.isfinite(ds[field].values).all() for field in "uvwpT")
    at = {name: ds.isel(point=n) for n, name in enumerate(points)}
    assert float(at["left"].u) == pytest.approx(1.4, rel=2e-2)
    assert float(at["left"].T) == pytest.approx(7.0, rel=1e-12)
    assert float(at["top"].T) == pytest.approx(4.0, rel=1e-12)


def test_a_line_has_its_ends_and_the_velocity_at_walls(whole):
    ds, snapshots = found(whole, "line"), found(whole)
    np.testing.assert_allclose(ds.z, [0.0, 0.325, 0.65, 0.975, 1.3])
    assert set(ds.data_vars) == {"w"}
    assert not ds.w[:, 0].any()
    assert not ds.w[:, -1].any()
    assert ds.sizes["time"] == 1 + (snapshots.sizes["time"] - 1) // 10


def test_planes_are_layers_of_snapshots(whole):
    snapshots = found(whole).isel(time=slice(None, None, 3))
    across_z, across_x = found(whole, "across-z"), found(whole, "across-x")
    metrics = {"dx", "dx_f", "dy", "dy_f", "dz", "dz_f"}
    assert set(across_z.data_vars) == {"grid", "u", "v", "w", "p", "T", *metrics}
    for name in metrics:
        layer = snapshots[name].isel(z_c=[5], z_f=[5], missing_dims="ignore")
        xr.testing.assert_identical(across_z[name].drop_attrs(), layer.drop_attrs())
    for name in ("u", "v", "w", "p", "T"):
        layer = {"z_f" if name == "w" else "z_c": [5]}
        xr.testing.assert_identical(across_z[name].drop_attrs(), snapshots[name].isel(layer).drop_attrs())
    xr.testing.assert_identical(across_x["u"].drop_attrs(), snapshots["u"].isel(x_f=[7]).drop_attrs())
    xr.testing.assert_identical(across_x["T"].drop_attrs(), snapshots["T"].isel(x_c=[7]).drop_attrs())


def assert_same(path, whole) -> None:
    """Whether all groups have the same records, to the bit."""
    for group in ("three", "line", "across-z", "across-x"):
        xr.testing.assert_identical(found(path, group).drop_attrs(), found(whole, group).drop_attrs())


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "stopped"), [
    ((2, 1, 2), {}), pytest.param((1, 1, 1), {"stop": 4}, marks=pytest.mark.slow),
    pytest.param((1, 1, 3), {"kill": 7}, marks=pytest.mark.slow),
])  # fmt: skip
def test_the_bits_depend_neither_on_blocks_nor_on_what_broke_off(blocks, stopped, whole, tmp_path):
    case = stirred(output={"precision": "double"}, **FOLLOWED)
    if stopped:
        go(case, tmp_path / "run", **stopped)
    go(case, tmp_path / "run", blocks, resume=bool(stopped))
    assert_same(tmp_path / "run", whole)


def test_many_records_are_written_at_once(tmp_path, monkeypatch):
    """So many as a file holds, the rest before a checkpoint and at the end."""
    monkeypatch.setattr("taskflow.output.store.time_series.LONGEST", 2)
    probe = {"name": "here", "points": POINTS, "every": {"steps": 1}, "fields": ["p"]}
    go(stirred(probes=[probe]), tmp_path / "run", (1, 1, 2))
    ds = found(tmp_path / "run", "here")
    assert ds.sizes == {"time": 10, "point": 3}
    assert ds.notnull().all()
    assert len(list((tmp_path / "run" / "fields.zarr" / "here" / "p" / "c").rglob("*/0"))) == 5


@pytest.mark.slow
def test_what_is_followed_may_change_when_a_run_goes_on(tmp_path):
    """A group that is no longer asked for stays; one of other places begins anew."""
    probes = [{"name": "a", "points": POINTS}, {"name": "b", "points": POINTS}]
    go(stirred(probes=probes), tmp_path / "run")
    later = [{"name": "b", "points": POINTS[:1], "every": {"steps": 1}}]
    go(stirred(probes=later, time={"steps": 11}), tmp_path / "run", (1, 1, 2), resume=True)
    assert found(tmp_path / "run", "a").sizes == {"time": 1, "point": 3}
    assert found(tmp_path / "run", "b").sizes == {"time": 2, "point": 1}


@pytest.mark.parametrize(("tables", "told"), [
    ({"probes": [{"name": "a"}]}, "probes[1].points: missing; give a list of points, or a line"),
    ({"probes": [{"name": "a", "points": [[0, 0, 9]]}]}, "beyond the domain"),
    ({"probes": [{"name": "u", "points": POINTS}]}, 'probes[1].name = "u": another entry of the store has this name'),
    ({"planes": [{"name": "a", "x": 1, "every": 1.0}] * 2}, 'planes[2].name = "a": another entry of the store'),
    ({"planes": [{"name": "a", "x": 0.1, "y": 0.1, "every": 1.0}]}, "planes[1].y = 0.1: x is given as well"),
    ({"planes": [{"name": "a", "x": 0.1}]}, "planes[1].every: missing; give an interval"),
    ({"planes": [{"name": "a", "side": "x_min", "every": 1.0}]},
     'planes[1].side = "x_min": not supported by the model "projection"; omit it, or use the model "artificial'),
    ({"planes": [{"name": "a", "x": 7, "every": 1.0}]}, "planes[1].x = 7.0: beyond the domain, where x goes from"),
    ({"planes": [{"name": "a", "x": 1, "every": 1.0, "fields": ["c"]}]}, 'this case has no field "c"'),
])  # fmt: skip
def test_what_cannot_be_followed_is_refused(tables, told):
    with pytest.raises(BadInput) as refused:
        stirred(**tables)
    assert told in str(refused.value)
