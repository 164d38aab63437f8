"""Runs that differ in parameters: each is what it would be alone, and none is computed twice."""

import inspect

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.analysis.sweeps import combined
from taskflow.common.errors import BadInput, RunFailed
from taskflow.runs.sweep import load
from taskflow.runtime.cluster import embedded
from tests.runs.test_restart import stirred

PARAMETERS = {"fluid.viscosity": [0.01, 0.02], "heat.expansion": [0.0, 1.0]}


@pytest.fixture(scope="module")
def client():
    with embedded(1, gpu=False) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def case():
    return stirred(time={"end": 0.3}, output={"precision": "double", "fields": ["u"]})


def test_parameters_are_dimensions(client, case, tmp_path):
    """Two at a time on one worker; a second call computes nothing."""
    told = []
    sweep = tf.sweep(case, PARAMETERS, tmp_path / "sweep", client, at_once=2, on_run=lambda n, *_: told.append(n))
    assert sorted(told) == [0, 1, 2, 3]
    ds = sweep.dataset()
    assert ds["u"].dims[:2] == ("fluid.viscosity", "heat.expansion")
    alone = tf.run(case.replace(**{"fluid.viscosity": 0.02, "heat.expansion": 0.0}), tmp_path / "alone", client)
    chosen = ds["u"].sel({"fluid.viscosity": 0.02, "heat.expansion": 0.0})
    np.testing.assert_array_equal(chosen, alone.dataset()["u"])
    began = [run.report["started"] for run in sweep.runs]
    again = tf.sweep(case, PARAMETERS, tmp_path / "sweep", client)
    assert [run.report["started"] for run in again.runs] == began
    energy = again.dataset(measure=lambda run: run.log()[-1]["kinetic_energy"])
    assert energy.shape == (2, 2)


def test_runs_of_other_values_are_not_taken_for_those_of_a_sweep(client, case, tmp_path):
    """A run may go on with another step: it was found under that of a later sweep. To a later end it goes on."""
    folder = tmp_path / "sweep"
    tf.sweep(case, {"time.step": [0.02], "time.end": [0.02]}, folder, client)
    with pytest.raises(RunFailed, match=r"time.step = 0.01; it was 0.02 when this run began"):
        tf.sweep(case, {"time.step": [0.01], "time.end": [0.02]}, folder, client)
    later = tf.sweep(case, {"time.step": [0.02], "time.end": [0.04]}, folder, client)
    assert later.runs[0].report["time"] == 0.04
    anew = tf.sweep(case, {"time.step": [0.01], "time.end": [0.02]}, folder, client, force=True)
    assert anew.runs[0].report["steps"] == 2


@pytest.mark.slow
def test_grids_are_measured(client, case, tmp_path):
    sweep = tf.sweep(case, {"grid.cells": [[8, 5, 9], [8, 6, 9]]}, tmp_path / "sweep", client)
    with pytest.raises(BadInput, match=r"the runs along grid.cells differ .*give measure="):
        sweep.dataset()
    largest = sweep.dataset(measure=lambda run: run.dataset()["u"].isel(time=-1).max())
    assert largest["grid.cells"].values.tolist() == ["[8, 5, 9]", "[8, 6, 9]"]


def records(value, last=3.0):
    """The records of a run on two charts."""
    places = {"x_c": (("k", "j", "i"), np.arange(6.0).reshape(1, 2, 3)), "time": [0.0, last]}
    chart = xr.Dataset({"u": (("time", "k", "j", "i"), np.full((2, 1, 2, 3), value))}, places)
    parts = {"/": xr.Dataset(coords={"time": [0.0, last]}), "charts/0": chart, "charts/1": 2 * chart}
    return xr.DataTree.from_dict(parts)


def test_trees_of_charts_have_parameters_as_dimensions():
    """Of one record the times may differ; places may not."""
    both = combined({"a": [1, 2], "b": [0.5, 0.7]}, [records(value) for value in (1.0, 2.0, 3.0, 4.0)])
    assert both["charts/1/u"].sizes == {"a": 2, "b": 2, "time": 2, "k": 1, "j": 2, "i": 3}
    assert (both["charts/1/u"].sel(a=2, b=0.5) == 6.0).all()
    assert both["charts/0/x_c"].dims == ("k", "j", "i")
    lasts = combined({"a": [1, 2]}, [records(value, value).isel(time=-1) for value in (1.0, 2.0)])
    assert lasts["charts/0/u"].sel(a=2).values.max() == 2.0
    wider = records(1.0)
    wider["charts/0"] = wider["charts/0"].to_dataset().assign_coords(x_c=wider["charts/0/x_c"] + 1)
    for other in (wider, records(1.0, 5.0)):
        with pytest.raises(BadInput, match="the runs along a differ in more than numbers"):
            combined({"a": [1, 2]}, [records(1.0), other])
    with pytest.raises(BadInput, match="the runs along a differ in their charts"):
        combined({"a": [1, 2]}, [records(1.0), records(1.0)["charts"]])


@pytest.mark.parametrize("other", [1.0, xr.DataArray([1.0], dims="x"), records(1.0)], ids=["number", "array", "tree"])
def test_results_of_different_kinds_are_refused(other):
    whole = xr.Dataset({"u": ("x", [1.0])})
    for results in ([whole, other], [other, whole]):
        with pytest.raises(BadInput, match=r"the runs along a differ in .*; give measure=, a function of a run"):
            combined({"a": [1, 2]}, results)


def test_runs_that_fail_are_named_when_the_others_have_ended(client, case, tmp_path):
    (tmp_path / "sweep" / "0001").mkdir(parents=True)
    (tmp_path / "sweep" / "0001" / "mine").touch()
    match = r"(?s)1 of 2 runs failed.*0001, fluid.viscosity = 0.02: .*is not a run directory"
    with pytest.raises(RunFailed, match=match):
        tf.sweep(case, {"fluid.viscosity": [0.01, 0.02]}, tmp_path / "sweep", client)
    assert tf.Run.open(tmp_path / "sweep" / "0000").report["ended"] == "end"


@pytest.mark.parametrize(("parameters", "match"), [
    ({}, "give keys with their values"), ({"fluid.viscosity": 0.1}, "fluid.viscosity = 0.1; give a list of values"),
    ({"fluid.viscosity": [-1.0]}, "with fluid.viscosity = -1.0: .*give a number >= 0"),
    ({"fluid.viscosty": [1.0]}, "did you mean fluid.viscosity"),
    ({"time.end": list(range(1, 200)), "fluid.viscosity": [0.1] * 100}, "their product is 19900 runs"),
])  # fmt: skip
def test_bad_parameters(parameters, match, case, tmp_path):
    with pytest.raises(BadInput, match=match):
        tf.sweep(case, parameters, output=tmp_path / "sweep")
    assert not (tmp_path / "sweep").exists()


def test_a_file(case, tmp_path):
    (tmp_path / "case.toml").write_text(case.to_toml())
    (tmp_path / "sweep.toml").write_text('case = "case.toml"\n[parameters]\n"fluid.viscosity" = [0.1, 0.2]\n')
    assert load(tmp_path / "sweep.toml") == (case, {"fluid.viscosity": [0.1, 0.2]})


@pytest.mark.parametrize(("text", "match"), [
    ("", "case = None; give the case file"), ('case = "a.toml"', r"give a table \[parameters\]"),
    ('case = "a.toml"\nwidth = 3', "width: unknown key"),
    ('case = "a.toml"\n[parameters]\nfluid.viscosity = [1.0]', "need quotes"),
])  # fmt: skip
def test_bad_files(text, match, tmp_path):
    (tmp_path / "sweep.toml").write_text(text)
    with pytest.raises(BadInput, match=match):
        load(tmp_path / "sweep.toml")


def test_run_simulation_and_sweep_take_the_same_arguments(client, case, tmp_path):
    """A case or the path of its file, the directory, the cluster; these two in the other order, too, as once."""
    path, key = tmp_path / "case.toml", "fluid.viscosity"
    path.write_text(case.to_toml())
    signatures = [[*inspect.signature(function).parameters] for function in (tf.run, tf.Simulation)]
    assert signatures[0] == signatures[1]
    assert [*inspect.signature(tf.sweep).parameters][:4] == ["case", "parameters", "output", "client"]
    expected = tf.run(str(path), tmp_path / "run", client).dataset()["u"].values
    for n, order in enumerate([(tmp_path / "0", client), (client, tmp_path / "1")]):
        with tf.Simulation(path, *order) as simulation:
            simulation.run()
        np.testing.assert_array_equal(tf.Run.open(tmp_path / str(n)).dataset()["u"].values, expected)
        study = tf.sweep(path, {key: [0.01]}, *order, force=True)
        assert len(study.runs) == 1
    for function in (tf.run, tf.Simulation, lambda case: tf.sweep(case, {key: [0.01]})):
        with pytest.raises(BadInput, match="case = 3; give a Case, or the path of a case file"):
            function(3)
        with pytest.raises(BadInput, match=r"missing\.toml"):
            function(tmp_path / "missing.toml")
