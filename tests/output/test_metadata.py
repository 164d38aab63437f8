"""Metadata as others read them: xgcm builds its grid from the store without being told anything, and Zarr finds the
copies that it would have made.
"""

import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
import zarr

from taskflow.output import (
    FieldMetadata,
    TimeSeries,
    create,
    create_time_series,
    dataset,
    statistics_metadata,
)
from taskflow.output.store.groups import consolidate
from tests.output import on_charts
from tests.output.conftest import WRITTEN, layout_of

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


def test_fields_have_the_metadata_that_a_system_gives(tmp_path):
    phi, f = FieldMetadata("distance from the surface", "m"), FieldMetadata("flux", "m3 s-1", "fy")
    create(tmp_path / "s", replace(layout_of(), fields={"phi": phi, "f": f}), WRITTEN)
    ds = dataset(tmp_path / "s")
    assert ds.phi.dims == ("time", "z_c", "y_c", "x_c")
    assert ds.f.dims == ("time", "z_c", "y_f", "x_c")
    about = {"grid": "grid", "location": "volume"}
    assert ds.phi.attrs == {"long_name": "distance from the surface", "units": "m", **about}
    assert ds.f.attrs == {"long_name": "flux", "units": "m3 s-1", "grid": "grid", "location": "face2"}


def test_statistics_have_words_and_units_of_their_fields():
    fields = {"phi": FieldMetadata("phi", "m"), "q": FieldMetadata("q"), "u": FieldMetadata("speed", "m s-1", "fx")}
    pairs = {"cov_phi_phi": ("phi", "phi"), "cov_phi_u": ("phi", "u"), "cov_q_q": ("q", "q")}
    metadata = statistics_metadata(fields, {"mean_u": "u"}, pairs, {"mean_rate": "a rate"})
    assert metadata == {
        "mean_u": FieldMetadata("mean in time of speed", "m s-1", "c", "time: mean"),
        "cov_phi_phi": FieldMetadata("variance in time of phi", "m m", "c", "time: variance"),
        "cov_phi_u": FieldMetadata("covariance in time of phi and speed", "m m s-1"),
        "cov_q_q": FieldMetadata("variance in time of q", "1", "c", "time: variance"),
        "mean_rate": FieldMetadata("a rate", "1", "c", "time: mean"),
    }


def test_attributes_are_numbers_and_text_as_netcdf_wants_them(tmp_path):
    attributes = {"threads": np.int64(2), "where": tmp_path, "rate": np.nan, "blocks": (1, 1, 2), "versions": {"a": 1}}
    create(tmp_path / "s", layout_of(), attributes)
    result = dataset(tmp_path / "s").attrs
    expected = {"threads": 2, "where": str(tmp_path), "rate": "null", "blocks": "[1, 1, 2]", "versions": '{"a": 1}'}
    assert result == {"Conventions": result["Conventions"], **expected}


def test_copies_of_metadata_are_those_that_zarr_makes(tmp_path):
    path = tmp_path / "s"
    create(path, on_charts.layout_of(on_charts.grid_of("annulus")), WRITTEN)
    create_time_series(path, TimeSeries.of_numbers("front", {"area": "area"}, {}), WRITTEN)
    files = path / "zarr.json", path / "front" / "zarr.json"
    ours = [json.loads(file.read_text()) for file in files]
    assert {"charts/3/p", "front", "front/area"} <= set(ours[0]["consolidated_metadata"]["metadata"])
    for group in ("front", ""):
        with pytest.warns(match="Consolidated metadata"):
            zarr.consolidate_metadata(str(path), path=group)
    assert ours == [json.loads(file.read_text()) for file in files]


def test_threads_keep_the_filters_of_warnings(tmp_path):
    """They are the process's: threads that change them for a while restore each other's."""
    before = list(warnings.filters)

    def write(name: str) -> None:
        create(tmp_path / name, layout_of(), WRITTEN)
        for _ in range(20):
            consolidate(tmp_path / name)

    with ThreadPoolExecutor() as threads:
        list(threads.map(write, "abcd"))  # pytest makes an error of a warning
    assert warnings.filters == before
