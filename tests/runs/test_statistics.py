"""Statistics of a run: of the right samples, kept through what breaks a run off, in the store with what they are."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.output import dataset
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Mapper
from taskflow.runtime.proof import Hardware, prove
from tests.runs.going_on import assert_same_run, go
from tests.runs.test_restart import stirred

ALL = ["u", "v", "w", "p", "T"]


def averaged(**changes) -> Case:
    """A stirred flow with statistics; every step is a snapshot."""
    every = {"statistics": {"every": {"steps": 1}}, "output": {"precision": "double", "every": {"steps": 1}}}
    return stirred(**{**every, **changes})


def found(path) -> xr.Dataset:
    with dataset(path / "fields.zarr", "statistics") as ds:
        return ds.load()


def in_centres(snapshots: xr.Dataset, name: str) -> np.ndarray:
    """A field of all snapshots in cell centres."""
    values = snapshots[name].values
    for axis, dim in enumerate(snapshots[name].dims):
        if str(dim).endswith("_f"):
            closed = snapshots.sizes[dim] == snapshots.sizes[f"{dim[0]}_c"]
            high = np.roll(values, -1, axis) if closed else values.take(range(1, values.shape[axis]), axis)
            values = (values.take(range(high.shape[axis]), axis) + high) / 2
    return values


def trapezoids(start, times):
    """The weights of samples: half of its interval the first and the last one, its own the others."""
    weights = np.diff(times, prepend=times[0])
    weights[0] = times[0] - start + (times[1] - times[0]) / 2
    weights[-1] /= 2
    return weights


def test_the_mean_of_the_time_is_that_of_the_middle(tmp_path):
    """By the trapezoidal rule, also in records on the way; by sums at the ends of intervals it is too late."""
    case = Case(
        grid={"cells": [4, 4, 4], "lengths": [1.0, 1.0, 1.0]}, fluid={"viscosity": 0.1},
        boundaries=dict.fromkeys("xyz", "periodic"), scalars=[{"name": "c", "diffusivity": 0.0, "source": 1.0}],
        statistics={"every": {"steps": 2}, "fields": ["c"], "write": {"steps": 4}}, time={"steps": 8, "step": 0.01},
        output={"precision": "double"}, machine={"device": "cpu"},
    )  # fmt: skip
    go(case, tmp_path / "run", (1, 1, 2))
    ds = found(tmp_path / "run")
    np.testing.assert_allclose(ds.time, [0.04, 0.08])
    for n, end in enumerate(ds.time.values):
        np.testing.assert_allclose(ds.mean_c[n], end / 2, rtol=1e-12)
        times, weights = np.linspace(0.0, end, 2 * n + 3), np.array([0.5, *np.ones(2 * n + 1), 0.5])
        np.testing.assert_allclose(ds.cov_c_c[n], np.average((times - end / 2) ** 2, weights=weights), rtol=1e-11)


@pytest.mark.parametrize(("start", "every"), [(0.0, 1), (0.13, 2)])
@pytest.mark.fast("0.13-2")
def test_they_are_those_of_the_snapshots(start, every, tmp_path):
    case = averaged(statistics={"start": start, "every": {"steps": every}})
    go(case, tmp_path / "run", (1, 1, 2))
    ds = found(tmp_path / "run").isel(time=-1)
    with dataset(tmp_path / "run" / "fields.zarr") as snapshots:
        times, last = snapshots.time.values, snapshots.sizes["time"] - 1
        first = next(n for n, time in enumerate(times) if time >= start)
        steps = [n for n in range(first, last + 1) if n in (first, last) or n % every == 0]
        chosen = snapshots.isel(time=steps).load()
        weights = trapezoids(start, chosen.time.values)
        series = {name: in_centres(chosen, name) for name in ALL}
    assert ds.samples == len(steps)
    assert ds.since == start
    assert ds.time == chosen.time[-1]
    means = {name: np.average(values, axis=0, weights=weights) for name, values in series.items()}
    for n, a in enumerate(ALL):
        np.testing.assert_allclose(ds[f"mean_{a}"], means[a], rtol=0, atol=1e-13)
        for b in ALL[n:]:
            product = np.average((series[a] - means[a]) * (series[b] - means[b]), axis=0, weights=weights)
            np.testing.assert_allclose(ds[f"cov_{a}_{b}"], product, rtol=0, atol=1e-13)


def test_what_they_are_is_told(tmp_path):
    go(stirred(statistics={"order": 1, "fields": ["T"], "every": {"steps": 4}}), tmp_path / "run")
    ds = found(tmp_path / "run")
    metrics = {"dx", "dx_f", "dy", "dy_f", "dz", "dz_f"}
    assert set(ds.data_vars) == {"mean_T", "grid", "since", "samples", *metrics}
    assert ds.mean_T.dims == ("time", "z_c", "y_c", "x_c")
    assert ds.mean_T.attrs["long_name"] == "mean in time of temperature"
    assert ds.mean_T.attrs["cell_methods"] == "time: mean"
    assert ds.samples.item() == 4  # of steps 0, 4, 8 and the last one


@pytest.mark.slow
def test_they_do_not_change_the_flow(tmp_path):
    go(stirred(), tmp_path / "one")
    go(averaged(output=stirred().output), tmp_path / "other")
    assert_same_run(tmp_path / "one", tmp_path / "other")


@pytest.mark.slow
@pytest.mark.parametrize(("stopped", "blocks"), [({"stop": 5}, (1, 1, 1)), ({"kill": 7}, (2, 1, 2))])
def test_a_run_that_was_broken_off_has_the_same_ones(stopped, blocks, tmp_path):
    """To the bit, and no record of the moment at which it was stopped, on the same or on other blocks."""
    table = {"every": {"steps": 2}, "write": {"steps": 3}, "fields": ["u", "v", "w"]}
    case = averaged(statistics=table, output=stirred().output)
    go(case, tmp_path / "whole")
    go(case, tmp_path / "run", **stopped)
    go(case, tmp_path / "run", blocks, resume=True)
    assert found(tmp_path / "run").sizes["time"] == 3
    xr.testing.assert_identical(found(tmp_path / "run").drop_attrs(), found(tmp_path / "whole").drop_attrs())


def test_an_interrupted_run_has_those_so_far(tmp_path):
    case = averaged(statistics={"every": {"steps": 2}})
    go(case, tmp_path / "run", stop=5)
    assert found(tmp_path / "run").samples.values.tolist() == [4]  # it ends with step 6


@pytest.mark.slow
@pytest.mark.parametrize("before", [{}, {"statistics": {"fields": ["T"]}}])
def test_they_can_be_begun_or_changed_when_a_run_goes_on(before, tmp_path):
    """Of the whole flow from then on; what was written of others is gone."""
    go(stirred(**before), tmp_path / "run")
    later = stirred(time={"steps": 12}, statistics={"every": {"steps": 1}, "fields": ["T", "p"]})
    go(later, tmp_path / "run", (1, 1, 2), resume=True)
    ds = found(tmp_path / "run")
    with dataset(tmp_path / "run" / "fields.zarr") as snapshots:
        assert ds.since.item() == snapshots.time[3].item()
    assert ds.samples.item() == 3
    assert set(ds.data_vars) >= {"mean_p", "cov_p_T"}


@pytest.mark.slow
def test_they_stay_where_a_run_goes_on_without_them(tmp_path):
    go(stirred(statistics={"fields": ["T"]}, time={"steps": 10}), tmp_path / "run")
    before = found(tmp_path / "run")
    go(stirred(time={"steps": 12}), tmp_path / "run", (2, 1, 2), resume=True)
    xr.testing.assert_identical(found(tmp_path / "run"), before)


def test_without_any_sample_nothing_is_written(tmp_path):
    go(averaged(statistics={"start": 100.0}), tmp_path / "run")
    assert found(tmp_path / "run").sizes["time"] == 0


def test_a_run_without_statistics_has_none_to_read(tmp_path):
    go(stirred(), tmp_path / "run")
    with pytest.raises(BadInput, match="no statistics to read"):
        found(tmp_path / "run")


@pytest.mark.parametrize(("table", "told"), [
    ({"fields": ["u", "T"]}, 'statistics.fields = ["u", "T"]: give all of u, v and w, or none of them'),
    ({"fields": ["c"]}, "this case has no field \"c\"; it has u, v, w, p, T"),
    ({"order": 3}, "statistics.order = 3: give 1 for means alone, or 2 for variances and covariances as well"),
    ({"start": -1.0}, "statistics.start = -1.0: give a number >= 0"),
    ({"every": {"minutes": 1.0}}, "minutes are for checkpoints"),
])  # fmt: skip
def test_what_cannot_be_averaged_is_refused(table, told):
    with pytest.raises(BadInput) as refused:
        averaged(statistics=table)
    assert told in str(refused.value)


def test_covariances_of_one_name_are_refused():
    scalars = [{"name": name, "diffusivity": 0.1} for name in ("a", "a_b", "b_c", "c")]
    with pytest.raises(BadInput, match="2 covariances would be called cov_a_b_c"):
        averaged(scalars=scalars)


@pytest.mark.slow
@pytest.mark.parametrize("gpu", [pytest.param(False, marks=pytest.mark.slow), True])
def test_what_the_runtime_records_is_proved(gpu):
    """Samples between steps and monitors, in whatever order."""
    setup = RunSetup(averaged(), (1, 1, 2))
    model, statistics = setup.model, setup.averages.statistics
    programs = {model.step: tuple(model.scalars(1.0, 1.0)), setup.monitor: (), statistics.sample: ("share",)}
    start = {model.start: ("dt",), statistics.begin: ()}
    prove(setup.partition, programs, Mapper("none"), Hardware(gpu, (0, 0) if gpu else None), start=start).hold()


def test_profiles_are_over_time_and_planes(tmp_path):
    """Covariances are those of all values: of the means over time in a plane, too."""
    go(averaged(), tmp_path / "run")
    ds = found(tmp_path / "run").flow.profiles("z").isel(time=-1)
    with dataset(tmp_path / "run" / "fields.zarr") as snapshots:
        steps = snapshots.load()
        weights = np.repeat(trapezoids(0.0, snapshots.time.values)[:, None], 40, axis=1)
        values = {name: np.moveaxis(in_centres(steps, name), 1, 0).reshape(9, -1) for name in ("u", "w")}
    mean = {name: np.average(item, axis=1, weights=weights.ravel()) for name, item in values.items()}
    assert ds.mean_u.dims == ("z_c",)
    np.testing.assert_allclose(ds.mean_u, mean["u"], rtol=0, atol=1e-13)
    both = (values["u"] - mean["u"][:, None]) * (values["w"] - mean["w"][:, None])
    np.testing.assert_allclose(ds.cov_u_w, np.average(both, axis=1, weights=weights.ravel()), rtol=0, atol=1e-13)
