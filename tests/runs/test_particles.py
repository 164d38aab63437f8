"""[[particles]]: what is refused, what is recorded, runs on blocks and from checkpoints."""

from __future__ import annotations

import pickle
import re
import time
import tomllib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr

import taskflow as tf
from taskflow.cases.tables.particles import ParticlesTable
from taskflow.cases.timing.intervals import Tick
from taskflow.common.errors import BadInput
from taskflow.flow.measures.particles import Extent
from taskflow.flow.time.step_clock import CELL as CLOCK
from taskflow.runs.block.sanity import SanityChecks
from taskflow.runs.estimate.estimate import estimate
from taskflow.runs.estimate.memory import MemoryEstimate
from taskflow.runs.estimate.step_count import step_warnings
from taskflow.runs.state.restart import changes
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.host import look
from taskflow.runtime.machine import Mapper
from taskflow.runtime.machine.device import Device
from taskflow.runtime.machine.threads import run_threads
from taskflow.systems.records.particles import Clouds
from tests.runs.going_on import found, go
from tests.runs.test_restart import stirred
from tests.runtime.machine.devices import one_gpu
from tests.runtime.machine.test_needs import Counting

EXAMPLES = Path(__file__).parents[2] / "examples"
POINTS = [[0.31, 0.36, 0.4], [0.93, 0.68, 1.29], [0.5, 0.1, 0.65]]
DYE = {"name": "dye", "box": [[0.1, 0.0, 0.2], [0.9, 0.7, 1.1]], "count": 40, "every": {"steps": 1}}
PLUME = {"name": "plume", "points": POINTS, "interval": 0.03, "releases": 3, "start": 0.02, "every": {"steps": 3},
         "fields": ["T", "p"]}  # fmt: skip
BODIES = [
    {"type": "sphere", "centre": [0.5, 0.3, 0.6], "radius": 0.2},
    {"type": "box", "low": [0.6, 0.0, 0.0], "high": [0.9, 0.4, 0.5]},
]
SAND = {**DYE, "name": "sand", "response_time": 0.05, "density": 2.5, "count": 30}


def case(*particles: dict, **changes) -> tf.Case:
    return stirred(particles=list(particles), output={"precision": "double"}, **changes)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run in one block, with particles once and over and over again."""
    path = tmp_path_factory.mktemp("whole") / "run"
    go(case(DYE, PLUME, SAND), path)
    return path


def assert_same(path, whole) -> None:
    for group in ("dye", "plume", "sand"):
        xr.testing.assert_identical(found(path, group).drop_attrs(), found(whole, group).drop_attrs())


@pytest.mark.parametrize(("values", "words"), [
    ({"points": POINTS}, "particles[1].name: missing"),
    ({"name": "p", "points": POINTS}, 'particles[1].name = "p": another entry of the store has this name'),
    ({"name": "d"}, "particles[1].points: missing; give a list of points, or a box"),
    ({"name": "d", "points": POINTS, "box": DYE["box"], "count": 1}, "points are given as well; give one of them"),
    ({"name": "d", "points": [[0, 0, 2]]}, "beyond the domain"),
    ({"name": "d", "points": [[0, 0]]}, "particles[1].points"),
    ({"name": "d", "points": POINTS, "count": 3}, "particles[1].count = 3: it requires a box"),
    ({"name": "d", "box": [[0, 0, 0], [1, 1, 1]], "count": 3}, "particles[1].box"),
    ({"name": "d", "box": DYE["box"]}, "particles[1].count: missing; give count, or lattice"),
    ({"name": "d", "box": DYE["box"], "count": 1, "lattice": [1, 1, 1]}, "count is given as well"),
    ({"name": "d", "box": DYE["box"], "lattice": [1, 0, 1]}, "particles[1].lattice"),
    ({"name": "d", "box": DYE["box"], "count": 0}, "particles[1].count = 0"),
    ({"name": "d", "box": DYE["box"], "lattice": [2048, 2048, 1024]}, "these are 4294967296 particles; give at most"),
    ({"name": "d", "points": POINTS, "releases": 3}, "particles[1].releases = 3: give interval, too"),
    ({"name": "d", "points": POINTS, "interval": 3}, "particles[1].interval = 3: give releases, too"),
    ({"name": "d", "points": POINTS, "density": 3}, "particles[1].density = 3: give response_time, too"),
    ({"name": "d", "points": POINTS, "response_time": 0}, "particles[1].response_time = 0"),
    ({"name": "d", "points": POINTS, "start": -1}, "particles[1].start = -1"),
    ({"name": "d", "points": POINTS, "fields": ["u"]}, "u is always recorded; omit it"),
    ({"name": "d", "points": POINTS, "fields": ["velocity_x"]}, "something else of the name velocity_x; omit it"),
    ({"name": "d", "points": POINTS, "fields": ["dust"]}, 'this case has no field "dust"'),
    ({"name": "d", "points": POINTS, "radius": 1}, "particles[1].radius"),
])  # fmt: skip
def test_what_is_wrong_is_told_with_its_key(values, words):
    with pytest.raises(BadInput) as caught:
        case({"every": {"steps": 1}, **values})
    assert words in str(caught.value)
    assert "particles[1]" in str(caught.value)


def test_what_is_not_there_yet_is_refused():
    with pytest.raises(BadInput, match=r"particles\[1\].every: missing; give an interval"):
        case({"name": "d", "points": POINTS})
    with pytest.raises(BadInput, match='treatment = "immersed": not supported together with particles; give "flagged"'):
        case(DYE, obstacles=BODIES, bodies={"treatment": "immersed"})
    with pytest.raises(BadInput, match=r"time.cfl = 1.2: around obstacles the particles dye pass one face"):
        case(DYE, obstacles=BODIES, time={"steps": 9, "cfl": 1.2, "scheme": "rk3"})
    charts = tf.Case.load(EXAMPLES / "bearing.toml")
    with pytest.raises(BadInput, match='not supported by the model "artificial-compressibility"'):
        charts.replace(particles=[{"name": "d", "points": [[0, 0, 0]], "every": 1}])
    with pytest.raises(BadInput, match=r'particles\[2\].name = "dye": another entry of the store'):
        case(DYE, DYE)
    many = case({**DYE, "count": 2**29})
    with pytest.raises(BadInput, match="536870912 particles on 3 blocks, each of which has room for all"):
        _ = RunSetup(many, (1, 1, 3)).particles


def test_releases_are_due_at_their_times():
    table = ParticlesTable(**PLUME)
    assert [table.due(time) for time in (0.0, 0.0199, 0.02, 0.05, 0.0799, 0.08, 9.0)] == [0, 0, 1, 2, 2, 3, 3]
    assert table.total == 9
    assert ParticlesTable(**DYE).due(0.0) == 1
    many = {"name": "d", "points": POINTS, "start": 1000.0, "releases": 10, "every": 1.0}
    assert ParticlesTable(**many, interval=1e-310).due(1000.5) == 10
    assert ParticlesTable(**many, interval=1e-7).due(999.9999999) == 1


def test_lattices_fill_their_boxes_and_random_places_are_the_same_again():
    lattice = ParticlesTable(name="d", box=[[0, 0, 0], [2, 1, 1]], lattice=[2, 1, 3], every=1)
    expected = [[x, 0.5, z] for z in (1 / 6, 0.5, 5 / 6) for x in (0.5, 1.5)]
    np.testing.assert_allclose(lattice.places(0), expected)
    table = ParticlesTable(**DYE)
    np.testing.assert_array_equal(table.places(0), table.places(0))
    assert (table.places(0) != table.places(1)).all()
    assert (table.places(0) != ParticlesTable(**DYE, seed=1).places(0)).all()


def test_steps_are_those_of_adams_bashforth_with_the_velocities_recorded(whole):
    """But for those that walls mirror and periodic sides put elsewhere."""
    ds = found(whole, "dye")
    assert (ds.attrs["featureType"], ds.particle.attrs["cf_role"]) == ("trajectory", "trajectory_id")
    assert ds.u.encoding["coordinates"] == "x y z"
    np.testing.assert_array_equal(np.stack([ds.x[0], ds.y[0], ds.z[0]], axis=1), ParticlesTable(**DYE).places(0))
    dt = np.diff(ds.time.values)[:, None]
    ratio = np.vstack([[0.0], dt[1:] / dt[:-1]])
    for place, speed in zip("xz", "uw", strict=True):
        x, now = ds[place].values, ds[speed].values[:-1]
        before = np.vstack([now[:1], now[:-1]])
        expected = x[:-1] + dt * ((1 + ratio / 2) * now - ratio / 2 * before)
        inside = (expected > 0) & (expected < {"x": 1.0, "z": 1.3}[place])
        assert inside.mean() > 0.9
        np.testing.assert_allclose(x[1:][inside], expected[inside], rtol=1e-12)


def test_particles_are_released_over_and_over_again(whole):
    ds = found(whole, "plume")
    present = ds.x.notnull().values.reshape(ds.sizes["time"], 3, 3).all(axis=2)
    np.testing.assert_array_equal(present, [[PLUME["start"] + 0.03 * n <= t for n in range(3)] for t in ds.time.values])
    assert present[-1].all()
    assert (ds["T"].notnull() == ds.x.notnull()).all()


def test_particles_with_mass_have_velocities_of_their_own(whole):
    """At first that of the fluid; then gravity draws at them."""
    ds = found(whole, "sand")
    for axis, name in zip("xyz", "uvw", strict=True):
        own = ds[f"velocity_{axis}"]
        np.testing.assert_array_equal(own[0], ds[name][0])
        assert (own[1:] != ds[name][1:]).all()
    inertia = ParticlesTable(**SAND).inertia((0.1, 0.2, -1.0))
    assert inertia.time == 0.05
    np.testing.assert_allclose(inertia.settling, np.array([0.1, 0.2, -1.0]) * 0.05 * (1 - 1 / 2.5), rtol=1e-15)
    assert ParticlesTable(**{**SAND, "density": None}).inertia((0, 0, -1)).settling[2] == -0.05


@pytest.mark.slow
def test_what_is_sampled_is_what_probes_find(tmp_path):
    """At the places where they begin."""
    probe = {"name": "here", "points": POINTS, "every": {"steps": 100}, "fields": ["T", "p"]}
    particles = {"name": "there", "points": POINTS, "every": {"steps": 100}, "fields": ["T", "p"]}
    go(case(particles, probes=[probe], time={"steps": 1}), tmp_path / "run")
    here, present = (found(tmp_path / "run", group) for group in ("here", "there"))
    for name in ("T", "p"):
        np.testing.assert_allclose(present[name][0], here[name][0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("blocks", [(1, 1, 2), pytest.param((2, 2, 1), marks=pytest.mark.slow)])
def test_the_bits_do_not_depend_on_blocks(blocks, whole, tmp_path):
    go(case(DYE, PLUME, SAND), tmp_path / "run", blocks)
    assert_same(tmp_path / "run", whole)


ENTERS = {"type": "inflow", "velocity": ["1 + 0.3*z", "0.1*cos(9*y)", "0.2*x"], "temperature": "z"}
OPEN = {"x_min": ENTERS, "x_max": "outflow", "y": "periodic", "z_min": "wall", "z_max": "slip"}


@pytest.mark.slow
@pytest.mark.parametrize("changes", [
    {"time": {"steps": 9, "scheme": "rk3"}}, {"boundaries": OPEN, "time": {"steps": 40}},
    {"grid__stretching": {"z": {"tanh": 1.5}}, "turbulence": {"model": "smagorinsky"},
     "machine": {"precision": "single", "device": "cpu", "threads": 2}},
], ids=["rk3", "open", "stretched, single precision"])  # fmt: skip
def test_nor_do_they_in_other_flows(changes, tmp_path):
    """All leave through an outflow in time."""
    for n, blocks in enumerate(((1, 1, 1), (2, 1, 2))):
        go(case(DYE, PLUME, SAND, **changes), tmp_path / str(n), blocks)
    assert_same(tmp_path / "1", tmp_path / "0")
    assert found(tmp_path / "0", "dye").x[-1].isnull().all() == ("boundaries" in changes)


@pytest.mark.slow
@pytest.mark.parametrize(("before", "after", "broken"), [
    ((1, 1, 1), (1, 1, 2), {"stop": 4}), ((2, 1, 2), (1, 1, 1), {"kill": 7}),
])  # fmt: skip
def test_a_run_that_goes_on_has_the_same_trajectories(before, after, broken, whole, tmp_path):
    go(case(DYE, PLUME, SAND), tmp_path / "run", before, **broken)
    go(case(DYE, PLUME, SAND), tmp_path / "run", after, resume=True)
    assert_same(tmp_path / "run", whole)


@pytest.mark.slow
def test_blocks_without_a_part_of_the_state_go_on(tmp_path):
    """One particle on two blocks."""
    lone = {**PLUME, "points": POINTS[:1], "interval": None, "releases": 1}
    lone = {key: value for key, value in lone.items() if value is not None}
    go(case(lone), tmp_path / "whole")
    go(case(lone), tmp_path / "run", (1, 1, 2), stop=4)
    go(case(lone), tmp_path / "run", (1, 1, 2), resume=True)
    xr.testing.assert_equal(found(tmp_path / "run", "plume"), found(tmp_path / "whole", "plume"))


def test_a_run_does_not_go_on_with_other_particles():
    old, new = (tomllib.loads(case({**DYE, "count": count}).to_toml()) for count in (40, 41))
    assert [*changes(old, old)] == []
    none = tomllib.loads(case().to_toml())
    assert [*changes({name: table for name, table in none.items() if name != "particles"}, none)] == []
    (problem,) = changes(old, new)
    assert problem.startswith("particles = [")
    assert "stays so: begin another run" in problem


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 1, 2)])
def test_the_order_in_memory_changes_no_bit(blocks, whole, tmp_path, monkeypatch):
    monkeypatch.setattr("taskflow.systems.records.particles.MANY", 1)
    monkeypatch.setattr("taskflow.systems.records.particles.OFTEN", 2)
    go(case(DYE, PLUME, SAND), tmp_path / "run", blocks)
    assert_same(tmp_path / "run", whole)


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 1, 2)])
def test_bodies_are_in_the_way(tmp_path, blocks):
    """No particle is ever in one, and those that would begin there are left out; to the bit on any blocks, and where a
    run is gone on with.
    """
    around = case(DYE, {**SAND, "response_time": 0.5}, obstacles=BODIES, time={"steps": 60})
    go(around, tmp_path / "whole")
    go(around, tmp_path / "run", blocks, kill=31)
    go(around, tmp_path / "run", (1, 1, 1), resume=True)
    setup = RunSetup(around, (1, 1, 1))
    extent = Extent.of(setup.grid, setup.model.boundaries)
    solid = np.zeros(setup.grid.cells[::-1], bool)
    x, y, z = setup.grid.points("c", setup.grid.box)
    solid |= (x - 0.5) ** 2 + (y - 0.3) ** 2 + (z - 0.6) ** 2 < 0.04
    solid |= (x > 0.6) & (x < 0.9) & (y < 0.4) & (z < 0.5)
    assert solid.any()
    for group in ("dye", "sand"):
        one, other = (found(tmp_path / name, group).drop_attrs() for name in ("run", "whole"))
        xr.testing.assert_identical(one, other)
        places = np.stack([other[axis].values.reshape(-1) for axis in "xyz"], axis=1)
        present = ~np.isnan(places[:, 0])
        begun = present.reshape(other["x"].shape)[0]
        assert 0 < begun.sum() < begun.size
        assert (present.reshape(other["x"].shape) == begun).all()  # all that began are still there
        assert not solid[tuple(extent.numbers(places[present]).T[::-1])].any()


def test_steps_in_which_particles_pass_several_faces_are_told():
    """Of a length that is given, around bodies: before the run, at speeds that are known, and once while it goes on."""
    around = {"obstacles": BODIES, "time": {"steps": 9, "step": 0.5}}
    told = [list(step_warnings(RunSetup(case(*dye, **around), (1, 1, 1)))) for dye in ((), (DYE,))]
    (warning,) = set(told[1]) - set(told[0])
    assert re.fullmatch(r"at the speed of .* time.step = 0.5 has the CFL number .*; give one of .* or less.*", warning)
    scalars, tick = {"rate": 1.0}, Tick(step=3, time=0.6, dt=0.5)
    spec, told = RunSetup(case(DYE, **around), (1, 1, 1)).spec, []
    doubts = SanityChecks(spec, SimpleNamespace(scalars=scalars), cautioned=False)
    for scalars["rate"] in (1.0, 8.0, 9.0):
        told.append([words for words in doubts.of_step(tick) if "around obstacles" in words])
    assert [len(words) for words in told] == [0, 1, 0]
    assert told[1][0].startswith("at step 3, time 0.6, time.step = 0.5 has the CFL number 4: around")


@pytest.mark.slow
def test_a_run_warns_of_such_steps(tmp_path):
    fast = {"time": {"steps": 3, "step": 0.05}, "initial": {"velocity": [3.0, 0.0, 0.0]}}
    said = go(case(DYE, obstacles=BODIES, **fast), tmp_path / "run")
    assert any("around obstacles particles pass one face" in warning for warning in said["warnings"])


def test_a_run_without_any_has_the_programs_that_it_had():
    """And one with them the step that it had."""
    plain, with_them = (RunSetup(stirred(**tables), (1, 1, 1)) for tables in ({}, {"particles": [DYE]}))
    assert plain.spec.particles is None
    assert [set(home.region.fields) for home in plain.partition.beside] == [{CLOCK}]
    assert plain.step_cost.nbytes({}) == with_them.step_cost.nbytes({})
    assert plain.carried.keys() == with_them.carried.keys()
    assert pickle.loads(pickle.dumps(with_them.spec)).particles.series[0].table == with_them.case.particles[0]
    assert len(MemoryEstimate(with_them, [], "cpu").then) == len(MemoryEstimate(plain, [], "cpu").then) + 1


def test_a_case_with_particles_is_written_and_read_again():
    present = case(DYE, PLUME, SAND)
    assert tf.Case(**present.model_dump()) == tf.Case(**tomllib.loads(present.to_toml())) == present


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2), (2, 1, 2)])
def test_blocks_hold_no_more_than_was_counted(blocks):
    """And as much in fields. What is counted besides are passes in orders that do not occur here."""
    sim = RunSetup(case(DYE, PLUME, SAND), blocks)
    spec, needs = sim.spec, MemoryEstimate(sim, [look("here")] * len(sim.partition), "cpu").blocks
    devices = [Counting(1) for _ in needs]

    def job(shard):
        clouds, tick = Clouds(spec.particles, shard), Tick(dt=1e-3, ratio=1.0)
        shard.run(spec.model.start, dt=1.0)
        clouds.release(0.0)
        for monitor, sampled in ((1, 1), (0, 0), (0, 1), (1, 1), (1, 0), (0, 1), (0, 0), (1, 0), (0, 1)):
            for program in [spec.measures.monitor] * monitor:
                shard.run(program)
            for cloud in [*clouds.values()] * sampled:
                cloud.sampled()
            shard.run(spec.step, **spec.model.scalars(tick.dt, tick.ratio), **clouds.scalars(tick))
            clouds.settle(tick)
        return shard.memory

    found = run_threads(sim.partition, job, devices, Mapper("none"))
    for device, memory, need in zip(devices, found, needs, strict=True):
        assert memory["fields"] == need.fields
        assert device.nbytes <= need.stepping


@pytest.mark.slow
def test_what_is_recorded_for_them_is_proved():
    two = case(DYE, SAND, time={"steps": 3}, machine={"device": "cpu", "blocks": [1, 1, 2]})
    proof = estimate(two).prove()
    assert not proof.faults
    assert proof.templates > 0


@pytest.mark.gpu(emulated=True)
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2)])
def test_trajectories_on_a_gpu_have_the_bits_of_a_cpu(blocks, precision, tmp_path, monkeypatch):
    monkeypatch.setattr("taskflow.systems.records.particles.MANY", 1)
    monkeypatch.setattr("taskflow.systems.records.particles.OFTEN", 3)
    tables = {"machine": {"precision": precision}}
    go(case(DYE, PLUME, SAND, **tables), tmp_path / "host")
    go(case(DYE, PLUME, SAND, **tables), tmp_path / "device", blocks, device=one_gpu())
    assert_same(tmp_path / "device", tmp_path / "host")


def seconds(case: tf.Case, device: Device, steps: int) -> float:
    """The time of a step, the mean of some behind the first few; slots are put in order once in a hundred."""
    sim = RunSetup(case, (1, 1, 1), device=device.kind)
    spec, tick = sim.spec, Tick(dt=1e-3, ratio=1.0)

    def job(shard):
        clouds = Clouds(spec.particles, shard)
        shard.run(spec.model.start, dt=1.0)
        clouds.release(0.0)
        scalars = spec.model.scalars(tick.dt, tick.ratio)
        for _ in range(5):
            shard.run(spec.step, **scalars, **clouds.scalars(tick))
            clouds.settle(tick)
        shard.synchronize()
        began = time.perf_counter()
        for _ in range(steps):
            shard.run(spec.step, **scalars, **clouds.scalars(tick))
            clouds.settle(tick)
        shard.synchronize()
        return (time.perf_counter() - began) / steps

    return run_threads(sim.partition, job, device)[0]


def cavity(cells: tuple[int, int, int], count: int) -> tf.Case:
    """A cavity with 30 Jacobi sweeps a step, in single precision, and so many particles."""
    lid = {"type": "wall", "velocity": [1.0, 0.0, 0.0]}
    cloud = {"name": "cloud", "box": [[0, 0, 0], [1, 1, 0.5]], "count": count, "every": 1.0}
    return tf.Case(
        grid={"cells": cells, "lengths": [1.0, 1.0, 0.5]}, fluid={"viscosity": 1e-3}, time={"end": 1.0},
        boundaries={**dict.fromkeys(("x_min", "x_max", "y_min", "z_min", "z_max"), "wall"), "y_max": lid},
        pressure={"solver": "jacobi", "iterations": 30}, machine={"precision": "single"},
        particles=[cloud] if count else [],
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.gpu
def test_ten_million_cost_less_than_15_percent_of_a_step():
    from taskflow.runtime.machine.device import gpu

    without, with_them = (seconds(cavity((512, 512, 256), count), gpu(), 100) for count in (0, 10_000_000))
    print(f"step {1e3 * without:.3f} ms, with 10 million particles {1e3 * with_them:.3f} ms")
    assert with_them < 1.15 * without
