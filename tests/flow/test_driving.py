"""What drives flows: the tasks against NumPy, and flows whose exact course is known."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

import taskflow as tf
from taskflow.cases import Case
from taskflow.flow.forcing.driving import coriolis, coriolis_force, shift_to_mean, stratify
from taskflow.flow.operators.rates import exact_sum
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Roles, reduced
from tests.flow.byhand import DT, RATIO, ByHand, variant
from tests.flows import compute, norms, orders
from tests.reference import Shifted

CELLS = [(7, 5, 6), (1, 4, 3), (3, 2, 1), (1, 1, 1), (37, 3, 4)]
VELOCITY = ("u", "v", "w")
GAIN = DT * (1 + RATIO / 2)
PERIODIC = dict.fromkeys("xyz", "periodic")
CORIOLIS, STRATIFY = (tuple(variant(task, turned=axis) for axis in "xyz") for task in (coriolis, stratify))
SCHEMES = {"ab2": 2, "rk3": 3}  # and their orders
ROTATION = np.array([0.3, 0.5, 1.0])


def beside(q: Shifted, a: int, b: int) -> np.ndarray:
    """The mean of the four q, on faces across a, that surround a face across b."""
    return (q() + q(1, a) + q(-1, b) + q(1, a, -1, b)) / 4


def inside(hand: ByHand, axis: int, values: np.ndarray) -> np.ndarray:
    """The values, 0 on a low wall."""
    index = np.arange(hand.cells[axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
    return np.where(hand.walls[axis] & (index == 0), 0.0, values)


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize(("axis", "real"), [(0, "f8"), (1, "f8"), (2, "f8"), (2, "f4")])
def test_coriolis(axis, cells, real, device):
    task = CORIOLIS[axis]
    for walls in product((False, True), repeat=3):
        hand = ByHand(cells, walls, real, **device).fill(task.fields)
        r, s, *before = hand.shifted(*task.fields)
        a, b = (other for other in range(3) if other != axis)
        F = inside(hand, a, 1.7 * beside(s, b, a)), inside(hand, b, -1.7 * beside(r, a, b))
        hand.run(hand.launch(task, {"grid": hand.staggered.constants, "frequency": 1.7}))
        gains = (*F, GAIN * F[0], GAIN * F[1])
        for name, old, gain in zip(("h_r", "h_s", "r_new", "s_new"), before, gains, strict=True):
            hand.assert_agrees(name, old() + gain)


def test_the_coriolis_force_is_a_cross_product(device):
    """F = -2 Omega x u, of a velocity that is the same everywhere."""
    hand, u = ByHand((4, 3, 5), (False, False, False), **device), np.array([1.0, -0.4, 0.7])
    hand.fill(names := ("u", "v", "w", "h_u", "h_v", "h_w", "u_new", "v_new", "w_new"))
    for name in names:
        hand.fields[name][...] = u["uvw".index(name)] if name in VELOCITY else 0.0
    numbers = {"dt": "dt", "ratio": "ratio", "grid": hand.staggered.constants}
    hand.run(*coriolis_force(Roles.of(names), tuple(ROTATION), over=hand.box, **numbers))
    for name, F in zip(VELOCITY, -2 * np.cross(ROTATION, u), strict=True):
        hand.assert_agrees(f"h_{name}", np.full(hand.cells[::-1], F))
        hand.assert_agrees(f"{name}_new", np.full(hand.cells[::-1], GAIN * F))


@pytest.mark.parametrize("cells", CELLS)
@pytest.mark.parametrize(("axis", "real"), [(0, "f8"), (1, "f8"), (2, "f8"), (2, "f4")])
def test_stratification(axis, cells, real, device):
    task = STRATIFY[axis]
    hand = ByHand(cells, real=real, **device).fill(task.fields)
    q, h_T, T_new = hand.shifted(*task.fields)
    hand.run(hand.launch(task, {"gradient": -0.8}))
    F = 0.8 * (q() + q(1, axis)) / 2
    hand.assert_agrees("h_T", h_T() + F)
    hand.assert_agrees("T_new", T_new() + GAIN * F)


@pytest.mark.fast("*-f8")
@pytest.mark.parametrize("real", ["f4", "f8"])
@pytest.mark.parametrize("cells", CELLS)
def test_a_velocity_gets_its_mean(cells, real, device):
    hand = ByHand(cells, real=real, **device).fill(["q"])
    before = hand.values("q").astype("f8")
    hand.scalars["rate"] = 9.0  # of |q| up to 1
    where = {"grid": hand.staggered.constants, "axis": 0, "layer": False}
    hand.run(exact_sum("q", over=hand.box, total="total", bound="rate", scale=0.13, **where))
    assert reduced(hand.scalars, "total")[0] == pytest.approx(math.fsum(before.ravel()), rel=1e-14)
    hand.run(hand.launch(shift_to_mean, {"mean": 0.7, "share": 1 / before.size}))
    hand.assert_agrees("q", before + 0.7 - before.mean())


@pytest.mark.parametrize("speed", [0.07, 1.0, 2.0, 3.9])  # |q| is at most 16 times that
def test_a_sum_has_the_same_bits_in_any_order(speed, device):
    random = np.random.default_rng(3)
    hand = ByHand((41, 23, 12), **device).fill(["q"])
    hand.fields["q"] *= 10.0 ** random.uniform(-9, 0, hand.fields["q"].shape)
    hand.scalars["rate"] = speed
    inside, result = hand.box.slices(hand.memory.lo), []
    values = hand.fields["q"][inside].copy()
    for order in (np.arange(values.size), random.permutation(values.size)):
        hand.fields["q"][inside] = values.ravel()[order].reshape(values.shape)
        where = {"grid": hand.staggered.constants, "axis": 2, "layer": False}
        hand.run(exact_sum("q", over=hand.box, total="total", bound="rate", scale=1.0, **where))
        result.append([hand.scalars[f"total.0.{part}"] for part in ("total", "rest", "last")])
    assert result[0] == result[1]
    assert sum(result[0]) == pytest.approx(math.fsum(values.ravel()), rel=1e-15)


@pytest.mark.parametrize("task", CORIOLIS + STRATIFY, ids=lambda task: task.name)
def test_a_task_reads_exactly_what_it_declares(task):
    """Of one cell in the middle: NaN outside of the declared stencils changes nothing, each declared value does."""
    cell, numbers = Box((3, 3, 3), (4, 4, 4)), {"grid": None, "frequency": 1.7, "gradient": -0.8}
    clean = ByHand((7, 7, 7), (False, False, False)).fill(task.fields)
    numbers["grid"] = clean.staggered.constants
    constants = {name: numbers[name] for name in task.constants}

    def results(fields: dict[str, np.ndarray]) -> np.ndarray:
        hand = ByHand(clean.cells, clean.walls, fields=dict(fields))
        hand.run(hand.launch(task, constants, over=cell))
        return np.array([hand.values(name, cell) for name, access in task.fields.items() if access.writes])

    expected, poisoned = results(clean.fields), {}
    for name, privilege in task.fields.items():
        poisoned[name] = np.full_like(clean.fields[name], np.nan)
        for read in privilege.stencil.around(cell):
            where = read.slices(clean.memory.lo)
            poisoned[name][where] = clean.fields[name][where]
            for z, y, x in product(*(range(lo, hi) for lo, hi in zip(read.lo[::-1], read.hi[::-1], strict=True))):
                changed = clean.fields[name].copy()
                changed[Box((x, y, z), (x + 1, y + 1, z + 1)).slices(clean.memory.lo)] += 1.0
                assert (results({**clean.fields, name: changed}) != expected).any(), (name, x, y, z)
    np.testing.assert_array_equal(results(poisoned), expected)


@pytest.mark.parametrize("walls", [(False, False, False), (True, False, True), (True, True, True)])
def test_the_coriolis_force_does_no_work(walls):
    """Whatever the velocity is: sum of u F = 0."""
    hand, power, size = ByHand((7, 5, 6), walls).fill([*VELOCITY]), 0.0, 0.0
    for axis in np.flatnonzero(walls):  # nothing flows through
        for side in (0, 1):
            face = hand.box.layer(axis, side, -side, 1 - side)
            hand.fields[VELOCITY[axis]][face.slices(hand.memory.lo)] = 0.0
    for axis in np.flatnonzero(np.invert(walls)):  # the other side's
        for name in VELOCITY:
            values = np.moveaxis(hand.fields[name], 2 - axis, 0)
            values[0], values[-1] = values[-2].copy(), values[1].copy()
    for axis, task in enumerate(CORIOLIS):
        r, s = (name for n, name in enumerate(VELOCITY) if n != axis)
        for name in ("h_r", "h_s", "r_new", "s_new"):
            hand.fields[name] = np.zeros_like(hand.fields["u"])
        hand.fields |= {"r": hand.fields[r], "s": hand.fields[s]}
        hand.run(hand.launch(task, {"grid": hand.staggered.constants, "frequency": 1.7}))
        for name, along in (("h_r", r), ("h_s", s)):
            power += (hand.values(name) * hand.values(along)).sum()
            size += abs(hand.values(name) * hand.values(along)).sum()
    assert abs(power) < 1e-14 * size
    assert size > 10


def case(cells=(4, 1, 1), lengths=None, **tables) -> Case:
    """Of a fluid without friction in a periodic box, unless tables say otherwise."""
    base = {
        "grid": {"cells": cells, "lengths": lengths or [0.25 * n for n in cells]},
        "fluid": {"viscosity": 0.0},
        "boundaries": PERIODIC,
        "time": {"steps": 1},
    }
    return Case(**{**base, **tables})


def turned(velocity: np.ndarray, angle: float) -> np.ndarray:
    """A vector turned about ROTATION (Rodrigues)."""
    axis = ROTATION / np.linalg.norm(ROTATION)
    along = axis * (axis @ velocity)
    return along + (velocity - along) * np.cos(angle) + np.cross(axis, velocity) * np.sin(angle)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.fast("rk3")
def test_inertial_oscillation(scheme):
    """A uniform flow turns with -2 rotation; its error, that of its energy too, has the order of the scheme."""
    start, end = np.array([1.0, 0.2, -0.3]), 2.0
    expected = turned(start, -2 * np.linalg.norm(ROTATION) * end)
    errors, energies = [], []
    for steps in (40, 80):
        flow = compute(
            case(
                body={"rotation": list(ROTATION)},
                initial={"velocity": list(start)},
                time={"end": end, "step": end / steps, "scheme": scheme},
            )
        )
        result = np.array([flow[name].mean() for name in VELOCITY])
        errors.append(float(np.linalg.norm(result - expected)))
        energies.append(abs(float(result @ result - start @ start)))
    assert orders(errors, (1, 2))[0] == pytest.approx(SCHEMES[scheme], abs=0.15)
    assert orders(energies, (1, 2))[0] > SCHEMES[scheme] - 0.15


def test_a_geostrophic_wind_stays():
    """Its pressure gradient balances the Coriolis force, in every direction."""
    wind = [1.0, -0.7, 0.4]
    body = {"rotation": list(ROTATION), "geostrophic_wind": wind}
    flow = compute(case((4, 3, 2), body=body, initial={"velocity": wind}, time={"steps": 5, "step": 0.1}))
    for name, speed in zip(VELOCITY, wind, strict=True):
        np.testing.assert_allclose(flow[name], speed, rtol=0, atol=1e-14)


def test_the_ekman_layer():
    """u + iv = 1 - cosh(k (H - z)) / cosh(k H), k^2 = 2 i Omega / nu (Ekman 1905): a wind of 1 between wall and slip.

    On cells of height h 2 (cosh(k h) - 1) / h^2 stands for k^2, and cosh(k H) cosh(k h / 2) for cosh(k H): both of
    second order, and exact for the steady flow that is computed.
    """
    nu, omega, cells = 0.2, 1.0, 8
    flow = compute(
        case(
            (1, 1, cells),
            [1.0, 1.0, 1.0],
            fluid={"viscosity": nu},
            boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"},
            body={"rotation": [0.0, 0.0, omega], "geostrophic_wind": [1.0, 0.0, 0.0]},
            initial={"velocity": [1.0, 0.0, 0.0]},
            time={"end": 40.0, "scheme": "rk3", "cfl": 1.5, "diffusion": 0.4},
        )
    )
    k = np.arccosh(1 + 1j * omega / nu / cells**2) * cells
    shape = np.cosh(k * (1 - flow.points("u")[2])) / (np.cosh(k) * np.cosh(k / cells / 2))
    np.testing.assert_allclose((flow["u"] + 1j * flow["v"])[:, 0, 0], (1 - shape)[:, 0, 0], rtol=0, atol=1e-7)
    assert flow["v"].max() > 0.1


@pytest.mark.fast("ab2-0")
@pytest.mark.parametrize(("scheme", "axis"), [("ab2", 0), ("rk3", 1)])
def test_a_bulk_velocity_is_kept_by_the_known_force(scheme, axis):
    """Channel flow: F = 2 nu U / (1/6 + h^2/3) on h-wide cells of a channel of width 1, 12 nu U as h goes to 0."""
    cells, nu, h = 8, 0.1, 1 / 8
    along = "xy"[axis]
    flow = compute(
        case(
            (2, 3, cells),
            [1.0, 1.0, 1.0],
            fluid={"viscosity": nu},
            boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
            body={"bulk_velocity": {along: 1.5}},
            time={"end": 20.0, "steady": 1e-9, "scheme": scheme},
        ),
        (1, 1, 2),
    )
    model = flow.setup.model
    assert flow[VELOCITY[axis]].mean() == pytest.approx(1.5, rel=1e-14)
    forces = model.driving.forces(flow.scalars, model.scheme, flow.tick.dt, flow.setup.grid.box.volume)
    assert forces == {f"force_{along}": pytest.approx(2 * nu * 1.5 / (1 / 6 + h * h / 3), rel=1e-7)}
    z = flow.points("u")[2]
    profile = forces[f"force_{along}"] / (2 * nu) * (z * (1 - z) + h * h / 4)
    np.testing.assert_allclose(flow[VELOCITY[axis]], np.broadcast_to(profile, (cells, 3, 2)), rtol=1e-7)


@pytest.mark.slow
def test_a_mean_is_kept_in_a_flow_that_changes():
    """In single precision too; without a force along y, whose mean is free."""
    stirred = ["0.3 + sin(2*pi*y)", "0.2 + cos(2*pi*x) * sin(2*pi*z)", "sin(2*pi*x)"]
    flow = compute(
        case(
            (8, 6, 5),
            [1.0, 1.0, 1.0],
            fluid={"viscosity": 0.01},
            body={"bulk_velocity": {"x": 0.5, "z": 0.0}, "force": [0.0, 0.1, 0.0]},
            initial={"velocity": stirred},
            time={"steps": 8, "step": 0.02, "scheme": "rk3"},
            machine={"precision": "single"},
        ),
        (1, 1, 2),
    )
    assert flow["u"].mean(dtype="f8") == pytest.approx(0.5, abs=1e-7)
    assert flow["w"].mean(dtype="f8") == pytest.approx(0.0, abs=1e-7)
    assert flow["v"].mean(dtype="f8") == pytest.approx(0.2 + 0.1 * 0.16, abs=1e-6)


@pytest.mark.fast("ab2-0")
@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("scheme", SCHEMES)
def test_brunt_vaisala_oscillation(axis, scheme):
    """Columns along gravity oscillate with N^2 = expansion g dT/dz, exactly but for the time scheme."""
    expansion, g, slope, end = 0.5, 9.0, 2.0, 1.0  # N = 3
    along, gravity, gradient, velocity = [0, 1, 2], [0.0] * 3, [0.0] * 3, ["0", "0", "0"]
    across = (axis + 1) % 3
    gravity[axis], gradient[axis], velocity[axis] = -g, slope, f"cos(2*pi*{'xyz'[across]})"
    cells = [8 if n == across else 3 for n in along]
    errors = []
    for steps in (50, 100):
        flow = compute(
            case(
                cells,
                [1.0, 1.0, 1.0],
                heat={"diffusivity": 0.0, "expansion": expansion, "background_gradient": gradient},
                body={"gravity": gravity},
                initial={"velocity": velocity},
                time={"end": end, "step": end / steps, "scheme": scheme},
            )
        )
        shape = np.cos(2 * np.pi * flow.points("T")[across])
        q_error = flow[VELOCITY[axis]] - shape * np.cos(3.0 * end)
        T_error = flow["T"] + shape * slope / 3.0 * np.sin(3.0 * end)
        errors.append(max(norms(q_error)[1], norms(T_error)[1]))
    assert orders(errors, (1, 2))[0] == pytest.approx(SCHEMES[scheme], abs=0.2)
    assert errors[1] < {"ab2": 5e-3, "rk3": 2e-5}[scheme]


def test_rotation_and_stratification_make_no_energy():
    """Without friction sum of |u|^2 / 2 + expansion g / slope T^2 / 2 changes by the error of the time scheme alone."""
    expansion, g, slope, changes = 0.5, 9.0, 2.0, []
    for steps in (6, 12):
        flow = compute(
            case(
                (8, 6, 10),
                [1.0, 0.9, 1.2],
                heat={"diffusivity": 0.0, "expansion": expansion, "background_gradient": [0.0, 0.0, slope]},
                body={"gravity": [0.0, 0.0, -g], "rotation": list(2 * ROTATION)},
                initial={"noise": {"rms": 0.3, "wavenumber": 8.0}, "temperature": "0.2 * sin(2*pi*x) * cos(2*pi*y)"},
                time={"end": 0.3, "step": 0.3 / steps, "scheme": "rk3"},
                monitor={"every": {"steps": steps}},
            )
        )
        start, end = (line["energy"] for line in flow.history)
        stored = expansion * g / slope / 2
        temperature = np.sin(2 * np.pi * flow.points("T")[0]) * np.cos(2 * np.pi * flow.points("T")[1]) * 0.2
        start += stored * np.broadcast_to(temperature**2, flow["T"].shape).mean()
        changes.append(abs(end + stored * (flow["T"] ** 2).mean() - start))
    assert changes[0] < 1e-3 * start
    assert orders(changes, (1, 2))[0] > 2.8


def test_oscillations_bound_the_step():
    """Of a fluid at rest as of one that moves: dt (|u|/dx + 2 Omega + N) = cfl."""
    driven = case(
        heat={"diffusivity": 0.0, "expansion": 0.5, "background_gradient": [0.0, 0.0, 2.0]},
        body={"gravity": [0.0, 0.0, -9.0], "rotation": [0.0, 0.6, 0.8]},
        initial={"velocity": [0.5, 0.0, 0.0]},
    )
    assert RunSetup(driven, (1, 1, 1)).clock.limit.longest(0.0) == pytest.approx(0.5 / (2 + 3))
    assert compute(driven).tick.dt == pytest.approx(0.5 / (0.5 / 0.25 + 2 + 3))


def driven(means: dict | None, precision: str, scheme: str) -> Case:
    """A flow with all that can drive it, everywhere different."""
    return case(
        (9, 5, 7),
        [1.0, 0.7, 1.3],
        fluid={"viscosity": 0.01},
        boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"},
        heat={"diffusivity": 0.02, "expansion": 1.0, "background_gradient": [0.3, -0.2, 1.0]},
        body={"gravity": [0.1, 0.2, -1.0], "rotation": list(ROTATION), "bulk_velocity": means},
        initial={"velocity": ["sin(6*x) * cos(z)", "0.3 * cos(5*y)", "x * z"], "temperature": "x + sin(7*z)"},
        time={"steps": 4, "scheme": scheme},
        pressure={"iterations": 7},
        machine={"precision": precision},
    )


@pytest.mark.fast("means0-*", "None-*")
@pytest.mark.parametrize(
    ("means", "precision", "scheme", "blocks", "overlap"),
    [
        ({"x": 0.4, "y": 0.0}, "single", "ab2", (2, 1, 1), "full"),
        ({"x": 0.4, "y": 0.1}, "double", "rk3", (1, 1, 2), "comm"),
        (None, "double", "ab2", (1, 3, 1), "none"),
    ],
)
def test_any_blocks_give_the_same_bits(means, precision, scheme, blocks, overlap):
    one = compute(driven(means, precision, scheme), overlap="none")
    flow = compute(one.setup.case, blocks, overlap=overlap)
    assert np.ptp(one["u"]) > 0.1
    for name, values in one.padded.items():
        np.testing.assert_array_equal(flow.padded[name], values, err_msg=name)
    if means:
        assert one["u"].mean(dtype="f8") == pytest.approx(0.4, rel=1e-6 if precision == "single" else 1e-14)


@pytest.mark.slow
def test_bodies_stand_still():
    """In a frame that turns and a stratified fluid as in others."""
    body = {"type": "box", "low": [0.3, 0.2, 0.4], "high": [0.7, 0.5, 0.9]}
    settings = {"boundaries": PERIODIC, "pressure": {"solver": "multigrid"}, "obstacles": [body]}
    tables = driven(None, "double", "ab2").model_dump(include={"grid", "fluid", "heat", "body", "time"})
    flow = compute(case(**{**tables, **settings, "initial": {"velocity": [0.3, 0.2, 0.1]}}))
    inside = slice(3, 4), slice(2, 3), slice(3, 6)  # cells [z, y, x], and their low faces
    for name in VELOCITY:
        assert not flow[name][inside].any()
        assert np.ptp(flow[name]) > 0.01


def test_the_log_has_the_force(tmp_path):
    """At first the walls take nu du/dz = 2 nu U / h at each of both from a plug flow."""
    machine = {"workers": 1, "threads": 1, "device": "cpu"}
    run = tf.run(
        case(
            (2, 2, 8),
            [1.0, 1.0, 1.0],
            fluid={"viscosity": 0.1},
            boundaries={"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
            body={"bulk_velocity": {"y": 1.5}},
            time={"steps": 2, "step": 1e-3},
            monitor={"every": {"steps": 1}},
            machine=machine,
        ),
        tmp_path / "run",
    )
    forces = [line["force_y"] for line in run.log()]
    assert np.isnan(forces[0])
    assert forces[1] == pytest.approx(2 * 0.1 * 1.5 * 2 * 8, rel=1e-12)
    assert 0 < forces[2] < forces[1]
    assert run.dataset()["v"].isel(time=0).values == pytest.approx(1.5)
