"""Values that are set between steps: inflows, fields on walls, sides on charts, motions of bodies."""

import numpy as np
import pytest

import taskflow as tf
from taskflow.common.errors import BadInput
from taskflow.runtime.cluster import embedded
from tests.cases.on_charts import CYLINDER
from tests.cases.on_charts import case as on_charts

CUBES = [2, 1, 1]


@pytest.fixture(scope="module")
def client():
    """Processes for all simulations."""
    with embedded(2, gpu=False) as cluster:
        yield cluster


def channel(velocity=("1 + 0*t", 0.0, 0.0), temperature="0*t", **changes) -> tf.Case:
    """An inflow beside a wall whose velocity depends on the place."""
    case = tf.Case(
        grid={"cells": [16, 2, 8], "lengths": [2.0, 0.25, 1.0]},
        fluid={"viscosity": 0.01},
        heat={"diffusivity": 0.01},
        initial={"velocity": [1.0, 0.0, 0.0]},
        boundaries={
            "x_min": {"type": "inflow", "velocity": list(velocity), "temperature": temperature},
            "x_max": "outflow",
            "y": "periodic",
            "z_min": {"type": "wall", "velocity": ["x*cos(t)", 0.0, 0.0]},
            "z_max": "slip",
        },
        pressure={"solver": "jacobi", "iterations": 8},
        time={"steps": 8, "cfl": 0.5},
        output={"every": {"steps": 4}, "precision": "double"},
        checkpoint={"every": {"steps": 2}},
        machine={"device": "cpu", "threads": 1},
    )
    return case.replace(**{key.replace("__", "."): value for key, value in changes.items()})


def with_body(**changes) -> tf.Case:
    """A sphere that is at rest until its motion is set."""
    case = tf.Case(
        grid={"cells": [24, 24, 24], "lengths": [1.0, 1.0, 1.0]},
        fluid={"viscosity": 0.01},
        boundaries={"x": "periodic", "y": "periodic", "z": "periodic"},
        bodies={"treatment": "immersed"},
        obstacles=[
            {"type": "cylinder", "centre": [0.5, 0.5, 0.5], "radius": 0.15, "axis": "y", "length": 0.4, "name": "rod",
             "motion": {"displacement": ["0*t", 0.0, 0.0], "angle": {"z": "0*t"}, "centre": [0.5, 0.5, 0.5]}}
        ],
        pressure={"solver": "jacobi", "iterations": 8},
        time={"end": 0.4, "cfl": 0.5, "step": None},
        output={"every": 0.1, "precision": "double"},
        checkpoint={"every": {"steps": 2}},
        monitor={"every": {"steps": 1}},
        machine={"device": "cpu", "threads": 1},
    )  # fmt: skip
    return case.replace(**{key.replace("__", "."): value for key, value in changes.items()})


def driven(case, client, place, change, stop=None) -> tf.Run:
    """The run of a case with a `change` after four steps, closed after `stop` further ones."""
    with tf.Simulation(case, place, client) as simulation:
        simulation.step(4)
        change(simulation)
        simulation.run(steps=stop)
        return simulation.close()


def last(run) -> dict[str, np.ndarray]:
    fields = run.dataset().isel(time=-1)
    return {name: fields[name].values for name in fields if name != "time"}


def assert_same(one, other):
    for name, values in last(one).items():
        np.testing.assert_array_equal(values, last(other)[name], err_msg=name)


def change_inflow(simulation):
    simulation.set("boundaries.x_min.velocity", ["1.5 + 0.2*sin(t)*z", 0.0, 0.0])
    simulation.set("boundaries.x_min.temperature", 2.0)
    simulation.set("boundaries.z_min.velocity", ["-0.5*x", 0.0, 0.0])


@pytest.mark.slow
def test_inflows_and_fields_on_walls_are_set(client, tmp_path):
    """The same bits on other blocks, after a resumption at the same step or a later one, and of a case with f(t)."""
    whole = driven(channel(), tmp_path / "whole", client, change_inflow)
    values = last(whole)
    time = float(whole.dataset()["time"][-1])
    z = whole.dataset()["z_c"].values
    np.testing.assert_allclose(values["u"][:, 0, 0], 1.5 + 0.2 * np.sin(time) * z, rtol=1e-12)
    assert values["T"].max() > 1
    assert_same(driven(channel(machine__blocks=CUBES), tmp_path / "cut", client, change_inflow), whole)
    for stop in (1, 3):
        place = tmp_path / f"part{stop}"
        driven(channel(), client, place, change_inflow, stop)
        assert_same(tf.run(channel(), place, client, resume=True), whole)
    functions = channel([lambda x, y, z, t: 1 + 0 * x * y * z, 0.0, 0.0])
    assert_same(driven(functions, tmp_path / "functions", client, change_inflow), whole)


@pytest.mark.slow
def test_what_cannot_enter_is_refused(client, tmp_path):
    with tf.Simulation(channel(), tmp_path / "run", client) as simulation:
        simulation.step()
        for key, value, message in REFUSED:
            with pytest.raises(BadInput, match=message):
                simulation.set(key, value)
        simulation.step()


REFUSED = [
    ("boundaries.x_min.velocity", [1.0, 1.0, 0.0], "component 2 does not change in time; give 0 for it"),
    ("boundaries.x_min.velocity", ["log(z - 2)", 0.0, 0.0], "not finite"),
    ("boundaries.x_min.velocity", ["1/(t - 1e9) + log(1e-9 - t)", 0.0, 0.0], "not finite"),
    ("boundaries.x_min.temperature", [1.0, 2.0, 3.0], "give a finite number, an expression"),
    ("boundaries.x_min.temperature", lambda t: t, "could not keep a function"),
    ("boundaries.z_min.velocity", [1.0, 0.0], "give three values"),
    ("fluid.viscosity", 1.0, "kernels have it as a constant.*these do: boundaries"),
    ("fluid.viscosty", 1.0, "unknown value of the case"),
    ("forcing[1].expression", "u", "is compiled into a kernel"),
]


def shift(simulation):
    now = simulation.time
    simulation.set("obstacles[1].motion.displacement", [f"0.5*(t - {now!r})", 0.0, f"0.2*(t - {now!r})"])
    simulation.set("obstacles[1].motion.angle", f"3*(t - {now!r})")


@pytest.mark.slow
def test_motions_are_set(client, tmp_path):
    """The same bits on other blocks and after a resumption; the body moves beyond what the case tells of it."""
    whole = driven(with_body(), tmp_path / "whole", client, shift)
    assert whole.report["ended"] == "end"
    assert np.abs(last(whole)["u"]).max() > 0.3
    assert_same(driven(with_body(machine__blocks=CUBES), tmp_path / "cut", client, shift), whole)
    for stop in (1, 2):
        place = tmp_path / f"part{stop}"
        driven(with_body(), client, place, shift, stop)
        resumed = tf.run(with_body(), place, client, resume=True)
        assert_same(resumed, whole)
        assert resumed.log()[-1]["bodies"] == whole.log()[-1]["bodies"]


@pytest.mark.slow
def test_motions_that_cannot_be_are_refused(client, tmp_path):
    """And the body moves as before."""
    with tf.Simulation(with_body(), tmp_path / "run", client) as simulation:
        simulation.step()
        for key, value, message in (
            ("obstacles[1].motion.displacement", [0.1, 0.0, 0.0], "would jump from 0.0 to 0.1 at time"),
            ("obstacles[1].motion.displacement", 0.1, "give three values"),
            ("obstacles[1].motion.displacement", ["x", 0.0, 0.0], "an expression in t alone"),
            ("obstacles[1].motion.angle", {"y": "0*t"}, "turns about z; give angle.z"),
            ("obstacles[1].motion.angle", "where(t > 0.3, 1, 0)", "jumps at time 0.3"),
            ("obstacles[1].motion.centre", [0.0, 0.0, 0.0], "its other keys are constant"),
            ("obstacles.ball.motion.displacement", ["0*t", 0.0, 0.0], r"unknown .* these do: obstacles\[1\]\.motion"),
        ):
            with pytest.raises(BadInput, match=message):
                simulation.set(key, value)
        simulation.set("obstacles[1].motion.angle.z", "0")
        simulation.step()
        assert np.abs(simulation["u"].values).max() < 1e-12


def test_a_restart_follows_the_motion_that_was_set(tmp_path):
    """By the motion of the case the body would meet a wall after the first end of the run."""
    cylinder = {"type": "cylinder", "axis": "y", "name": "rod", "centre": [0.5, 0.0, 0.5], "radius": 0.15}
    sides = {**dict.fromkeys(("x_min", "x_max", "z_min", "z_max"), "wall"), "y": "periodic"}
    case = tf.Case(
        grid={"cells": [16, 1, 16], "lengths": [1.0, 0.05, 1.0]}, fluid={"viscosity": 0.005}, boundaries=sides,
        obstacles=[{**cylinder, "motion": {"displacement": ["0.2*t", 0, 0]}}], bodies={"treatment": "immersed"},
        time={"end": 0.2, "step": 0.05}, machine={"device": "cpu", "threads": 1},
    )  # fmt: skip
    with tf.Simulation(case, tmp_path / "run") as simulation:
        simulation.step()
        simulation.set("obstacles[1].motion.displacement", ["0.01 + 0.02*sin(10*(t - 0.05))", 0, 0])
        simulation.run()
    longer = case.replace(time={"end": 1.6, "step": 0.05})
    with pytest.raises(BadInput, match='"rod" touches the wall x_max'):
        tf.run(longer, tmp_path / "new")
    assert tf.run(longer, tmp_path / "run", resume=True).report["ended"] == "end"


def on_sides(**changes) -> tf.Case:
    """A box with an inflow, a wall and a force that change in time, in real time."""
    tables = {
        "grid": {"cells": [8, 6, 1], "lengths": [1.0, 1.0, 0.1], "shape": "box"},
        "boundaries": {
            "x_min": {"type": "inflow", "velocity": ["1 + 0*t", 0.0, 0.0]},
            "x_max": {"type": "outflow", "pressure": 0.0},
            "y_min": {"type": "wall", "velocity": ["0*t", "0*t", 0.0]},
            "y_max": "slip",
            "z_min": "symmetry",
            "z_max": "symmetry",
        },
        "body": {"force": [0.0, "0*t", 0.0]},
        "method": {
            "type": "artificial-compressibility", "march": "rk5", "compressibility": 10.0,
            "inner": {"iterations": 5000},
        },
        "machine": {"device": "cpu", "threads": 1, "blocks": 1},
        "time": {"step": 0.02, "steps": 6},
        "checkpoint": {"every": {"steps": 2}},
    }
    return on_charts(CYLINDER, **{**tables, **changes})


def change_sides(simulation):
    simulation.set("boundaries.x_min.velocity", ["1.2 + y*t", 0.0, 0.0])
    simulation.set("boundaries.y_min.velocity", [0.5, 0, 0])
    simulation.set("body.force", [0.0, "sin(x)", 0.0])
    with pytest.raises(BadInput, match="moves in its own plane only"):
        simulation.set("boundaries.y_min.velocity", [0.0, 1.0, 0.0])


def assert_same_on_charts(one, other):
    for name in "uvp":
        values, others = (run.dataset().isel(time=-1)[f"charts/0/{name}"].values for run in (one, other))
        np.testing.assert_array_equal(values, others, err_msg=name)


@pytest.mark.slow
def test_sides_on_charts_are_set(client, tmp_path):
    """As in a case that has the values from that time on; when the run is resumed, too."""
    whole = driven(on_sides(), tmp_path / "whole", client, change_sides)
    from_then = on_sides(
        boundaries__x_min__velocity=["where(t < 0.09, 1, 1.2 + y*t)", 0.0, 0.0],
        boundaries__y_min__velocity=["where(t < 0.09, 0, 0.5)", 0.0, 0.0],
        body__force=[0.0, "where(t < 0.09, 0, sin(x))", 0.0],
    )
    assert_same_on_charts(whole, tf.run(from_then, tmp_path / "from_then", client))
    driven(on_sides(), tmp_path / "part", client, change_sides, 1)
    assert_same_on_charts(tf.run(on_sides(), tmp_path / "part", client, resume=True), whole)
