"""Temperatures and scalars that leave the range of everything that a case gives."""

import warnings

import numpy as np
import pytest

import taskflow as tf
from taskflow.output import dataset
from taskflow.plots.look import Look
from taskflow.plots.snapshots import given_ranges, plot_run
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.base.given import ANY, NOTHING
from tests.cases.on_charts import LID
from tests.cases.on_charts import case as on_charts
from tests.runs.going_on import found, go

PLUME = {
    "grid": {"cells": [20, 1, 12], "lengths": [1.6, 0.08, 0.96]},
    "fluid": {"viscosity": 2e-3},
    "heat": {"diffusivity": 2e-3},
    "scalars": [{"name": "dye", "diffusivity": 1e-3, "initial": 1.0}],
    "initial": {"temperature": 20.0, "velocity": [0.5, 0.0, 0.0]},
    "boundaries": {
        "x_min": {"type": "inflow", "velocity": [0.5, 0.0, 0.0], "temperature": 18.0}, "x_max": "outflow",
        "y": "periodic", "z_min": "wall", "z_max": "wall",
    },
    "obstacles": [{"name": "body", "type": "box", "low": [0.4, 0, 0], "high": [0.7, 0.08, 0.5], "temperature": 33.0}],
    "time": {"steps": 24},
    "output": {"every": {"steps": 6}, "precision": "double"},
    "machine": {"device": "cpu", "threads": 1},
}  # fmt: skip


def case(**tables):
    return tf.Case(**{name: {**PLUME.get(name, {}), **table} if isinstance(table, dict) else table
                      for name, table in {**PLUME, **tables}.items()})  # fmt: skip


def warned(case, path, **how):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tf.run(case, path, progress=lambda _: None, **how)
    return [str(one.message) for one in told if "everything that is given" in str(one.message)]


def setup(**tables):
    return RunSetup(case(**tables), (1, 1, 1))


def test_a_run_warns_of_values_beyond_with_the_amount(tmp_path):
    [told] = warned(case(), tmp_path / "run")
    below = 18.0 - float(found(tmp_path / "run")["T"].min())
    assert below > 0.1
    assert f"T went down to {18.0 - below:.6g}, {below:.3g} below everything that is given (18 to 33)" in told
    assert 'give heat.scheme = "koren"' in told
    assert warned(case(heat={"scheme": "koren"}), tmp_path / "bounded") == []
    assert warned(case(heat={"diffusivity": 0.1}), tmp_path / "fine") == []


def test_pictures_point_beyond_what_is_given(tmp_path):
    run = tmp_path / "run"
    warned(case(), run)
    given = given_ranges(dataset(run / "fields.zarr"))
    assert given["T"] == (18.0, 33.0)
    assert given["dye"] == (0.0, 1.0)  # it begins with 1
    look, values = Look(given=given), found(run)["T"].isel(time=-1).values
    colours = look.colours(values, "T", name="T")
    assert (colours.norm.vmin, colours.beyond) == (18.0, "min")
    assert look.colours(values, "p", name="p").beyond == "neither"
    assert look.colours(np.clip(values, 18.0, 33.0), "T", name="T").beyond == "neither"
    assert Look(range=(0.0, 50.0), given=given).colours(values, "T", name="T").norm.vmin == 0.0
    assert plot_run(run, "T").exists()


def test_what_was_seen_before_a_break_counts(tmp_path):
    broken = case(time={"steps": 12})
    go(broken, tmp_path / "run", (1, 1, 2))
    [whole] = warned(case(), tmp_path / "whole")
    assert warned(case(), tmp_path / "run", resume=True) == [whole]


@pytest.mark.parametrize(("changes", "ranges"), [
    ({}, {"T": (18.0, 33.0), "dye": (0.0, 0.0)}),
    ({"heat": {"source": 1.0}}, {"T": (18.0, np.inf), "dye": (0.0, 0.0)}),
    ({"heat": {"sources": [{"point": [1.0, 0.04, 0.8], "rate": -1.0}]}}, {"T": (-np.inf, 33.0), "dye": (0.0, 0.0)}),
    ({"forcing": [{"on": "T", "expression": "0.1"}]}, {"T": ANY, "dye": (0.0, 0.0)}),
    ({"boundaries": {"z_min": {"type": "wall", "temperature": "20 + t"}}}, {"T": ANY, "dye": (0.0, 0.0)}),
    ({"boundaries": {"z_min": {"type": "wall", "heat_flux": -1e-4}}}, {"T": (-np.inf, 33.0), "dye": (0.0, 0.0)}),
    ({"scalars": [{**PLUME["scalars"][0], "boundaries": {"x_min": {"value": 3.0}, "z_min": {"value": 4}}}]},
     {"T": (18.0, 33.0), "dye": (3.0, 4.0)}),
    ({"boundaries": {"x_min": "wall", "x_max": "vent"}}, {"T": (0.0, 33.0), "dye": (0.0, 0.0)}),  # 0 enters
])  # fmt: skip
def test_ranges_that_are_given(changes, ranges):
    assert setup(**changes).system.given.ranges == ranges


@pytest.mark.parametrize(("side", "end", "range_"), [
    ({"x_min": {"type": "inflow", "velocity": [0.5, 0, 0], "temperature": "20 + 100*z"}}, None, (24.0, 112.0)),
    ({"x_min": {"type": "inflow", "table": "inflow.csv"}}, None, (30.0, 39.0)),  # not heat.reference
    ({"z_min": {"type": "wall", "temperature": "10 - 50*x"}}, None, (-68.0, 33.0)),
    ({"z_min": {"type": "wall", "temperature": "20 + t"}}, 50.0, (18.0, 70.0)),
    ({"z_min": {"type": "wall", "heat_flux": "sin(t)"}}, 50.0, ANY),
    ({"z_min": {"type": "wall", "heat_transfer": 0.1, "outside_temperature": "-t"}}, 50.0, (-50.0, 33.0)),
    ({"x_min": {"type": "inflow", "velocity": [0.5, 0, 0], "temperature": "20 + t*z"}}, None, ANY),
])  # fmt: skip
def test_ranges_by_place_and_time(tmp_path, monkeypatch, side, end, range_):
    """As far as they are known: with an end of the run, times of it are looked at."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inflow.csv").write_text("z,u,T\n0,1,30\n0.48,1,39\n0.96,1,30\n")
    found = setup(boundaries=side, time={"step": end / 24} if end else {}).system.given.ranges["T"]
    assert found == pytest.approx(range_, rel=0.05)


def test_values_that_the_user_sets_are_not_compared(tmp_path):
    entering = {"type": "inflow", "velocity": ["0.5 + 0*t", 0.0, 0.0], "temperature": "18 + 0*t"}
    made = case(boundaries={"x_min": entering}, time={"step": 0.025})
    told = []
    for key, value in (("velocity", ["0.6 + 0*t", 0.0, 0.0]), ("temperature", "5 + 0*t")):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            with tf.Simulation(made, tmp_path / key, progress=lambda _: None) as simulation:
                simulation.step(2)
                simulation.set(f"boundaries.x_min.{key}", value)
                simulation.run()
        told.append(any("everything that is given" in str(one.message) for one in seen))
    assert told == [True, False]


def test_charts_and_other_flows():
    given = RunSetup(on_charts(LID), (1, 1, 1)).system.given
    assert given.ranges == {"T": (1.0, 1.0), "dye": (1.0, 1.0)}
    assert given.remedies["T"] == "give more cells"
    assert NOTHING.ranges == {}


def told(setup):
    return [row.text for row in setup.system.rows(setup.step_cost) if row.kind == "warning"]


def test_check_names_the_cell_peclet_number():
    [words] = told(setup())
    assert words.startswith("T: the cell Peclet number is up to 20, and above 2 values may leave the range of")
    assert 'give heat.scheme = "koren"' in words
    assert told(setup(heat={"scheme": "koren"})) == []
    assert told(setup(heat={"diffusivity": 0.03})) == []
