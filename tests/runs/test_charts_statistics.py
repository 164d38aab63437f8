"""Averages over real time on charts: those of the snapshots, the same bits for any blocks and after any break."""

from __future__ import annotations

import numpy as np
import pytest

import taskflow.accessor.flow  # noqa: F401  trees have their `flow`
from taskflow.output import tree
from taskflow.output.store.reading import charts
from taskflow.plots.snapshots import plot_run
from taskflow.runs.state.restart import newest_restart
from tests.cases.on_charts import case, changed
from tests.runs.going_on import go
from tests.runs.test_charts_real_time import PITCHING, SLIDING, WARM
from tests.runs.test_statistics import trapezoids

EACH = {"output__every": {"steps": 1}, "method__inner": {"iterations": 10}, "statistics": {"every": {"steps": 1}}}
AVERAGED = changed(SLIDING, time__step=None, time__cfl=0.8, **EACH)


def statistics(path):
    """All averages by the number of the chart and their names, and what is said of their samples."""
    result = tree(path / "fields.zarr", "statistics").load()
    fields = {f"{n}/{name}": ds[name].values for n, ds in charts(result) for name in ds.data_vars}
    return fields | {name: result[name].values for name in ("time", "since", "samples")}


def weighted(path, name, other=None):
    """The mean of a field in the last cells of a chart over the snapshots, or a covariance, by NumPy."""
    result = tree(path / "fields.zarr")["charts/1"]
    weights = trapezoids(0.0, tree(path / "fields.zarr").time.values)
    q = result[name].values
    departing = q - np.average(q, axis=0, weights=weights)
    if other is None:
        return np.average(q, axis=0, weights=weights)
    r = result[other].values
    return np.average(departing * (r - np.average(r, axis=0, weights=weights)), axis=0, weights=weights)


@pytest.mark.slow
def test_averages_are_those_of_the_snapshots(tmp_path):
    """Weighted by lengths of steps, which differ; and a picture of them is drawn."""
    path = tmp_path / "run"
    go(case(AVERAGED), path)
    averages = statistics(path)
    assert averages["samples"].tolist() == [5]
    assert len(set(np.diff(tree(path / "fields.zarr").time.values))) > 1
    for name in "uvwp":
        np.testing.assert_allclose(averages[f"1/mean_{name}"][0], weighted(path, name), atol=1e-14)
    for pair in ("u_u", "u_p", "v_w", "p_p"):
        np.testing.assert_allclose(averages[f"1/cov_{pair}"][0], weighted(path, *pair.split("_")), atol=1e-14)
    assert tree(path / "fields.zarr", "statistics")["charts/0/cov_u_v"].attrs["long_name"] == (
        "covariance in time of velocity along x and velocity along y"
    )
    at = tree(path / "fields.zarr", "statistics").flow.at([0.5, 0.5, 0.5])
    assert np.isfinite(at["mean_u"].values).all()
    assert plot_run(path, "cov_u_u", out=tmp_path / "uu.png").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.parametrize(("tables", "cuts"), [
    (SLIDING, {"4": [1, 1, 2]}), (PITCHING, {"1": [2, 1, 1], "2": [1, 2, 1]}), (WARM, {"2": [1, 2, 2]}),
    (changed(WARM, method__march="implicit", grid__cells=[10, 12, 6]), {"2": [1, 2, 1]}),
])  # fmt: skip
def test_averages_have_the_same_bits_for_any_blocks_and_after_a_break(tmp_path, tables, cuts):
    tables = changed(tables, **EACH, statistics__write={"steps": 2})
    go(case(tables), tmp_path / "whole")
    go(case(tables, machine__cuts=cuts), tmp_path / "cut", (1, 1, 3))
    saved, broken = case(tables, checkpoint__every={"steps": 2}), tmp_path / "broken"
    go(saved, broken, (1, 1, 2), kill=3)
    assert newest_restart(broken, saved)[0].tick.step == 2
    go(saved, broken, (1, 1, 1), resume=True)
    whole = statistics(tmp_path / "whole")
    for path in ("cut", "broken"):
        others = statistics(tmp_path / path)
        assert others.keys() == whole.keys()
        for name, values in whole.items():
            np.testing.assert_array_equal(others[name], values, err_msg=name)
    assert ("1/cov_T_dye" in whole) == ("heat" in tables)


@pytest.mark.slow
def test_averages_begin_anew_where_a_run_goes_on_with_others(tmp_path):
    """With a table that was not there before, and again with one that is another."""
    path, tables = tmp_path / "run", changed(SLIDING, **EACH, checkpoint__every={"steps": 1})
    go(case(tables, statistics=None, time__steps=2), path)
    go(case(tables, time__steps=3), path, resume=True)
    times = tree(path / "fields.zarr").time.values
    averages = statistics(path)
    assert (averages["since"].tolist(), averages["samples"].tolist()) == ([times[2]], [1])
    go(case(tables, statistics__order=1, time__steps=4), path, resume=True)
    last = tree(path / "fields.zarr")["charts/1"].isel(time=-1)
    averages = statistics(path)
    assert not any("cov" in name for name in averages)
    np.testing.assert_allclose(averages["1/mean_u"][0], last["u"].values, atol=1e-15)
