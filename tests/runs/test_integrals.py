"""Integrals over surfaces: the right numbers at the right times, whatever the blocks and whatever breaks off."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from taskflow.common.errors import BadInput
from taskflow.output import Checkpoint
from taskflow.runs.state.restart import RestartPoint
from tests.runs.going_on import found, go
from tests.runs.test_restart import stirred

FOLLOWED = {
    "surfaces": [{"name": "plane", "z": 0.7, "every": {"steps": 2}}, {"name": "end", "y": 0.7, "every": {"steps": 9}},
                 {"name": "box", "box": [[0.2, 0.1, 0.0], [0.8, 0.7, 1.0]], "every": {"steps": 3}},
                 {"name": "everything", "box": [[0.0, 0.0, 0.0], [1.0, 0.7, 1.3]], "every": {"steps": 9}}],
    "isosurfaces": [{"name": "front", "field": "T", "value": 0.5, "every": {"steps": 2}}],
}  # fmt: skip


def test_a_surface_does_not_go_on_with_the_records_of_a_plane():
    plane, surface = (stirred(**{kind: [{"name": "a", "z": 0.7, "every": 3}]}) for kind in ("planes", "surfaces"))
    state = {"time": 0.1, "dt": 0.01, "ended": None, "steady": None, "averages": {}, "case": plane.to_toml()}
    state["records"] = {"": 1, "a": 1}
    before = Checkpoint(Path("step-4"), 4, state, ())
    assert "a" in RestartPoint.of(before, plane).kept
    assert "a" not in RestartPoint.of(before, surface).kept


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run with all of them in one block, every step a snapshot."""
    path = tmp_path_factory.mktemp("whole") / "run"
    go(stirred(output={"precision": "double", "every": {"steps": 1}}, **FOLLOWED), path)
    return path


@pytest.mark.slow
def test_a_plane_has_what_passes_its_faces(whole):
    ds, snapshots = found(whole, "plane"), found(whole)
    np.testing.assert_array_equal(ds.time, snapshots.time[::2])
    assert ds.volume_flux.dims == ("time", "side")
    assert ds.z.item() == pytest.approx(5 * 1.3 / 9)
    assert (ds.normal_z.item(), ds.area.item()) == (1.0, pytest.approx(0.7))
    area = 0.7 / 40
    passing = area * snapshots.w[::2, 5].sum(["y_c", "x_c"])
    np.testing.assert_allclose(ds.volume_flux[:, 0], passing, rtol=1e-12)
    heat = snapshots.w[:, 5] * (snapshots.T[:, 4] + snapshots.T[:, 5]) / 2 - 0.02 * (
        snapshots.T[:, 5] - snapshots.T[:, 4]
    ) * 9 / 1.3
    np.testing.assert_allclose(ds.flux_T[:, 0], area * heat[::2].sum(["y_c", "x_c"]), rtol=1e-11)


def test_a_box_has_six_sides_and_what_leaves_through_them(whole):
    ds, snapshots = found(whole, "box"), found(whole)[{"time": slice(None, None, 3)}]
    inside = {"z": slice(0, 7), "y": slice(1, 5), "x": slice(2, 6)}
    areas = {"z": 0.7 / 40, "y": 1.3 / 72, "x": 0.7 * 1.3 / 45}
    for n, (axis, name) in enumerate(zip("xyz", "uvw", strict=True)):
        across = {f"{a}_c": part for a, part in inside.items() if a != axis}
        ends = inside[axis].start, inside[axis].stop % (5 if axis == "y" else 99)
        for side, (face, sign) in enumerate(zip(ends, (-1, 1), strict=True)):
            passing = snapshots[name].isel({f"{axis}_f": face, **across}).sum(list(across)) * areas[axis] * sign
            np.testing.assert_allclose(ds.volume_flux[:, 2 * n + side], passing, rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose((ds.normal_x * ds.area).sum(), 0.0, atol=1e-15)


def test_the_whole_domain_gets_the_heat_of_its_walls(whole):
    """Through y, which is periodic, as much leaves as enters, and the last face is the first."""
    last, end = (found(whole, name).isel(time=-1) for name in ("everything", "end"))
    assert end.y.item() == 0.0
    np.testing.assert_array_equal(end.momentum_flux_y, -last.momentum_flux_y[2:3])
    assert not last.volume_flux[[0, 1, 4, 5]].any()
    leaves, enters = last.flux_T.values[2:4]
    assert leaves == -enters
    assert last.flux_T[4].item() == pytest.approx(-0.3 * 0.7, rel=1e-10)  # z_min: heat_flux 0.3


def test_an_isosurface_has_one_number(whole):
    ds = found(whole, "front")
    assert ds.area.dims == ("time",)
    assert (ds.area > 0.2).all()
    assert (ds.attrs["field"], ds.attrs["value"]) == ("T", 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "stopped"), [((2, 1, 2), {}), ((1, 1, 3), {"kill": 7})])
def test_the_bits_depend_neither_on_blocks_nor_on_what_broke_off(blocks, stopped, whole, tmp_path):
    case = stirred(output={"precision": "double"}, **FOLLOWED)
    if stopped:
        go(case, tmp_path / "run", **stopped)
    go(case, tmp_path / "run", blocks, resume=bool(stopped))
    for group in ("plane", "end", "box", "everything", "front"):
        one, other = (found(path, group).drop_attrs() for path in (tmp_path / "run", whole))
        xr.testing.assert_identical(one, other)


@pytest.mark.parametrize(("tables", "told"), [
    ({"surfaces": [{"name": "a"}]}, "surfaces[1].z: missing; give x, y or z, where a plane is, or a box"),
    ({"surfaces": [{"name": "a", "x": 0.1, "y": 0.1}]}, "surfaces[1].y = 0.1: x is given as well"),
    ({"surfaces": [{"name": "a", "x": 7}]}, "surfaces[1].x = 7.0: beyond the domain, where x goes from"),
    ({"surfaces": [{"name": "T", "x": 0.5}]}, 'surfaces[1].name = "T": another entry of the store has this name'),
    ({"surfaces": [{"name": "a", "box": [[0, 0, 0], [1, 1, 1]]}]}, "beyond the domain"),
    ({"surfaces": [{"name": "a", "box": [[0, 0, 0], [1, 0.01, 1]]}]}, "nearest to the same face across y"),
    ({"isosurfaces": [{"name": "a", "field": "u", "value": 1}]},
     "a surface is of T, a scalar or a derived field; give T"),
    ({"isosurfaces": [{"name": "a", "field": "T"}]}, "isosurfaces[1].value: missing; give the value on the surface"),
])  # fmt: skip
def test_what_cannot_be_measured_is_refused(tables, told):
    with pytest.raises(BadInput) as refused:
        stirred(**tables)
    assert told in str(refused.value)
