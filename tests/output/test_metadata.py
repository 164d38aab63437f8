"""Staggering as others read it: xgcm builds its grid from the store without being told anything."""

import numpy as np
import pytest

from taskflow.output import Layout, create, dataset
from tests.output.conftest import layout_of

xgcm = pytest.importorskip("xgcm")

ALL_WALLS, ALL_PERIODIC = (False, False, False), (True, True, True)


@pytest.mark.parametrize("periodic", [ALL_WALLS, ALL_PERIODIC, (False, True, False)])
def test_xgcm_finds_axes_and_positions(written, periodic):
    grid = xgcm.Grid(dataset(written(layout_of(periodic=periodic))))
    assert set(grid.axes) == {"X", "Y", "Z"}
    for name, closed in zip("xyz", periodic, strict=True):
        face = "left" if closed else "outer"
        assert dict(grid.axes[name.upper()].coords) == {"center": f"{name}_c", face: f"{name}_f"}


def test_xgcm_differences_of_faces_lie_in_centres(written):
    ds = dataset(written(layout_of()))
    grid = xgcm.Grid(ds)
    for axis, field in zip("XYZ", "uvw", strict=True):
        assert grid.diff(ds[field], axis).dims == ("time", "z_c", "y_c", "x_c")
    np.testing.assert_array_equal(grid.diff(ds.u, "X"), ds.u.diff("x_f"))
    np.testing.assert_array_equal(grid.interp(ds.w, "Z"), (ds.w[:, 1:].values + ds.w[:, :-1].values) / 2)


def test_xgcm_goes_round_a_periodic_direction(written):
    ds = dataset(written(layout_of(periodic=ALL_PERIODIC)))
    right = xgcm.Grid(ds, padding="periodic").interp(ds.u, "X")
    np.testing.assert_array_equal(right, (ds.u.values + np.roll(ds.u.values, -1, axis=-1)) / 2)


def test_the_topology_follows_sgrid(written):
    ds = dataset(written(layout_of(periodic=(False, True, False))))
    assert "SGRID" in ds.attrs["Conventions"]
    assert ds.grid.attrs["node_dimensions"] == "x_f y_f z_f"
    cells = "x_c: x_f (padding: none) y_c: y_f (padding: high) z_c: z_f (padding: none)"
    assert ds.grid.attrs["volume_dimensions"] == cells
    assert ds.grid.attrs["face2_dimensions"] == "x_c: x_f (padding: none) y_f z_c: z_f (padding: none)"
    assert [ds[name].attrs["location"] for name in "uvwp"] == ["face1", "face2", "face3", "volume"]


def test_a_field_that_nobody_described_lives_in_centres(written):
    ds = dataset(written(layout_of(fields=("T",))))
    assert ds["T"].attrs["long_name"] == "temperature"
    assert Layout(cells=(1, 1, 1), lengths=(1.0, 1.0, 1.0)).dims("phi") == ("z_c", "y_c", "x_c")


def test_attributes_are_numbers_and_text_as_netcdf_wants_them(tmp_path):
    attributes = {"threads": np.int64(2), "where": tmp_path, "rate": np.nan, "blocks": (1, 1, 2), "versions": {"a": 1}}
    create(tmp_path / "s", layout_of(), attributes)
    found = dataset(tmp_path / "s").attrs
    expected = {"threads": 2, "where": str(tmp_path), "rate": "null", "blocks": "[1, 1, 2]", "versions": '{"a": 1}'}
    assert found == {"Conventions": found["Conventions"], **expected}
