"""Implicit diffusion along one direction: its lines against dense solves, whole steps against explicit ones, the order
in time, and that blocks change no bit.
"""

from __future__ import annotations

import tomllib
from itertools import product

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.common.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.flow.models.projection.implicit import ImplicitDiffusion
from taskflow.flow.poisson.lines import begin_lines, end_lines
from taskflow.flow.stability import amplification
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, RUNGE_KUTTA
from taskflow.runs.state.restart import changes
from taskflow.runs.state.setup import RunSetup
from taskflow.runtime.machine import Mapper, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.regions import Box, Field, FieldSpace, Partition, Region
from tests.flow.test_stretched import uneven
from tests.flows import Flow, compute, orders
from tests.runs.going_on import assert_same_run, go

CELLS = (7, 11, 6)
NU, DT = 0.7, 0.3
FIELDS = ("u", "v", "w", "p", "T", "dye", "smoke")


def warm(along: str | None = "z", steps: int = 6, **changes) -> Case:
    """A heated box with a lid that moves, everywhere different; a scalar that diffuses along, and one within bounds."""
    tables = {
        "grid": {"cells": [8, 5, 7], "lengths": [1.0, 0.8, 1.0]},
        "fluid": {"viscosity": 0.05},
        "heat": {"diffusivity": 0.04, "expansion": 2.0},
        "scalars": [
            {"name": "dye", "diffusivity": 0.03, "scheme": "central", "initial": "z",
             "boundaries": {"z_min": {"value": "1 + t"}, "x_max": {"flux": 0.1}}},
            {"name": "smoke", "diffusivity": 0.01, "initial": "x"},
        ],
        "body": {"gravity": [0.0, 0.3, -1.0], "force": [0.0, "cos(9*t)", 0.1]},
        "boundaries": {
            "x_min": {"type": "wall", "temperature": 1.0}, "x_max": "slip", "y": "periodic",
            "z_min": {"type": "wall", "heat_transfer": 0.3, "outside_temperature": 2.0},
            "z_max": {"type": "wall", "velocity": ["cos(5*t)", 0.4, 0.0]},
        },
        "initial": {"velocity": ["sin(pi*x)", "cos(2*pi*x)*z", "x*z"], "temperature": "x*z + sin(2*pi*y/0.8)"},
        "time": {"end": 0.4, "step": 0.4 / steps, "implicit": [along] if along else None},
        "pressure": {"iterations": 7},
        "output": {"precision": "double"},
        "checkpoint": {"every": {"steps": 3}},
        "machine": {"device": "cpu", "threads": 1},
    }  # fmt: skip
    for path, value in changes.items():
        table, _, key = path.partition("__")
        tables[table] = {**tables.get(table, {}), key: value} if key else value
    return Case(**tables)


def second_difference(n: int, widths: np.ndarray, on_faces: bool, low: float, high: float) -> np.ndarray:
    """The matrix of d2/ds2 in cells, with factors of the values beyond the ends, or on the faces 1 to n - 1."""
    around = np.pad(widths, 1, mode="symmetric")
    distances = (around[1:] + around[:-1]) / 2
    if on_faces:
        heights, conductances, ends = distances[1:-1], 1 / widths, (1.0, 1.0)
    else:
        heights, conductances, ends = widths, 1 / distances, (1 - low, 1 - high)
    count = len(heights)
    c = np.concatenate([[ends[0] * conductances[0]], conductances[1:-1], [ends[1] * conductances[-1]]])
    matrix = np.diag(-c[:-1] - c[1:]) + np.diag(c[1:-1], 1) + np.diag(c[1:-1], -1)
    assert matrix.shape == (count, count)
    return matrix / heights[:, None]


def advance(grid, axis, old, new, on_faces, factors, blocks) -> np.ndarray:
    """q_new after implicit diffusion of q, both [z, y, x] with ghost cells along the axis that keep what they hold."""
    constants = grid.constants
    implicit = ImplicitDiffusion(axis, constants, blocks)
    space = FieldSpace(Field(name, old.dtype.str[1:]) for name in ("p", "rhs", "q", "q_new"))
    main = Partition(Region(Box.of(grid.cells), space, grid.periodic, 1), blocks)
    where = Partition(main.region, blocks, beside=implicit.partitions(main, ()))
    lines, along, result = implicit.lines, "xyz"[axis], np.empty_like(new)
    chain = lines.on_faces() if on_faces else lines.in_cells(*factors)
    over = Box.of(grid.cells).expand(tuple(-int(on_faces and a == axis) for a in range(3)), (0, 0, 0))
    bounds = main.region.bounds

    def program(f):
        yield lines.find(f.leaks_along, chain, dt="dt", diffusivity=NU)
        yield begin_lines(f.q, f.q_new, f.rhs, over=over, along=along, grid=constants, on_face=on_faces)
        yield from lines.solve(f, f.leaks_along, chain, over=over, dt="dt", diffusivity=NU)
        yield end_lines(f.q_new, f.rhs, None, over=over, along=along, dt="dt", grid=constants)

    def job(shard):
        for box in main.own_of(shard.block):
            cells = box.slices(bounds.lo)
            shard.write({"q": old[cells], "q_new": new[cells]}, box)
        shard.run(program, dt=DT)
        mine = main.cells_of(shard.block)[0]
        result[mine.slices(bounds.lo)] = shard.read("q_new")

    run_threads(where, job, cpu(1), Mapper("none"))
    return result[Box.of(grid.cells).slices(bounds.lo)]


@pytest.mark.parametrize(("axis", "stretch"), [
    (2, True), *(pytest.param(axis, stretch, marks=pytest.mark.slow)
                 for axis, stretch in product(range(3), (False, True)) if (axis, stretch) != (2, True)),
])  # fmt: skip
def test_the_change_is_that_of_a_dense_solve(axis, stretch):
    """(1 - a L) change = a (L q + L q_new), in cells and on faces."""
    random, n, factors, lengths = np.random.default_rng(1), CELLS[axis], (-1.0, 0.4), (1.1, 0.7, 1.7)
    edges = tuple(uneven(n, lengths[a]) if stretch and a == axis else None for a in range(3))
    grid = StaggeredGrid(CELLS, lengths, periodic=tuple(a != axis for a in range(3)), edges=edges)
    widths = np.pad(grid.widths(axis), 1, mode="symmetric")
    for on_faces in (False, True):
        old, new = random.standard_normal((2, *(CELLS[a] + 2 * (a == axis) for a in (2, 1, 0))))
        lines = [np.moveaxis(q, 2 - axis, 0) for q in (old, new)]
        for q in lines:
            if on_faces:
                q[1] = q[-1] = 0.0  # on the walls
            else:
                q[0], q[-1] = factors[0] * q[1] + 0.3, factors[1] * q[-2] - 0.2
        L = second_difference(n, grid.widths(axis), on_faces, *factors)
        first, a = 1 + on_faces, DT * NU / 2
        inside = slice(first, n + 1)
        curved = np.zeros_like(lines[0][inside])
        for q in lines:
            if on_faces:
                curved += np.tensordot(L, q[inside], 1)
            else:
                slopes = np.diff(q, axis=0) / ((widths[1:] + widths[:-1]) / 2)[:, None, None]
                curved += np.diff(slopes, axis=0) / widths[1:-1, None, None]
        change = np.linalg.solve(np.eye(len(L)) - a * L, (a * curved).reshape(len(L), -1)).reshape(curved.shape)
        result = [
            np.moveaxis(advance(grid, axis, old, new, on_faces, factors, blocks), 2 - axis, 0)[first - 1 :]
            for blocks in ((1, 1, 1), (1, 1, 3), (2, 2, 1))
        ]
        np.testing.assert_allclose(result[0], lines[1][inside] + change, rtol=0, atol=1e-12)
        for cut in result[1:]:
            np.testing.assert_array_equal(cut, result[0])


@pytest.mark.parametrize("scheme", [ADAMS_BASHFORTH, RUNGE_KUTTA])
def test_implicit_diffusion_lets_no_wave_grow(scheme):
    """With it a step is one of numbers z for what is explicit and -2 s of what is not: each stage is divided by 1 +
    share s. No wave grows more than the same one without it, or at all.
    """
    waves = np.linspace(0, scheme.cfl or scheme.tolerated, 9)
    z = (-np.linspace(0, min(4 * scheme.diffusion, 1.6), 9)[:, None] + 1j * waves).ravel()
    for s in np.geomspace(1e-3, 1e6, 40):
        q, old = (np.ones_like(z), np.zeros_like(z)), (np.zeros_like(z), np.ones_like(z))
        for stage in scheme.stages:
            ratio = 1.0 if stage.ratio is None else stage.ratio
            gain, weight = stage.share * s, 1 + stage.share * s
            after = [
                ((1 - gain + stage.share * (1 + ratio / 2) * z) * a - stage.share * ratio / 2 * b) / weight
                for a, b in zip(q, old, strict=True)
            ]
            old, q = tuple(z * a for a in q), tuple(after)
        matrix = np.array([[q[0], q[1]], [old[0], old[1]]]).transpose(2, 0, 1)
        radius = abs(np.linalg.eigvals(matrix)).max(axis=1)
        assert (radius <= np.maximum(amplification(scheme, z), 1) + 1e-9).all(), s


def test_what_is_implicit_does_not_bound_the_step():
    tables = {"boundaries": {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"},
              "grid": {"cells": [4, 4, 32], "lengths": [1.0, 1.0, 1.0],
                       "stretching": {"z": {"tanh": 2.0}}},
              "time": {"end": 1.0}, "scalars": [], "heat": None, "body": {}, "initial": {}}  # fmt: skip
    explicit, implicit = (RunSetup(warm(None, **{**tables, "time": time}), (1, 1, 1), device="cpu") for time in (
        {"end": 1.0}, {"end": 1.0, "implicit": ["z"]},
    ))  # fmt: skip
    spread = implicit.clock.limit.spread
    assert spread == pytest.approx(0.05 * 2 * 16)
    assert explicit.clock.limit.spread > 50 * spread
    bounded = RunSetup(warm("z"), (1, 1, 1), device="cpu").clock.limit.bounded
    assert bounded == pytest.approx(0.01 * (64 + 39.0625 + 49))  # as without it


def bits(flow: Flow) -> dict[str, np.ndarray]:
    return {name: flow[name] for name in FIELDS}


@pytest.mark.slow
@pytest.mark.parametrize(("along", "blocks"), [("z", (1, 1, 3)), ("z", (2, 2, 2)), ("x", (3, 1, 2)), ("x", (1, 2, 2))])
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
def test_blocks_change_no_bit(along, blocks, scheme):
    case = warm(along, time__scheme=scheme)
    one, cut = bits(compute(case)), bits(compute(case, blocks, overlap="full"))
    for name in FIELDS:
        np.testing.assert_array_equal(cut[name], one[name], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["ab2", "rk3"])
def test_a_run_that_is_resumed_goes_on_to_the_bit(tmp_path, scheme):
    case = warm(time__scheme=scheme)
    go(case, tmp_path / "whole")
    go(case, tmp_path / "run", kill=5)
    go(case, tmp_path / "run", resume=True)
    assert_same_run(tmp_path / "run", tmp_path / "whole")


def test_a_run_does_not_go_on_with_another_direction():
    """What it keeps of the last step has other parts."""
    old, new = (tomllib.loads(warm(along).to_toml()) for along in ("z", None))
    assert [*changes(old, old)] == []
    (change,) = changes(old, new)
    assert "time.implicit" in change


@pytest.mark.slow
@pytest.mark.parametrize("along", ["x", "z"])
def test_order_in_time(along):
    """Both schemes are of second order, towards what explicit steps of third order come to: in the velocity, where a
    gradient of pressure acts along walls, too, with heat transfer, scalars, and walls that change in time.
    """
    direct = {"pressure": {"solver": "multigrid", "tolerance": 1e-12}}
    best = compute(warm(None, 1280, time__scheme="rk3", **direct))
    for scheme in ("ab2", "rk3"):
        flows = [compute(warm(along, steps, time__scheme=scheme, **direct)) for steps in (40, 80, 160)]
        for name in ("u", "v", "w", "T", "dye"):
            errors = [abs(flow[name] - best[name]).max() for flow in flows]
            print(along, scheme, name, errors, orders(errors, [1, 2, 4]))
            assert orders(errors, [1, 2, 4])[-1] > 1.9, (scheme, name, errors)


@pytest.mark.parametrize(("changes", "line"), [
    ({"time__implicit": ["z", "x"]},
     'time.implicit = ["z", "x"]: diffusion is implicit along one direction; give one, as ["z"]'),
    ({"time__implicit": ["s"]}, 'time.implicit = ["s"]: give a list with a direction: ["x"], ["y"] or ["z"]'),
    ({"time__implicit": "z"}, 'time.implicit = "z": give a list with a direction: ["x"], ["y"] or ["z"]'),
    ({"time__implicit": ["y"]},
     'time.implicit = ["y"]: y has sides of type periodic; give a direction between walls or slip boundaries, or omit'
     " it"),
    ({"turbulence": {"model": "wale"}},
     'time.implicit = ["z"]: not supported together with turbulence; omit one of them'),
    ({"obstacles": [{"type": "sphere", "centre": [0.5, 0.4, 0.5], "radius": 0.2}], "scalars": []},
     'time.implicit = ["z"]: not supported together with obstacles; omit one of them'),
    ({"grid__cells": [8, 5, 1]},
     'time.implicit = ["z"]: there is one cell along it; give grid.cells 2 or more there, or omit it'),
])  # fmt: skip
def test_what_it_does_not_go_with_is_refused(changes, line):
    with pytest.raises(BadInput) as error:
        warm(**changes)
    assert line in str(error.value).splitlines()
