"""A simulation that Python drives: as far as it is told, the same to the bit, in order however it ends."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import dask
import numpy as np
import psutil
import pytest

import taskflow as tf
from taskflow.cases.timing.intervals import Tick
from taskflow.cases.timing.schedule import Pause
from taskflow.common.errors import BadInput, Interrupted, RunFailed
from taskflow.runs.interactive.callbacks import Callback, Callbacks
from taskflow.runtime.cluster import embedded
from tests.cases import two_phases
from tests.cases.on_charts import CYLINDER, LID, TURNED
from tests.cases.on_charts import case as on_charts
from tests.runs.going_on import assert_same_run, steps
from tests.runs.test_restart import stirred
from tests.runtime.cluster.waiting import press_ctrl_c


@pytest.fixture(scope="module")
def client():
    """A process for all simulations."""
    with embedded(1, gpu=False) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def whole(client, tmp_path_factory):
    """The run of `stirred`, driven by its case."""
    return tf.run(stirred(), tmp_path_factory.mktemp("whole") / "run", client).directory


def test_a_wall_that_is_set_in_motion_makes_no_step_too_long(tmp_path):
    tables = {
        "grid": {"cells": [16, 1, 16], "lengths": [1, 1, 1]}, "fluid": {"viscosity": 1e-4},
        "boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall",
                       "z_max": {"type": "wall", "velocity": ["0*t", 0, 0]}},
        "time": {"steps": 40}, "monitor": {"every": {"steps": 1}}, "machine": {"device": "cpu", "threads": 1},
    }  # fmt: skip
    with tf.Simulation(tf.Case(**tables), output=tmp_path / "run") as simulation:
        simulation.step(2)
        simulation.set("boundaries.z_max.velocity", [30.0, 0, 0])
        simulation.run()
        run = simulation.close()
    assert max(line["cfl"] for line in run.log()) <= 1.2 * 0.5
    assert run.log()[-1]["kinetic_energy"] > 0


def test_steps_are_those_of_a_run(client, whole, tmp_path):
    """Whatever the pauses; what is due at a pause is written when it goes on."""
    calls = []
    with tf.Simulation(stirred(), tmp_path / "run", client) as simulation:
        assert (simulation.iteration, simulation.time) == (0, 0.0)
        simulation.every(steps=4)(lambda it: calls.append(it.iteration))
        simulation.step()
        simulation.step(2)
        assert simulation.iteration == 3
        assert len(tf.Run.open(tmp_path / "run").dataset()["time"]) == 1
        now = simulation.time
        simulation.run(until=1.5 * now)
        assert now < 1.5 * now <= simulation.time
        reached = simulation.iteration
        simulation.run(until=now)  # it is there
        assert simulation.iteration == reached
        simulation.run(steps=1, wall=60.0)
        assert simulation.iteration == reached + 1
        simulation.run()
        assert simulation.iteration == 9
        with pytest.raises(BadInput, match=r"step\(2\): the run has ended.*time.steps = 9"):
            simulation.step(2)
    assert calls == [4, 8]
    assert simulation.close().report["ended"] == "end"
    assert_same_run(tmp_path / "run", whole)


def test_closed_early_and_resumed(client, whole, tmp_path):
    """A checkpoint is there on return; the state at the end is there as after Ctrl-C, and is dropped by who goes on."""
    with tf.Simulation(stirred(), tmp_path / "run", client) as simulation:
        simulation.step(5)
        simulation.checkpoint()
        assert steps(tmp_path / "run")[0] == 5
        simulation.checkpoint()
        simulation.step()
    run = simulation.close()
    assert (run.report["ended"], run.report["steps"]) == ("interrupted", 6)
    assert run.report["reason"] == "it was closed at step 6"
    assert len(run.dataset()["time"]) == 3
    with tf.Simulation(stirred(), tmp_path / "run", client, resume=True) as simulation:
        assert simulation.iteration == 6
    with tf.Simulation(stirred(), tmp_path / "run", client, resume=True) as simulation:
        simulation.run()
    assert_same_run(tmp_path / "run", whole)


@pytest.mark.slow
def test_closed_at_once(client, whole, tmp_path):
    """The initial state is there, and a checkpoint of it."""
    with tf.Simulation(stirred(), tmp_path / "run", client):
        pass
    assert steps(tmp_path / "run") == [0]
    tf.run(stirred(), tmp_path / "run", client, resume=True)
    assert_same_run(tmp_path / "run", whole)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the state is not steady")
def test_on_charts_and_two_blocks(client, tmp_path):
    case = on_charts(LID, machine__blocks=2)
    tf.run(case, tmp_path / "whole", client)
    with tf.Simulation(case, tmp_path / "run", client) as simulation:
        simulation.step(5)
        simulation.run()
    one, other = (tf.Run.open(tmp_path / name).dataset() for name in ("run", "whole"))
    assert one.equals(other)


def test_a_callback_that_raises_ends_the_run_in_order(client, tmp_path):
    with tf.Simulation(stirred(), tmp_path / "run", client) as simulation:

        @simulation.every(steps=2)
        def look(it):
            raise ZeroDivisionError(f"at step {it.iteration}")

        with pytest.raises(ZeroDivisionError, match="at step 2"):
            simulation.run()
        with pytest.raises(BadInput, match="the run has ended"):
            simulation.step()
    report = simulation.close().report
    assert (report["ended"], report["steps"]) == ("interrupted", 2)
    assert report["reason"].endswith("look raised ZeroDivisionError: at step 2")
    assert steps(tmp_path / "run") == [2]


def test_a_callback_stops_the_run_and_drives_nothing(client, tmp_path):
    with tf.Simulation(stirred(), tmp_path / "run", client) as simulation:

        @simulation.every(steps=3)
        def look(it):
            with pytest.raises(BadInput, match=r"step\(1\) within the callback .*look.*stop\(\)"):
                it.step()
            with pytest.raises(BadInput, match=r"close\(\) within the callback"):
                it.close()
            it.stop()

        simulation.run()
        assert simulation.iteration == 3
        simulation.run()
        assert simulation.iteration == 6
    assert simulation.close().report["reason"] == "stop() was called at step 6"


def test_a_script_that_leaves_it_open_ends(tmp_path):
    """Its state is written, as by `close`."""
    script = """
import sys, taskflow as tf
simulation = tf.Simulation(tf.Case.load(sys.argv[1], ["grid.cells=[16,1,16]"]), output="run")
simulation.step(3)
"""
    example = Path(tf.__file__).parents[1] / "examples" / "cavity.toml"
    command = [sys.executable, "-c", script, example]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    report = tf.Run.open(tmp_path / "run").report
    assert (report["ended"], report["reason"]) == ("interrupted", "it was closed at step 3")


def test_a_process_forked_from_a_script_leaves_it_open(tmp_path):
    script = """
import multiprocessing, sys, taskflow as tf
with tf.Simulation(tf.Case.load(sys.argv[1], ["grid.cells=[16,1,16]"]), output="run") as simulation:
    simulation.step(2)
    child = multiprocessing.get_context("fork").Process(target=int)
    child.start()
    child.join(60)
    assert child.exitcode == 0, child.exitcode
    simulation.step(2)
"""
    example = Path(tf.__file__).parents[1] / "examples" / "cavity.toml"
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, example]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert tf.Run.open(tmp_path / "run").report["reason"] == "it was closed at step 4"


def test_what_the_body_raises_is_the_reason(client, tmp_path):
    with pytest.raises(KeyError), tf.Simulation(stirred(), tmp_path / "run", client) as simulation:
        raise KeyError("mine")
    assert simulation.close().report["reason"] == "KeyError: 'mine'"


def test_ctrl_c_pauses(client, tmp_path):
    case = stirred(time={"steps": 10**6})
    with tf.Simulation(case, tmp_path / "run", client) as simulation:
        press_ctrl_c()
        with pytest.raises(Interrupted, match="the simulation pauses: continue it, or close it"):
            simulation.run()
        reached = simulation.iteration
        simulation.step()
        assert simulation.iteration == reached + 1
        simulation.every(steps=1)(lambda it: signal.raise_signal(signal.SIGINT))
        with pytest.raises(Interrupted, match=r"in the callback .*lambda.* at step .*; the simulation pauses"):
            simulation.step(5)
        assert simulation.iteration == reached + 2


@pytest.mark.fast("values0-*", "values2-*")
@pytest.mark.parametrize(("values", "match"), [
    ({"steps": 0}, "steps=0.*integer"), ({"wall": -1.0}, "wall=-1.0"), ({"until": "soon"}, "until='soon'"),
    ({"steps": 1.5}, "steps=1.5"),
])  # fmt: skip
def test_bad_ways_to_go_on(values, match, client, tmp_path):
    with tf.Simulation(stirred(), tmp_path / "run", client) as simulation, pytest.raises(BadInput, match=match):
        simulation.run(**values)


@pytest.mark.parametrize(("values", "match"), [
    ({}, "give one of steps, time and wall"), ({"steps": 1, "time": 2.0}, "give one of"), ({"steps": 0}, "steps"),
    ({"time": -1.0}, "time"), ({"wall": 0.0}, "wall"),
])  # fmt: skip
def test_bad_intervals(values, match):
    arguments = {"steps": None, "time": None, "wall": None} | values
    with pytest.raises(BadInput, match=match):
        Callback.of(print, Tick(), **arguments)
    with pytest.raises(BadInput, match="give a function"):
        Callback.of(3, Tick(), steps=1, time=None, wall=None)


@pytest.mark.slow
@pytest.mark.parametrize(("function", "words"), [
    (lambda fields: fields["u"], r"it returned an array of shape \(.*\); return a number, a dictionary of numbers"),
    (lambda fields: {"a": 1, "b": [1, 2]}, r"it returned \[1, 2\] for 'b'; return a number"),
    (lambda fields: "1", "it returned '1'; return a number"),
    (lambda fields: 1j, "it returned 1j; return a number"),
])  # fmt: skip
def test_what_functions_on_blocks_return(function, words, client, tmp_path):
    with tf.Simulation(stirred(), tmp_path / "run", client) as simulation:
        with pytest.raises(RunFailed, match=words):
            simulation.on_blocks(function, ["u"])
        assert simulation.on_blocks(lambda fields: fields["u"].max() * 0 + np.array(2.0), ["u"], reduce="max") == 2.0


def test_functions_that_are_none(tmp_path):
    case = stirred()
    for call in (tf.run, tf.Simulation):
        with pytest.raises(BadInput, match="progress = 3; give a function"):
            call(case, tmp_path / "run", progress=3)
    with pytest.raises(BadInput, match="on_run = 3; give a function"):
        tf.sweep(case, {"fluid.viscosity": [0.1]}, tmp_path / "sweep", on_run=3)
    with pytest.raises(BadInput, match="measure = 3; give a function"):
        tf.Study(tmp_path, {}, []).dataset(measure=3)
    assert not [*tmp_path.iterdir()]


def test_when_callbacks_are_due():
    """At multiples of steps and time, also where rounding keeps a time just below one; each once."""
    callbacks = Callbacks([Callback.of(print, Tick(), 4, None, None), Callback.of(print, Tick(), None, 0.1, None)])
    by_steps, by_time = callbacks
    assert callbacks.due(Tick(3, 0.05)) == []
    assert callbacks.due(Tick(4, 0.1 * (1 - 1e-12))) == [by_steps, by_time]
    assert callbacks.due(Tick(5, 0.1 * (1 + 1e-12))) == []
    assert callbacks.due(Tick(9, 0.55)) == [by_steps, by_time]
    pause = callbacks.pause(Pause(100, 100.0))
    assert pause.step == 12
    assert pause.time == pytest.approx(0.6)
    late = Callback.of(print, Tick(), None, None, 1e-3)
    time.sleep(2e-3)
    assert late.due(Tick())


def test_fields_are_those_of_the_store(client, tmp_path):
    """Of all blocks, with coordinates and attributes; what is asked for moves, and nothing once the run has gone on."""
    case = stirred(machine__blocks=[1, 1, 2], output={"precision": "double", "every": {"steps": 3}})
    moved = []
    with tf.Simulation(case, tmp_path / "run", client) as simulation:
        simulation.step(3)
        ask = simulation._ask
        simulation._ask = lambda name, do: (moved.append(name), ask(name, do))[1]
        fields, late = simulation.dataset(), simulation["w"]
        assert set(fields.data_vars) >= {"u", "v", "w", "p", "T"}
        assert not moved
        part = fields["u"].isel(z_c=slice(7, 2, -2), y_c=1).load()
        assert moved == ["reading u"]
        whole = fields["u"].load()
        assert part.identical(whole.isel(z_c=slice(7, 2, -2), y_c=1))
        assert simulation["T"].sel(x_c=0.3, method="nearest").shape == (9, 5)
        speed = float(fields.flow.velocity()["u"].max())
        simulation.step()
        with pytest.raises(BadInput, match="w of step 3: the simulation has advanced"):
            late.mean().load()
        with pytest.raises(BadInput, match=r"'mu'.*unknown field; the case has u, v, w, p, T"):
            simulation["mu"]
    stored = tf.Run.open(tmp_path / "run").dataset().isel(time=1)
    assert whole.equals(stored["u"])
    assert whole.attrs.items() <= stored["u"].attrs.items()
    assert speed == float(stored.flow.velocity()["u"].max())
    with pytest.raises(BadInput, match=r"simulation is closed; Run\.open"):
        simulation["u"]


@pytest.mark.slow
def test_fields_are_read_in_several_threads(client, tmp_path):
    """As dask reads those of a vorticity: a second one was refused, and so was all that came after it."""
    with tf.Simulation(stirred(), tmp_path / "run", client) as simulation, dask.config.set(num_workers=4):
        for _ in range(5):
            simulation.step()
            fields = simulation.dataset()
            vorticity = fields.flow.vorticity().compute()
            assert vorticity.equals(fields.compute().flow.vorticity().compute())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the state is not steady")
def test_fields_on_charts(client, tmp_path):
    with tf.Simulation(on_charts(LID, machine__blocks=2), tmp_path / "run", client) as simulation:
        simulation.step(4)
        velocity = simulation["u"].load()
        assert "<img" in simulation._repr_html_()
        simulation.step()
    stored = tf.Run.open(tmp_path / "run").dataset().isel(time=1)
    for chart in ("charts/0", "charts/1"):
        result, expected = velocity[chart]["u"], stored[chart]["u"]
        assert np.array_equal(result, expected)
        assert result.attrs.items() <= expected.attrs.items()
        assert np.array_equal(result["x_c"], expected["x_c"])
    here = velocity.flow.at((0.3, 0.2, 0.5))
    assert (list(here), float(here["u"])) == (["u"], float(stored.flow.at((0.3, 0.2, 0.5))["u"]))


@pytest.mark.slow
def test_recorded_arrays(client, tmp_path):
    """They are in the store with their coordinates, and a run that goes on from a checkpoint drops those after it."""
    with tf.Simulation(stirred(), tmp_path / "run", client) as simulation:

        @simulation.every(steps=2)
        def profile(it):
            it.record("profile", it["u"].mean(["x_f", "y_c"]))
            it.record("energy", float((it["u"] ** 2).sum()))

        simulation.run()
        with pytest.raises(BadInput, match="the run writes u itself"):
            simulation.record("u", 1.0)
        with pytest.raises(BadInput, match=r"shape \(2,\)\): it was \(\) before; keep it"):
            simulation.record("energy", [1.0, 2.0])
        with pytest.raises(BadInput, match="letters, digits"):
            simulation.record("my energy", 1.0)
    run = simulation.close()
    with run.dataset("profile") as result, run.dataset() as ds:
        assert result["profile"].dims == ("time", "z_c")
        assert result["z_c"].equals(ds["z_c"])
        assert result.sizes["time"] == 4
        profile = result["profile"].load()
    with tf.Simulation(stirred(time={"steps": 10}), tmp_path / "run", client, resume=True) as simulation:
        simulation.step()
        simulation.record("profile", simulation["u"].mean(["x_f", "y_c"]))
        with pytest.raises(BadInput, match="there is one of time"):
            simulation.record("profile", simulation["u"].mean(["x_f", "y_c"]))
    with run.dataset("profile") as result:
        assert result.sizes["time"] == 5
        assert result["profile"][:4].equals(profile)


def double(block):
    """Twice the velocity along x, and what it was."""
    total = float((block["u"] ** 2).sum())
    block["u"][...] *= 2.0
    return {"energy": total, "cells": block["u"].size}


def test_fields_in_place(client, tmp_path):
    """What is written is in the records of the step, and the same for any blocks to the bit; ghost cells follow."""
    directories = []
    for blocks in (1, 2):
        case = stirred(machine__blocks=[1, 1, blocks], output__every={"steps": 1})
        with tf.Simulation(case, tmp_path / f"run{blocks}", client) as simulation:
            simulation.step(2)
            before = simulation["u"].load()
            told = simulation.on_blocks(double, ["u"], writes=["u"])
            assert told["cells"] == 8 * 5 * 9
            assert told["energy"] == pytest.approx(float((before[..., :-1] ** 2).sum()), rel=1e-13)
            np.testing.assert_array_equal(simulation["u"].isel(x_f=slice(1, 8)), 2 * before[..., 1:8])
            largest = simulation.on_blocks(lambda block: abs(block["u"]).max(), ["u"], reduce="max")
            assert largest == float(abs(simulation["u"]).max())
            places = simulation.on_blocks(lambda block: float(block.points("u")[0].max()), ["u"], reduce="max")
            assert places == pytest.approx(0.875)
            simulation.step(2)
        directories.append(tmp_path / f"run{blocks}")
    assert_same_run(*directories, rel=1e-12)
    stored = tf.Run.open(directories[0]).dataset()["u"].isel(time=2, x_f=slice(1, 8))
    np.testing.assert_array_equal(stored, 2 * before[..., 1:8])


def smoothed(block):
    """The velocity along x and T, less a tenth of what they differ from the mean of all that are around."""
    for name in ("u", "T"):
        around = block[name]
        nx, ny, nz = block.cells.shape
        sides = [(a, b, c) for a in range(3) for b in range(3) for c in range(3)]
        mean = sum(around[c : c + nz, b : b + ny, a : a + nx] for a, b, c in sides) / len(sides)
        around[block.inside] -= 0.1 * (around[block.inside] - mean)
    x, y, z = block.points("T")
    assert (z.size, y.size, x.size) == block["T"].shape
    return {"spacing": float(x[0, 0, 1] - x[0, 0, 0])}


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [[1, 1, 2], [2, 2, 2]])
def test_ghost_cells_in_place(client, tmp_path, blocks):
    """A function that reads around cells does the same on any blocks, to the bit, edges and corners of blocks too."""
    for name, cut in (("one", [1, 1, 1]), ("cut", blocks)):
        with tf.Simulation(stirred(machine__blocks=cut), tmp_path / name, client) as simulation:
            for _ in range(3):
                told = simulation.on_blocks(smoothed, ["u", "T"], writes=["u", "T"], reduce="max", ghosts=True)
                simulation.step(1)
            assert told == {"spacing": pytest.approx(0.125)}
            with pytest.raises(RunFailed, match="read-only"):
                simulation.on_blocks(smoothed, ["u", "T"], ghosts=True)
            wall = simulation.on_blocks(lambda block: float(block["w"][0, 1:-1, 1:-1].sum()), ["w"], ghosts=True)
            assert np.isfinite(wall)
    assert_same_run(tmp_path / "one", tmp_path / "cut", rel=1e-12)


def towards_neighbours(block):
    """The velocity along x nearer to that of its neighbours; whether it was finite around."""
    around, cells = block["u"], block.inside
    finite = np.isfinite(around[1:-1, 1:-1]).all() and np.isfinite(around[1:-1, :, 1:-1]).all()
    mean = (around[1:-1, 1:-1, 2:] + around[1:-1, 2:, 1:-1] + around[2:, 1:-1, 1:-1] + around[1:-1, 2:, :-2]) / 4
    around[cells] += 0.1 * (mean - around[cells])
    assert all(part.shape == around.shape for part in block.points("u"))
    return float(finite)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the state is not steady")
@pytest.mark.parametrize(("tables", "changes"), [
    (LID, {"machine__blocks": 4, "machine__cuts": {"1": [1, 2, 1], "2": [1, 1, 2]}}), (TURNED, {"machine__blocks": 3}),
])  # fmt: skip
def test_ghost_cells_on_charts(client, tmp_path, tables, changes):
    """Across seams, also turned ones, and between pieces: the same bits on any blocks."""
    fields = []
    for name, more in (("one", {}), ("cut", changes)):
        with tf.Simulation(on_charts(tables, **more), tmp_path / name, client) as simulation:
            for _ in range(3):
                simulation.step()
                told = simulation.on_blocks(towards_neighbours, ["u"], writes=["u"], reduce="min", ghosts=True)
                assert told == 1.0
            simulation.step()
            fields.append(simulation.dataset().load())
    one, cut = fields
    assert one.equals(cut)


def run_through(block):
    """The field of places x + 2 y."""
    x, y, _ = block.points("u")
    block["u"][...] = x + 2 * y


@pytest.mark.slow
def test_ghost_cells_of_charts_are_their_neighbours(client, tmp_path):
    """Between charts a linear field goes on."""

    def apart(block):
        x, y, _ = block.points("u")
        return float(abs(block["u"] - x - 2 * y)[1:-1, 1:-1, -1 if x.max() < 0.9 else 0].max())

    with tf.Simulation(on_charts(LID), tmp_path / "run", client) as simulation:
        simulation.on_blocks(run_through, ["u"], writes=["u"])
        assert simulation.on_blocks(apart, ["u"], reduce="max", ghosts=True) < 1e-14


@pytest.mark.slow
def test_a_grid_that_moves_is_where_it_is(client, tmp_path):
    """For functions on blocks, and for whoever looks; snapshots have the same places."""
    case = on_charts(CYLINDER, time={"step": 0.05, "steps": 4}, motion={"displacement": ["0.5*t", 0.0, 0.0]},
                     output__every={"steps": 2})  # fmt: skip
    with tf.Simulation(case, tmp_path / "run", client) as simulation:
        simulation.step(2)
        farthest = simulation.on_blocks(lambda block: block.points("p")[0].max(), ["p"], reduce="max")
        now = simulation.dataset().load()
        places = [chart["x_c"] for chart in now["charts"].children.values()]
        assert farthest == max(float(x.max()) for x in places)
        with pytest.raises(BadInput, match=r"set.*: it cannot be set in this version: the places of cells at earlier"):
            simulation.set("motion.displacement", ["t", 0.0, 0.0])
        assert set(simulation["p"]["charts/0/p"].coords) >= {"x_c", "y_c", "z_c"}
        assert "<img" in simulation._repr_html_()
        simulation.step()
    stored = tf.Run.open(tmp_path / "run").dataset().isel(time=1)
    for name in ("x", "x_c"):
        assert stored[f"charts/0/{name}"].values.tobytes() == now[f"charts/0/{name}"].values.tobytes()
        assert stored[f"charts/0/{name}"].attrs == now[f"charts/0/{name}"].attrs


@pytest.mark.slow
def test_a_controller_acts_on_a_resumed_run_as_on_one_without_a_break(client, tmp_path):
    """It has acted in the checkpoint of its step."""

    def drive(simulation):
        @simulation.every(steps=2)
        def act(it):
            it.on_blocks(double, ["u"], writes=["u"])

    with tf.Simulation(stirred(), tmp_path / "whole", client) as simulation:
        drive(simulation)
        simulation.run()
    with tf.Simulation(stirred(time={"steps": 4}), tmp_path / "run", client) as simulation:
        drive(simulation)
        simulation.run()
    with tf.Simulation(stirred(), tmp_path / "run", client, resume=True) as simulation:
        drive(simulation)
        simulation.run()
    one, other = (tf.Run.open(tmp_path / name).dataset()["u"].isel(time=-1) for name in ("run", "whole"))
    np.testing.assert_array_equal(one, other)


def test_bad_work_on_blocks(client, tmp_path):
    """A function that fails leaves a simulation that goes on."""
    with tf.Simulation(stirred(machine__blocks=[1, 1, 2]), tmp_path / "run", client) as simulation:
        for values, match in (
            ({"fields": ["mu"]}, r"fields=\['mu'\].*give a list of names among u, v, w, p, T"),
            ({"fields": ["p"], "writes": ["p"]}, r"writes=\['p'\].*among u, v, w, T"),
            ({"fields": ["u"], "writes": ["v"]}, r"name them in fields"), ({"fields": "u"}, "give a list"),
            ({"fields": ["u"], "reduce": "mean"}, "reduce='mean'.*sum, min, max"),
        ):  # fmt: skip
            with pytest.raises(BadInput, match=match):
                simulation.on_blocks(double, **values)
        with pytest.raises(RunFailed, match=r"on_blocks: block 0: ValueError: .*read-only"):
            simulation.on_blocks(double, ["u"])
        with pytest.raises(RunFailed, match=r"block 1: KeyError: .*w was not declared"):
            simulation.on_blocks(lambda block: block["w"].sum() if block.block else 0.0, ["u"])
        simulation.step()
        assert simulation.iteration == 1


@pytest.mark.slow
def test_a_worker_that_is_lost_ends_it(tmp_path):
    """With what it had written, from which another one goes on."""
    case = stirred(machine__blocks=[1, 1, 2], checkpoint__every={"steps": 2}, time={"steps": 10**6})
    with embedded(2, gpu=False) as client:
        simulation = tf.Simulation(case, tmp_path / "run", client)
        simulation.step(5)
        children = psutil.Process().children(recursive=True)
        next(child for child in children if "spawn_main" in " ".join(child.cmdline())).kill()
        with pytest.raises(RunFailed, match=r"block \d on worker .*resume it: taskflow run"):
            simulation.run()
        with pytest.raises(BadInput, match="the run has ended: it has failed"):
            simulation.step()
        with pytest.raises(BadInput, match="the simulation is closed"):
            simulation["u"]
        assert simulation.close().report["ended"] == "failed"
    with tf.Simulation(case, output=tmp_path / "run", resume=True) as simulation:
        assert simulation.iteration >= 2
        simulation.step()


@pytest.mark.slow
def test_two_phases(client, tmp_path):
    """Six states of a step take turns; pauses are in all of them. A velocity can be changed, the interface cannot."""
    case = two_phases.case(machine={"device": "cpu", "threads": 1})
    tf.run(case, tmp_path / "whole", client)
    with tf.Simulation(case, tmp_path / "run", client) as simulation:
        for _ in range(5):
            simulation.step()
            share = float(simulation["f"].mean())
        simulation.run()
    one, other = (tf.Run.open(tmp_path / name).dataset() for name in ("run", "whole"))
    assert one.equals(other)
    assert 0 < share < 0.2
    with tf.Simulation(case, tmp_path / "changed", client) as simulation:
        simulation.step()
        before = simulation["u"].load()
        simulation.on_blocks(double, ["u"], writes=["u"])
        np.testing.assert_array_equal(simulation["u"].isel(x_f=slice(1, 12)), 2 * before[..., 1:12])
        simulation.step(2)
        with pytest.raises(BadInput, match=r"writes=\['f'\].*among u, v, w"):
            simulation.on_blocks(double, ["f"], writes=["f"])


@pytest.mark.slow
def test_expressions_that_are_recorded_are_there_between_steps(client, tmp_path):
    """As they are of the present fields, also of those that were changed in the pause; another one is told."""
    def double(fields):
        fields["T"][...] *= 2

    flux = [{"name": name, "expression": "2*w*T"} for name in ("flux", "other")]
    case = stirred(expressions=flux, output={"fields": ["w", "T", "flux"], "precision": "double"})
    with tf.Simulation(case, tmp_path / "run", client) as simulation:
        with pytest.raises(BadInput, match=r"\['other'\].*it has u, .*, flux; an expression has to be recorded"):
            _ = simulation["other"]
        simulation.step(2)
        for _ in range(2):
            vertical = simulation.dataset().flow.velocity()["w"].transpose("z_c", "y_c", "x_c")
            expected = 2 * vertical.values * simulation["T"].values
            np.testing.assert_allclose(simulation["flux"].values, expected, rtol=1e-13)
            simulation.on_blocks(double, ["T"], writes=["T"])
        assert float(abs(expected).max()) > 0
        with pytest.raises(RunFailed, match=r"read-only; name the fields that it changes in writes=\[...\]"):
            simulation.on_blocks(lambda fields: fields["T"].fill(0.0), ["T"])


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["box", "two phases", "charts"])
def test_fields_in_place_on_a_gpu(tmp_path, kind):
    """Of CuPy, with ghost cells, too; PyTorch changes them without a copy, where it is there."""

    def halved(block):
        module = type(block["u"]).__module__
        assert module.startswith("cupy"), module
        try:
            import torch
        except ImportError:
            block["u"][...] *= 0.5
            return
        torch.from_dlpack(block["u"]).mul_(0.5)
        torch.cuda.synchronize()

    def total(block):
        return float(block["u"][block.inside].sum())

    cases = {"box": stirred, "two phases": two_phases.case, "charts": lambda **tables: on_charts({**LID, **tables})}
    with embedded(1, gpu=True) as client, tf.Simulation(
        cases[kind](machine={"device": "gpu"}), tmp_path / "run", client
    ) as simulation:  # fmt: skip
        simulation.step(3)
        before = simulation.on_blocks(total, ["u"], ghosts=True)
        simulation.on_blocks(halved, ["u"], writes=["u"])
        assert simulation.on_blocks(total, ["u"], ghosts=True) == pytest.approx(before / 2, rel=1e-12)
        simulation.step()
        assert simulation.iteration == 4
