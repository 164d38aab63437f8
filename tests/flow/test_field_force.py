"""Forces that are formulas of fields, place and time: their kernels against NumPy, and flows with exact solutions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.cases.formulas.field_expression import FieldExpression
from taskflow.flow import StaggeredGrid
from taskflow.flow.forcing.field_force import FACE, forced
from taskflow.flow.forcing.stored import ForcedBody, _fitted, stored_force
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.tasks import Roles, record, reduced
from tests.flow.byhand import DT, LENGTHS, RATIO, ByHand, variant
from tests.flows import Flow, compute, orders
from tests.reference import Shifted

TAU = 2 * math.pi
PERIODIC = dict.fromkeys("xyz", "periodic")
SCHEMES = {"ab2": 2, "rk3": 3}  # and their orders
FIELDS = ("u", "v", "w", "T", "int")  # the last one, of C++, may be the name of a scalar
SOURCE = (
    "where(0.2 < x <= 0.9, exp(-(u - v)**2) * w, minimum(T, int)) + sin(3*t) * abs(y - z)**1.5 - maximum(int, 0.1)**3"
    " / (2 + x**2) + cos(u) * tanh(T) * (v > w) + (x != y) + sqrt(z) - log(2 + T) * e**-1 + cosh(v) + sinh(w) + tan(u)"
)
ORIGIN, TIME = (0.3, -0.2, 1.5), 0.37
UNEVEN = {"f8": 2e-13, "f4": 3e-5}


def edges(n: int, origin: float, length: float) -> tuple[float, ...]:
    share = np.linspace(0, 1, n + 1)
    return tuple((origin + length * (share + 0.3 * share * (1 - share))).tolist())


def brought(q: Shifted, of: str, at: str, grid: StaggeredGrid) -> np.ndarray:
    """A field of one location in another one, on lines between the nearest values."""
    for axis, face in enumerate(FACE.values()):
        if of == face != at:
            inner = q
            q = lambda *steps, inner=inner, axis=axis: (inner(*steps) + inner(*steps, 1, axis)) / 2  # noqa: E731
    for axis, face in enumerate(FACE.values()):
        if at == face != of:
            centres = grid.coordinates("c", axis, -1, grid.cells[axis])
            share = (grid.coordinates(at, axis, 0, grid.cells[axis]) - centres[:-1]) / np.diff(centres)
            share = share.reshape([-1 if a == 2 - axis else 1 for a in range(3)])
            return (1 - share) * q(-1, axis) + share * q()
    return q()


def grid_of(cells: tuple[int, int, int], walls: tuple[bool, bool, bool], *, stretched: bool) -> StaggeredGrid:
    x, y, z = (not wall for wall in walls)
    sides = tuple(edges(*item) if stretched else None for item in zip(cells, ORIGIN, LENGTHS, strict=True))
    return StaggeredGrid(cells, LENGTHS, ORIGIN, (x, y, z), sides)


@pytest.mark.parametrize(("on", "real", "stretched"), [
    pytest.param(on, real, stretched, marks=() if (on, stretched) in (("u", True), ("T", False)) else pytest.mark.slow)
    for on in "uvwT" for real, stretched in (("f8", False), ("f8", True))
] + [pytest.param("w", "f4", True, marks=pytest.mark.slow)])  # fmt: skip
def test_a_force(on, real, stretched, device):
    """A formula with everything that expressions have, between walls across x and z."""
    expression, walls = FieldExpression(SOURCE, FIELDS), (True, False, True)
    grid = grid_of((7, 5, 6), walls, stretched=stretched)
    at = FACE.get(on, "c")
    for bounded in (False, True) if on == "T" else (False,):
        task = variant(forced(expression.formula, on, ORIGIN, bounded=bounded), "q_faces")
        hand = ByHand(grid.cells, walls, real, **device).fill(task.fields)
        hand.scalars["time"] = TIME
        named = {name: hand.shifted(f"field_{name}")[0] for name in FIELDS}
        values = {name: brought(q, FACE.get(name, "c"), at, grid) for name, q in named.items()}
        x, y, z = grid.points(at, grid.box)
        F = expression(x, y, np.abs(z), TIME, values)
        index = np.arange(grid.cells[0]) if on == "u" else np.arange(grid.cells[2])[:, None, None] if on == "w" else 1
        F = np.where(index == 0, 0.0, F) if on in ("u", "w") else F
        before = {name: hand.values(name).astype("f8") for name in task.fields if name in ("h", "q_new", "q")}
        constants = {"grid": grid.constants, **({"part": 0.5} if bounded else {})}
        hand.run(hand.launch(task, constants))
        gains = {"q": 0.5 * DT * F} if bounded else {"h": F, "q_new": DT * (1 + RATIO / 2) * F}
        for name, gain in gains.items():
            error = np.abs(hand.values(name) - (before[name] + gain)).max() / max(1.0, np.abs(gain).max())
            assert error < UNEVEN[real], (name, bounded)


@pytest.mark.parametrize(("on", "real"), [
    ("u", "f8"), pytest.param("v", "f8", marks=pytest.mark.slow), pytest.param("w", "f4", marks=pytest.mark.slow),
])  # fmt: skip
def test_the_force_on_what_a_body_stores(on, real, device):
    """The sums over its closed faces, with no force beyond a box and where the formula is not finite, and their moments
    about a point, of the nearest images along x.
    """
    expression, walls = FieldExpression(SOURCE, FIELDS), (True, False, True)
    grid, at, axis = grid_of((7, 5, 6), walls, stretched=True), FACE[on], "uvw".index(on)
    task = stored_force(expression.formula, on, ORIGIN)
    hand = ByHand(grid.cells, walls, real, **device).fill(task.fields)
    hand.scalars["time"], random = TIME, np.random.default_rng(2)
    for name, highest in (("solid", 128), ("owner", 3)):
        hand.fields[name] = random.integers(0, highest, hand.fields[name].shape).astype("u1")
    named = {name: hand.shifted(f"field_{name}")[0] for name in FIELDS}
    values = {name: brought(q, FACE.get(name, "c"), at, grid) for name, q in named.items()}
    x, y, z = grid.points(at, grid.box)
    F = np.broadcast_to(expression(x, y, np.abs(z), TIME, values), hand.values("solid").shape)
    hand.fields["field_T"][random.random(hand.fields["field_T"].shape) < 0.1] = np.nan
    F = np.where(np.isnan(brought(hand.shifted("field_T")[0], "c", at, grid)), np.nan, F)
    k, j, i = np.indices(F.shape)
    mine = (hand.values("owner") == 2) & (hand.values("solid") & (64 | 1 << 2 * axis) > 0)
    dx, dy, dz = (grid.extents(at, a, 0, grid.cells[a]) for a in range(3))
    volume = np.where(mine, dz[:, None, None] * dy[:, None] * dx, 0.0)
    acts = (i >= 1) & (i < 6) & (j < 4) & (k >= 2) & np.isfinite(F)
    middle, period = (0.1, 0.2, 0.3), (grid.lengths[0], 0.0, 0.0)
    body = ForcedBody(2, (1.0, 0.0, 2.0), (6.0, 4.0, 6.0), middle, period)
    hand.run(hand.launch(task, {"grid": grid.constants, "body": body}))
    away = [c - origin - m for c, origin, m in zip(np.broadcast_arrays(x, y, z), ORIGIN, middle, strict=True)]
    away[0] -= period[0] * np.round(away[0] / period[0])
    wide = np.broadcast_arrays(dx, dy[:, None], dz[:, None, None])
    second = [away[a] * away[b] + (wide[a] ** 2 / 12 if a == b else 0) for a in range(3) for b in range(a, 3)]
    force = np.where(acts, volume * F, 0.0)
    expected = [(volume * by).sum() for by in (1.0, *away, *second)] + [(force * by).sum() for by in (1.0, *away)]
    assert np.count_nonzero(mine & ~np.isfinite(F)) > 3
    assert [*reduced(hand.scalars, "drive")] == pytest.approx(expected, rel=100 * UNEVEN[real])


def test_a_force_is_fitted_to_the_faces_of_a_body():
    """Nearly exactly if it is linear. With one layer of faces in a direction it has no slope along it."""
    place, centre = np.array([0.3, -0.2, 7.0]), np.array([0.1, 0.05, 0.4])
    at = np.stack([axis.ravel() for axis in np.meshgrid(*(np.arange(n) * 0.1 for n in (20, 10, 1)))])
    at = at - at.mean(axis=1, keepdims=True) + centre[:, None]
    force = 2 + 3 * at[0] - at[1] + 5 * at[2]
    second = [(at[a] * at[b]).sum() + (a == b) * at.shape[1] * 0.01 / 12 for a in range(3) for b in range(a, 3)]
    sums = np.array([at.shape[1], *at.sum(axis=1), *second, force.sum(), *(force * at).sum(axis=1)])
    assert _fitted(sums, place) == pytest.approx(2 + 3 * 0.3 + 0.2 + 5 * 0.4, rel=1e-3)
    assert _fitted(sums, None) == pytest.approx(force.mean())
    assert _fitted(np.zeros(14), place) == 0.0


def test_solid_cells_keep_their_value(device):
    task = forced(FieldExpression("1 + 0*T", ("T",)).formula, "T", ORIGIN, bounded=True)
    hand = ByHand((4, 3, 5), (False, False, False), **device).fill(["q", "field_T"])
    flags = np.where(np.random.default_rng(1).uniform(size=hand.fields["q"].shape) < 0.5, 1 << 12, 3).astype("u2")
    hand.fields["q_faces"] = flags
    before = hand.values("q").copy()
    hand.run(hand.launch(task, {"grid": hand.staggered.constants, "part": 1.0}))
    gain = np.where(flags[hand.box.slices(hand.memory.lo)] == 3, DT, 0.0)
    hand.assert_agrees("q", before + gain)
    assert 0 < np.count_nonzero(gain) < gain.size


def still(n: int, scheme: str, **tables) -> Case:
    """A fluid that is the same everywhere, in n steps to time 1."""
    return Case(**{
        "grid": {"cells": [3, 2, 4], "lengths": [1, 1, 1]}, "fluid": {"viscosity": 0}, "boundaries": PERIODIC,
        "time": {"steps": n, "step": 1 / n, "scheme": scheme}, "pressure": {"solver": "fft"}, **tables,
    })  # fmt: skip


@pytest.mark.parametrize("scheme", ["ab2", pytest.param("rk3", marks=pytest.mark.slow)])
def test_relaxation_decays_exponentially(scheme):
    """Towards a target, at a rate; what is bounded is of second order whatever the scheme."""
    def errors(n: int) -> np.ndarray:
        flow = compute(still(
            n, scheme, initial={"velocity": [0.2, 1, 0], "temperature": -1}, heat={"diffusivity": 0},
            scalars=[{"name": "c", "diffusivity": 0, "initial": 3}],
            forcing=[
                {"on": "u", "expression": "-2*(u - 1)"}, {"on": "v", "expression": "-v"},
                {"on": "T", "expression": "-3*(T - 0.5)"}, {"on": "c", "expression": "-2*c"},
            ],
        ))  # fmt: skip
        exact = {"u": 1 - 0.8 * math.exp(-2), "v": math.exp(-1), "T": 0.5 - 1.5 * math.exp(-3), "c": 3 * math.exp(-2)}
        assert all(np.ptp(flow[name]) < 1e-12 for name in exact)
        return np.array([abs(flow[name].mean() - value) for name, value in exact.items()])

    coarse, fine = errors(20), errors(40)
    assert fine.max() < 4e-3
    order = np.log2(coarse / fine)
    assert order[:3].min() > SCHEMES[scheme] - 0.25
    assert order[3] > 1.75


@pytest.mark.slow
@pytest.mark.parametrize("schemes", [("koren", "koren"), ("central", "koren"), ("koren", "central")])
@pytest.mark.parametrize("time", SCHEMES)
def test_scalars_that_make_each_other_are_of_second_order(schemes, time):
    """da/dt = b, db/dt = t - a: however they are advanced, both see each other at the same time."""
    def error(n: int) -> float:
        scalars = [
            {"name": name, "diffusivity": 0, "initial": initial, "scheme": scheme}
            for name, initial, scheme in zip("ab", (1, 0), schemes, strict=True)
        ]
        forcing = [{"on": "a", "expression": "b"}, {"on": "b", "expression": "t - a"}]
        flow = compute(still(n, time, scalars=scalars, forcing=forcing))
        a, b = 1 + math.cos(1) - math.sin(1), 1 - math.sin(1) - math.cos(1)
        return max(abs(flow["a"].mean() - a), abs(flow["b"].mean() - b))

    assert orders([error(20), error(40)], [1, 2])[0] > 1.75


def made(n: int, scheme: str) -> Flow:
    """The vortices u = sin x cos z cos t, w = -cos x sin z cos t, which a force keeps up, and what they carry, c =
    cos x cos z sin t, by a source in which the velocity itself occurs. Pressure takes the rest.
    """
    nu, kappa = 0.05, 0.03
    rate = f"{2 * nu}*cos(t) - sin(t)"
    carried = f"cos(x)*cos(z)*(cos(t) + {2 * kappa}*sin(t)) - u*sin(x)*cos(z)*sin(t) - w*cos(x)*sin(z)*sin(t)"
    return compute(Case(
        grid={"cells": [n, 1, n], "lengths": [TAU, 1, TAU]}, fluid={"viscosity": nu}, boundaries=PERIODIC,
        initial={"velocity": ["sin(x)*cos(z)", 0, "-cos(x)*sin(z)"]}, pressure={"solver": "fft"},
        time={"steps": n, "step": 1 / n, "scheme": scheme}, output={"precision": "double"},
        scalars=[{"name": "c", "diffusivity": kappa, "scheme": "central"}],
        forcing=[
            {"on": "u", "expression": f"sin(x)*cos(z)*({rate})"}, {"on": "w", "expression": f"-cos(x)*sin(z)*({rate})"},
            {"on": "c", "expression": carried},
        ],
    ))  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_manufactured_solution_in_space_and_time_is_of_second_order(scheme):
    errors = {"u": [], "w": [], "c": []}
    for n in (16, 32):
        flow = made(n, scheme)
        t = flow.tick.time
        for name, (function, amplitude) in {
            "u": (lambda x, z: np.sin(x) * np.cos(z), math.cos(t)),
            "w": (lambda x, z: -np.cos(x) * np.sin(z), math.cos(t)),
            "c": (lambda x, z: np.cos(x) * np.cos(z), math.sin(t)),
        }.items():
            x, _, z = flow.points(name)
            errors[name].append(abs(flow[name] - amplitude * function(x, z)).max())
    assert all(fine < 0.01 for _, fine in errors.values())
    assert all(orders(item, [16, 32])[0] > 1.8 for item in errors.values()), errors


def windy(**tables) -> Case:
    """Warm air through a box with a body, forced in every way."""
    return Case(**{
        "grid": {"cells": [11, 5, 9], "lengths": [1.0, 0.7, 1.3], "origin": [0.1, 0.0, 0.3]},
        "fluid": {"viscosity": 0.01}, "heat": {"diffusivity": 0.02, "expansion": 1.0},
        "boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "slip"},
        "body": {"gravity": [0, 0, -1]}, "initial": {"velocity": ["sin(6*x)*cos(z)", 0.2, "x*z"], "temperature": "x"},
        "obstacles": [{"name": "cube", "type": "box", "low": [0.4, 0, 0.3], "high": [0.7, 0.3, 0.7]}],
        "scalars": [
            {"name": "a", "diffusivity": 0.01, "initial": "z"},
            {"name": "b", "diffusivity": 0.01, "scheme": "central"},
        ],
        "forcing": [
            {"on": "u", "expression": "-abs(u)*u*(1 + v**2) + sin(5*t)", "where": "z < 1 + 0.2*T"},
            {"on": "v", "expression": "a*b - w", "box": [[0.1, 0, 0.3], [0.6, 0.5, 1.1]]},
            {"on": "w", "expression": "-w*exp(-(z - 1.6)**2)"}, {"on": "T", "expression": "-(T - x)*b*t"},
            {"on": "a", "expression": "u*b + t - a", "box": [[0.3, 0, 0.3], [1.1, 0.5, 1.6]]},
            {"on": "b", "expression": "a*sin(T)"},
        ],
        "time": {"steps": 5, "step": 0.01}, "pressure": {"solver": "multigrid", "outer": "none", "iterations": 3},
        "machine": {"device": "cpu", "threads": 1}, **tables,
    })  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("blocks", "scheme", "overlap", "treatment"), [
    ((1, 1, 3), "ab2", "full", "flagged"), ((2, 2, 2), "rk3", "comm", "flagged"),
    ((1, 1, 4), "ab2", "none", "immersed"),
])  # fmt: skip
def test_blocks(blocks, scheme, overlap, treatment):
    case = windy(time={"steps": 5, "step": 0.01, "scheme": scheme}, bodies={"treatment": treatment})
    one, several = compute(case, overlap="none"), compute(case, blocks, overlap=overlap)
    for name, values in one.padded.items():
        np.testing.assert_array_equal(several.padded[name], values, err_msg=name)
    assert all(np.ptp(one[name]) > 0.01 for name in ("u", "v", "w", "T", "a", "b"))


def test_other_tasks_are_those_of_a_flow_without_forces():
    """All others are launched as often, on the same fields."""
    def launches(case: Case) -> list[str]:
        sim = RunSetup(case, (1, 1, 1))
        return [str(launch) for launch in record(sim.model.step, Roles.of(tuple(sim.partition.fields)))[0]]

    with_forces = launches(windy())
    free = launches(windy(forcing=[]))
    others = [launch for launch in with_forces if not launch.startswith("force_")]
    assert len(with_forces) - len(others) == 7  # that of a, which is bounded, twice
    stopping = [launch for launch in others if not launch.startswith("stop")]
    assert sorted(stopping) == sorted(launch for launch in free if not launch.startswith("stop"))
