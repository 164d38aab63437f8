"""Immersed bodies that move: momentum and mass, blocks, checkpoints, frames of reference, bad input."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.common.errors import BadInput, Lost, RunFailed
from taskflow.flow.bodies.moving import BODY
from taskflow.output import dataset
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.regions import Box
from taskflow.systems.bodies.paths import Surroundings
from tests.flows import VELOCITY, Flow, Lengths, compute
from tests.runs.going_on import assert_same_run, go

IMMERSED = {"treatment": "immersed"}
DIRECT = {"solver": "multigrid", "tolerance": 1e-11}
PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}
BALL = {
    "type": "sphere", "name": "ball", "centre": [1.9, 0.6, 0.5], "radius": 0.25,
    "motion": {"displacement": ["0.8*t", "0.1*sin(3*t)", 0]},
}  # fmt: skip
BAR = {
    "type": "box", "name": "bar", "low": [0.7, 0.3, 0.8], "high": [1.2, 0.8, 1.3],
    "motion": {"angle": {"y": "2*t"}, "centre": [1.0, 0.5, 1.05]},
}  # fmt: skip
STILL = {"type": "sphere", "name": "still", "centre": [1.6, 0.1, 1.2], "radius": 0.15}
DROP = {
    "type": "implicit", "name": "drop", "inside": "(x-0.4)**2 + (y-0.3)**2 + 2*(z-0.4)**2 - 0.04",
    "motion": {"displacement": [0, 0, "0.3*sin(t)"]},
}  # fmt: skip


def stirred(pressure: dict | None = None, **changes) -> Case:
    """A ball that comes through a periodic side, a bar that turns, a formula that rises, and a ball at rest."""
    tables = {
        "grid": {"cells": [20, 12, 16], "lengths": [2.0, 1.2, 1.6]}, "fluid": {"viscosity": 0.02},
        "boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"},
        "initial": {"velocity": ["0.3*sin(pi*z)", "0.1*cos(pi*x)", 0]}, "bodies": IMMERSED,
        "time": {"steps": 5, "cfl": 0.4}, "obstacles": [BALL, BAR, STILL, DROP],
        "output": {"fields": ["u", "w", "p"], "precision": "double", "every": {"steps": 3}},
        "monitor": {"every": {"steps": 1}}, "machine": {"device": "cpu", "threads": 1},
    }  # fmt: skip
    return Case(**{**tables, **changes}, pressure=pressure or {"iterations": 4})


@cache
def whole() -> Flow:
    return compute(stirred())


def forces(flow: Flow, at: int = -1) -> dict[str, np.ndarray]:
    """What the last step before a line of the log has taken from the fluid, by body."""
    bodies = flow.setup.model.obstacles.measured(flow.history[at])
    return {name: np.array(body["force"]) for name, body in bodies.items()}


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "overlap"), [
    ((1, 1, 2), "full"), pytest.param((2, 2, 1), "comm", marks=pytest.mark.slow),
])  # fmt: skip
def test_blocks_do_not_change_a_bit(blocks, overlap):
    """Bodies are cut by the sides of blocks, and cross them."""
    cut = compute(stirred(), blocks, overlap=overlap)
    for name in (*VELOCITY, "p"):
        np.testing.assert_array_equal(cut[name], whole()[name], err_msg=name)
    for name, force in forces(whole()).items():
        np.testing.assert_allclose(forces(cut)[name], force, rtol=1e-9, atol=1e-12)


def test_bodies_hold_their_velocity_which_is_free_of_divergence():
    flow = compute(stirred(obstacles=[BAR], time={"steps": 3, "cfl": 0.4}))
    grid, solids = flow.setup.grid, flow.setup.system.moving.solids(flow.tick.time)
    divergence, omega = np.zeros(grid.box.shape[::-1]), 2.0
    for axis, (role, name) in enumerate(zip(BODY, VELOCITY, strict=True)):
        at = ("fx", "fy", "fz")[axis]
        inside = solids.numbers(grid.box, at) > 0
        x, _, z = np.broadcast_arrays(*grid.points(at, grid.box))
        exact = (omega * (z - 1.05), 0 * x, -omega * (x - 1.0))[axis]
        np.testing.assert_allclose(flow[role][inside], exact[inside], atol=1e-13)
        np.testing.assert_array_equal(flow[name][inside], flow[role][inside])
        divergence += np.roll(flow[role], -1, 2 - axis) - flow[role]
    deep = np.all([solids.numbers_around(grid.box, at)[tuple(
        slice(1 + (n == 2 - a and s), -1 + (n == 2 - a and s) or None) for n in range(3))] > 0
        for a, at in enumerate(("fx", "fy", "fz")) for s in (0, 1)], axis=0)  # fmt: skip
    assert deep.sum() > 20
    assert (divergence[deep] == 0).all()


@pytest.mark.slow
def test_momentum_is_that_which_bodies_give():
    """In a periodic domain nothing else changes it: balanced to rounding, in every step, body by body."""
    flow = compute(stirred(DIRECT, boundaries=PERIODIC, time={"steps": 6, "cfl": 0.4}))
    h = flow.setup.grid.volume
    momentum = []
    for steps in (5, 6):
        state = compute(stirred(DIRECT, boundaries=PERIODIC, time={"steps": steps, "cfl": 0.4}))
        momentum.append(np.array([state[name].sum() * h for name in VELOCITY]))
    change = (momentum[1] - momentum[0]) / flow.tick.dt
    total = sum(forces(flow).values())
    assert np.abs(total).max() > 0.01
    np.testing.assert_allclose(-total, change, atol=1e-9)


@pytest.mark.slow
def test_mass_is_kept_to_the_tolerance_of_the_pressure():
    flow = compute(stirred({"solver": "multigrid", "tolerance": 1e-9}, obstacles=[BALL, BAR, STILL]))
    assert all(line["divergence"] < 1e-6 for line in flow.history)
    assert all(line["residual"] <= 1e-18 * line["norm"] for line in flow.history[1:])


def test_a_body_that_is_told_to_stay_is_one_at_rest():
    still = {**BALL, "centre": [0.8, 0.6, 0.7], "motion": {"displacement": ["0*t", 0, 0]}}
    rest = {name: value for name, value in still.items() if name != "motion"}
    lengths = Lengths((0.01, 0.02, 0.015, 0.01))
    moving, standing = (compute(stirred(DIRECT, obstacles=[body]), clock=lengths) for body in (still, rest))
    for name in (*VELOCITY, "p"):
        np.testing.assert_allclose(moving[name], standing[name], atol=1e-9, err_msg=name)


@pytest.mark.parametrize("tables", [
    {"body": {"force": [0.3, "-0.2 + 0*t", -1.0]}},
    {"body": {"gravity": [-0.3, 0.2, 1.0]}, "heat": {"diffusivity": 0.1, "expansion": 1.0},
     "initial": {"temperature": 1.0}},
])  # fmt: skip
def test_fluid_at_rest_lifts_bodies_as_archimedes_says(tables):
    """One that could move, and one that stays beside it and reaches out of the domain; also the moments."""
    heat = {"temperature": 1.0} if "heat" in tables else {}
    ball = {**BALL, "centre": [0.52, 0.47, 0.9], "radius": 0.25, "motion": {"displacement": ["0*t", 0, 0]}}
    step = {"type": "box", "name": "step", "low": [0.21, 0.21, -1.0], "high": [0.81, 0.77, 0.33]}
    case = stirred(DIRECT, **{
        "grid": {"cells": [20, 20, 26], "lengths": [1.0, 1.0, 1.3]}, "initial": {}, "time": {"steps": 2, "step": 0.002},
        "boundaries": {f"{axis}_{end}": "wall" for axis in "xyz" for end in ("min", "max")},
        "obstacles": [{**ball, **heat, "moment_about": [0.1, 0.2, 0.3]}, {**step, **heat}], **tables,
    })  # fmt: skip
    flow = compute(case)
    bodies = flow.setup.system.measures.line(flow.history[-1], flow.tick, 0.0)["bodies"]
    lift = np.array([-0.3, 0.2, 1.0]) * 4 / 3 * np.pi * 0.25**3
    np.testing.assert_allclose(bodies["ball"]["force"], lift, rtol=0.03)
    np.testing.assert_allclose(bodies["ball"]["moment"], np.cross([0.42, 0.27, 0.6], lift), rtol=0.03, atol=3e-4)
    np.testing.assert_allclose(bodies["step"]["force"][:2], np.array([-0.3, 0.2]) * 0.6 * 0.56 * 0.33, rtol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("pressure", "blocks", "other"), [
    ({"iterations": 4}, (1, 1, 1), (1, 1, 2)),
    pytest.param({"solver": "multigrid"}, (1, 1, 2), (1, 1, 2), marks=pytest.mark.slow),
])  # fmt: skip
def test_going_on_from_a_checkpoint_to_the_bit(pressure, blocks, other, tmp_path):
    """The checkpoint has no geometry: it follows from the time. With sweeps on other blocks, too."""
    case = stirred(pressure, checkpoint={"every": {"steps": 2}})
    go(case, tmp_path / "whole", blocks)
    go(case, tmp_path / "run", blocks, kill=4)
    go(case, tmp_path / "run", other, resume=True)
    assert_same_run(tmp_path / "run", tmp_path / "whole", rel=0.0 if blocks == other else 1e-9)
    with dataset(tmp_path / "run" / "fields.zarr") as store:
        assert store["solid"].dims[0] == "time"
        for n, time in enumerate(store["time"].values.tolist()):
            mask = RunSetup(case, (1, 1, 1)).bodies.moving.solids(time).mask(Box.of((20, 12, 16)))
            np.testing.assert_array_equal(store["solid"].values[n], mask)


def refused(error: type[Exception] = BadInput, **changes) -> str:
    with pytest.raises(error) as caught:
        RunSetup(stirred(**changes), (1, 1, 1)).system.check()
    return str(caught.value)


def ball(**changes) -> list[dict]:
    return [{**BALL, **changes}]


def told(**motion) -> list[dict]:
    return ball(centre=[0.8, 0.6, 0.7], motion=motion)


ALONG = {"displacement": ["0.1*t", 0, 0]}
RUN = {"end": 2.0, "cfl": 0.4}
OPENED = {
    "x_min": {"type": "inflow", "velocity": [1, 0, 0]}, "x_max": "outflow", "y": "periodic", "z_min": "wall",
    "z_max": "slip",
}  # fmt: skip


@pytest.mark.parametrize(("changes", "words"), [
    ({"obstacles": ball(name=None)}, ["obstacles[1].motion", "needs a name; give it one"]),
    ({"bodies": {}}, ["obstacles[1].motion", 'give bodies.treatment = "immersed"']),
    ({"pressure": {"solver": "fft"}}, ["pressure.solver", 'give "multigrid"']),
    ({"time": {"steps": 5, "scheme": "rk3"}},
     ["time.scheme", 'not supported together with obstacles[1].motion; give "ab2"']),
    ({"body": {"bulk_velocity": {"x": 1.0}}},
     ["body.bulk_velocity", "not supported together with obstacles[1].motion; omit one of them"]),
    ({"obstacles": told(displacement=["x*t", 0, 0])}, ["obstacles[1].motion.displacement", "has x", "in t alone"]),
    ({"obstacles": told(displacement=["u", 0, 0])}, ["obstacles[1].motion.displacement", "there is no u"]),
    ({"obstacles": told(angle={"x": "t", "z": "t"})}, ["obstacles[1].motion.angle.z", "give one"]),
    ({"obstacles": told()}, ["obstacles[1].motion.displacement", "missing"]),
    ({"obstacles": told(**ALONG, centre=[0, 0, 0])}, ["obstacles[1].motion.centre", "omit it"]),
    ({"obstacles": [*told(**ALONG), *told(displacement=["0.2*t", 0, 0])]},
     ["obstacles[2].motion", "give the parts of one name one motion"]),
])  # fmt: skip
def test_cases_that_are_refused(changes, words):
    message = refused(pressure=changes.pop("pressure", None), **changes)
    assert all(word in message for word in words), message


@pytest.mark.parametrize(("changes", "words"), [
    ({"obstacles": told(displacement=["where(t < 1, 0, 0.2)", 0, 0])},
     ["obstacles[1].motion.displacement[1]", "jumps at time 1"]),
    ({"obstacles": told(displacement=["log(1.5 - t)", 0, 0])},
     ["obstacles[1].motion.displacement[1]", "not finite at time 1.5"]),
    ({"obstacles": told(displacement=["0.6*t", 0, 0]), "boundaries": OPENED}, ["ball", "the outflow x_max", "at time"]),
    ({"obstacles": told(displacement=[0, 0, "-0.3*t"])}, ["ball", "touches the wall z_min", "leave a cell or more"]),
    ({"obstacles": [*told(displacement=["0.4*t", 0, 0]), {**STILL, "centre": [1.6, 0.6, 0.7]}]},
     ["ball", "still", "contact"]),
    ({"obstacles": told(displacement=["2*sin(t)", 0, 0]), "time": {"end": 2.0, "step": 0.1}},
     ["time.step = 0.1", "time.cfl"]),
])  # fmt: skip
def test_ways_that_cannot_be_gone(changes, words):
    message = refused(**{"time": RUN, **changes})
    assert all(word in message for word in words), message


def test_a_step_that_is_too_long_is_made_shorter_or_refused():
    """With time.cfl the surface moves half a spacing at most, however slow the flow is."""
    fast = told(displacement=["0.5*(1 - cos(9*t))", 0, 0])
    setup = RunSetup(stirred(obstacles=fast, time={"end": 1.0, "cfl": 0.5}), (1, 1, 1))
    tick = setup.clock.advance(setup.clock.start(), 0.0)
    assert 0.2 < setup.bodies.moving.spacings(0.0, tick.dt) <= 0.5
    fixed = RunSetup(stirred(obstacles=fast, time={"steps": 9, "step": 0.1}), (1, 1, 1)).clock
    with pytest.raises(RunFailed, match=r"more than half a spacing in time.step = 0.1; give one of 0.05"):
        fixed.advance(fixed.start(), 0.0)


@pytest.mark.parametrize(("way", "end", "now"), [
    ("0.9*exp(-((t-5.3)/0.1)**2)", 1000.0, 5.3), ("0.9*sin(2*pi*t)", 800.0, 0.25),
], ids=["kick", "periods"])  # fmt: skip
def test_a_way_that_was_not_seen_ends_the_run(way, end, now):
    """It has moments of the whole run. Without a known end all cells are looked at."""
    quick = {"obstacles": told(displacement=[way, 0, 0]), "grid": {"cells": [40, 8, 16], "lengths": [4.0, 0.8, 1.6]}}
    surroundings = RunSetup(stirred(**quick, time={"end": end, "cfl": 0.4}), (1, 1, 1)).system.surroundings
    surroundings.follow(0.0)
    for failure in (None, RunFailed("it diverged")):  # a body in the way is why
        with pytest.raises(RunFailed, match=rf'obstacles\[1\].motion: at time {now:g} "ball" .* give .* time.steps'):
            _fail(surroundings, now, failure)
    with pytest.raises(Lost, match="a worker"):
        _fail(surroundings, now, Lost("a worker"))
    RunSetup(stirred(**quick, time={"steps": 9, "cfl": 0.4}), (1, 1, 1)).system.surroundings.follow(now)


def _fail(surroundings: Surroundings, time: float, failure: RunFailed | None) -> None:
    with surroundings.followed(time):
        if failure is not None:
            raise failure


@pytest.mark.slow
def test_a_surface_of_triangles_turns_and_rises_with_eddies(tmp_path):
    """It has the volume of its triangles, and blocks change no bit."""
    trimesh = pytest.importorskip("trimesh")
    mesh = trimesh.creation.icosphere(subdivisions=2, radius=0.25).apply_scale([1.4, 1.0, 0.6])
    mesh.export(tmp_path / "egg.stl")
    motion = {"displacement": ["0.3*sin(2*t)", 0, "0.1*t"], "angle": {"y": "t"}, "centre": [1.0, 0.6, 0.9]}
    file = str(tmp_path / "egg.stl")
    egg = {"type": "surface", "name": "egg", "file": file, "shift": [1.0, 0.6, 0.9], "motion": motion}
    case = stirred(obstacles=[egg, {**BALL, "centre": [1.9, 0.6, 0.4]}], turbulence={"model": "wale"})
    one, cut = compute(case), compute(case, (2, 1, 2))
    for name in (*VELOCITY, "p"):
        np.testing.assert_array_equal(cut[name], one[name], err_msg=name)
    assert one.setup.bodies.driven["egg"].mass.volume == pytest.approx(mesh.volume, rel=0.01)
