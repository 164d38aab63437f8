"""Arguments of the Python interface that are unknown or of another type: each is named, with the remedy."""

from __future__ import annotations

import re

import pytest

import taskflow as tf
from taskflow.common.errors import BadInput

CASE = {
    "grid": {"cells": [8, 1, 8], "lengths": [1.0, 0.125, 1.0]},
    "fluid": {"viscosity": 0.05},
    "boundaries": {"x_min": "wall", "x_max": "wall", "y": "periodic", "z_min": "wall",
                   "z_max": {"type": "wall", "velocity": [1.0, 0, 0]}},
    "time": {"step": 0.02, "steps": 4},
    "monitor": {"every": {"steps": 1}},
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> tf.Run:
    return tf.run(tf.Case(**CASE), output=tmp_path_factory.mktemp("arguments") / "run", progress=lambda _: None)


@pytest.mark.parametrize(("look", "message"), [
    ({"unknown": 1}, "plot(unknown=1): unknown option; give range, log, cmap, size or window, or omit it"),
    ({"window": (1, 0, 0, 1)}, "plot(window=(1, 0, 0, 1)): give four numbers, the lower one of each pair first"),
    ({"window": 3}, "plot(window=3): give four numbers"),
    ({"window": (0, 1, 0, 1)}, "window: of runs on charts alone; omit it"),
    ({"range": "a"}, "plot(range='a'): give two numbers"),
    ({"range": (1,)}, "plot(range=(1,)): give two numbers"),
    ({"range": (1, 0)}, "plot(range=(1, 0)): give two numbers, the lower one first"),
    ({"range": (None, 1)}, "plot(range=(None, 1)): give two numbers"),
    ({"log": "yes"}, "plot(log='yes'): give True or False"),
    ({"log": True, "range": (-1, 1)}, "plot(log=True, range=(-1.0, 1.0)): give a lower end above 0"),
    ({"cmap": "pink42"}, "plot(cmap='pink42'): unknown colour map; try"),
    ({"size": 300}, "plot(size=300): give two numbers"),
    ({"size": (3, 3)}, "plot(size=(3, 3)): give sides of 100 to 10000 points"),
    ({"field": 3}, "field = 3: unknown field; choose one of"),
    ({"plane": 3}, "plane = 3: not a plane; write x, y or z"),
])  # fmt: skip
def test_a_picture_names_the_option_that_is_wrong(run, look, message):
    with pytest.raises(BadInput, match=re.escape(message)):
        run.plot(**look)


def test_a_picture_takes_its_options(run):
    figure = run.plot("u", "y", range=(0, 1), cmap="magma", size=(300, 200))
    assert (figure.get_size_inches() * figure.dpi).round().tolist() == [300, 200]


@pytest.mark.parametrize(("call", "message"), [
    (lambda run: run.dataset(3), "group = 3; give the name of a group"),
    (lambda _: tf.Run.open(3), "directory = 3; give the path of a run directory"),
    (lambda _: tf.Case.load(3), "path = 3; give the path of a case file"),
    (lambda _: tf.Case(**CASE).boundary("top"), "face = 'top'; give one of x_min, x_max"),
    (lambda _: tf.run(tf.Case(**CASE), output=3), "output = 3; give the path of a run directory"),
    (lambda _: tf.run(tf.Case(**CASE), profile=3), "profile = 3; give taskflow.runs.block.profiling.Window("),
    (lambda run: run.dataset().flow.interface("late", "p"), "time = 'late'; give a number, one of 0"),
    (lambda run: run.dataset().isel(time=0).flow.interface("late", "p"), "time = late: this dataset has one time"),
    (lambda run: run.dataset().flow.plane(3), "plane = 3: not a plane"),
    (lambda run: run.series().flow.strouhal("dt", length="a"), "strouhal: length = 'a', velocity = 1.0; give numbers"),
])  # fmt: skip
def test_arguments_of_another_type_are_named(run, call, message):
    with pytest.raises(BadInput, match=re.escape(message)):
        call(run)


def test_a_simulation_names_them(tmp_path):
    with tf.Simulation(tf.Case(**CASE), output=tmp_path / "run") as simulation:
        for call, message in [
            (lambda: simulation.step(None), "step(None): give an integer >= 1"),
            (lambda: simulation.set(3, 1), "set(3, ...): give a key as text"),
            (lambda: simulation.plot(colour=1), "plot(colour=1): unknown option"),
        ]:
            with pytest.raises(BadInput, match=re.escape(message)):
                call()
        assert simulation.iteration == 0
