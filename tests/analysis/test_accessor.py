"""`ds.flow` of a run: what is not there is told, and pictures are drawn."""

import subprocess
import sys

import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.output import dataset


@pytest.mark.parametrize(("asked", "told"), [
    (lambda flow: flow.wall_shear("x_min"), "choose one of z_min, z_max"),
    (lambda flow: flow.nusselt("up"), "there is no wall"),
    (lambda flow: flow.spectrum("u", "z"), "spectra are along periodic directions; this run has x, y"),
    (lambda flow: flow.energy_spectrum(), "choose one, as ds.isel"),
    (lambda flow: flow.profiles("z"), "these are no statistics"),
    (lambda flow: flow.spectrum("p", "x"), "there is no p in this dataset"),
])  # fmt: skip
def test_what_is_not_there_is_told(asked, told, warm):
    with pytest.raises(BadInput, match=told):
        asked(dataset(warm / "fields.zarr").flow)


@pytest.mark.parametrize("part", [
    lambda ds: ds[["u"]], lambda ds: ds.mean("x_c"), lambda ds: ds.mean(["x_c", "x_f"]), lambda ds: ds[[]],
])  # fmt: skip
def test_parts_that_are_of_no_cells_are_told(part, warm):
    """Where centres or faces have gone with the fields that were left out, or with a mean."""
    flow = part(dataset(warm / "fields.zarr")).flow
    for asked in (
        flow.velocity, flow.vorticity, flow.q_criterion, flow.plane, flow.streamlines, flow.interface,
        lambda: flow.wall_shear("z_min"), lambda: flow.nusselt("z_min"), lambda: flow.spectrum("u", "x"),
        lambda: flow.cospectrum("u", "w", "x"), flow.energy_spectrum, lambda: flow.compare("table.csv"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=r"has no .*, places of cells; ask snapshots"):
            asked()


def test_one_time_has_no_others(warm):
    flow = dataset(warm / "fields.zarr").isel(time=-1).flow
    assert len(flow.interface(field="T", value=0.5).vertices)
    with pytest.raises(BadInput, match=r"time = 0\.1: this dataset has one time; omit it"):
        flow.interface(0.1, "T")


def test_what_was_recorded_beside_snapshots_lies_on_the_same_cells(warm):
    """Statistics, planes and probes of a stretched grid."""
    ds, store = dataset(warm / "fields.zarr").load(), warm / "fields.zarr"
    mean, layer = dataset(store, "statistics"), dataset(store, "layer").load()
    first, last = ds.flow.velocity().u[[0, -1]].values
    np.testing.assert_allclose(mean.mean_u[0], (first + last) / 2, rtol=1e-13, atol=1e-15)  # two samples, a trapezoid
    words = [ds.w, mean.mean_u, mean.cov_u_w, layer["T"], dataset(store, "here")["T"]]
    assert [field.attrs["long_name"] for field in words] == [
        "velocity along z", "mean in time of velocity along x",
        "covariance in time of velocity along x and velocity along z", "temperature", "temperature",
    ]  # fmt: skip
    assert mean.flow.profiles("z").mean_u.sizes["z_c"] == 9
    index = int(np.abs(ds.z_c.values - 0.1).argmin())
    np.testing.assert_array_equal(layer["T"][-1, 0], ds["T"][-1, index])
    np.testing.assert_array_equal([layer.z_f[0], layer.z_c[0]], [ds.z_f[index], ds.z_c[index]])
    beside = ds["T"][0].interp(x_c=0.3, y_c=0.3, z_c=0.05)
    assert dataset(store, "here")["T"][0, 0].item() == pytest.approx(float(beside), rel=1e-13)


def test_streamlines_are_drawn(warm):
    ds = dataset(warm / "fields.zarr")
    for flow in (ds.flow, ds.mean("time").flow):
        assert flow.streamlines("y").axes[0].collections


def test_a_run_loads_neither_pictures_nor_the_analysis():
    heavy = "{'matplotlib', 'xarray', 'xgcm'}"
    script = f"import sys, taskflow.runs.block.job, taskflow.runs.run; print(*{heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not done.stdout.split()
