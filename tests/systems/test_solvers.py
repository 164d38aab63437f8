"""The solver that a case gets: which, why, and that a flow does not depend on it."""

from __future__ import annotations

import numpy as np
import pytest

import taskflow as tf
from taskflow.cases import Case
from taskflow.flow.poisson import FFT, ConjugateGradients, ConvergedJacobi, Jacobi, Multigrid, relative_residual
from taskflow.runs.state.setup import RunSetup
from taskflow.systems.base.pressure import choice, described
from tests.cases.sound import cavity
from tests.flows import VELOCITY, compute
from tests.test_invariance import BOUNDARIES, stirred

UNIFORM = "cells are uniform, and each direction is periodic or between walls"


def with_pressure(case: Case, **pressure) -> Case:
    return Case(**{**case.written(), "pressure": pressure})


@pytest.mark.parametrize(("pressure", "kind", "why", "words"), [
    ({}, FFT, UNIFORM, f"FFT, direct (auto: {UNIFORM})"),
    ({"tolerance": 0.1}, FFT, UNIFORM, f"FFT, direct (auto: {UNIFORM})"),
    ({"solver": "fft"}, FFT, None, "FFT, direct"),
    ({"iterations": 9}, Jacobi, "a number of iterations is given",
     "Jacobi, 9 iterations per solve (auto: a number of iterations is given)"),
    ({"solver": "jacobi"}, Jacobi, None, "Jacobi, 30 iterations per solve"),
    ({"solver": "jacobi", "tolerance": 0.1}, ConvergedJacobi, None,
     "Jacobi, to 0.1 of the divergence, in at most 1000 iterations"),
    ({"solver": "jacobi", "max_iterations": 50}, ConvergedJacobi, None,
     "Jacobi, to 1e-06 of the divergence, in at most 50 iterations"),
    ({"solver": "multigrid"}, ConjugateGradients, None,
     "conjugate gradients with multigrid, to 1e-06 of the divergence, in at most 1000 iterations;"
     " levels in single precision (auto)"),
    ({"solver": "multigrid", "precision": "double", "tolerance": 1e-3}, ConjugateGradients, None,
     "conjugate gradients with multigrid, to 0.001 of the divergence, in at most 1000 iterations;"
     " levels in double precision"),
    ({"solver": "multigrid", "outer": "none", "iterations": 4}, Multigrid, None,
     "multigrid, 4 iterations per solve; levels in double precision (auto)"),
], ids=str)  # fmt: skip
def test_which_solver_it_is(pressure, kind, why, words):
    case = Case(**cavity(pressure=pressure))
    assert type(RunSetup(case, (1, 1, 1)).model.pressure) is kind
    assert choice(case).why == why
    assert described(case) == words
    assert Case(**case.written()) == case


def test_single_precision_has_a_tolerance_that_it_can_reach():
    single = Case(**cavity(pressure={"solver": "multigrid"}, machine={"precision": "single"}))
    assert (single.pressure.tolerance, single.pressure.max_iterations) == (1e-4, 1000)
    fine = {"pressure": {"solver": "multigrid"}, "grid__cells": [8, 1, 512], "grid__lengths": [1.0, 1.0, 1.0]}
    assert Case(**cavity(**fine, machine={"precision": "single"})).pressure.tolerance == pytest.approx(1.6e-3, rel=0.02)
    assert Case(**cavity(**fine)).pressure.tolerance == 1e-6


@pytest.mark.parametrize(("pressure", "machine", "stored"), [
    ({}, "double", "f4"), ({"precision": "auto"}, "double", "f4"), ({"precision": "single"}, "double", "f4"),
    ({"precision": "double"}, "double", "f8"), ({"iterations": 4}, "double", "f8"), ({}, "single", "f4"),
    ({"iterations": 4, "precision": "single"}, "double", "f4"), ({"precision": "auto"}, "single", "f4"),
], ids=str)  # fmt: skip
def test_the_precision_of_levels(pressure, machine, stored):
    case = Case(**cavity(pressure={"solver": "multigrid", **pressure}, machine={"precision": machine}))
    levels = RunSetup(case, (1, 1, 1)).partition.beside
    assert {field.dtype for level in levels for field in level.region.fields.values()} - {"f8"} <= {stored}
    assert all(level.region.fields[name].dtype == stored for level in levels for name in level.region.fields
               if name.endswith("_spare"))  # fmt: skip
    assert Case(**case.written()) == case


def test_auto_is_the_same_case_as_without_the_key():
    plain, auto = (Case(**cavity(pressure={"solver": "multigrid", **more})) for more in ({}, {"precision": "auto"}))
    assert auto == plain
    assert "precision" not in auto.pressure.written()


@pytest.mark.parametrize("tolerance", [1e-6, 1e-11])
def test_levels_in_single_precision_reach_every_tolerance(tolerance):
    """In as many iterations."""
    case = stirred(BOUNDARIES["box"])
    results = []
    for precision in ("single", "double"):
        solver = {"solver": "multigrid", "tolerance": tolerance, "precision": precision}
        flow = compute(with_pressure(case, **solver))
        assert relative_residual(flow.scalars) < tolerance
        results.append((flow, flow.setup.model.pressure.taken(flow.scalars)))
    (single, many), (double, others) = results
    assert many == others
    for role in VELOCITY:
        np.testing.assert_allclose(single[role], double[role], atol=100 * tolerance)


@pytest.mark.parametrize("outer", ["cg", "none"])
def test_levels_in_single_precision_know_no_smallest_flow(outer):
    """A fluid that comes to rest gets as slow as it likes: single precision has no numbers below 1e-45."""
    boundaries, slow = {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": "wall"}, 1e-50
    usual, tiny = (
        compute(Case(
            grid={"cells": [8, 6, 8], "lengths": [1.0, 1.0, 1.0]}, boundaries=boundaries, fluid={"viscosity": 0.01},
            initial={"velocity": [f"{scale} * sin(6*x) * cos(z)", f"{scale} * cos(5*y)", f"{scale} * x * z"]},
            time={"step": 0.01, "steps": 2}, pressure={"solver": "multigrid", "outer": outer, "tolerance": 1e-6},
        ))
        for scale in (1.0, slow)
    )  # fmt: skip
    assert tiny.setup.case.pressure.level_precision(tiny.setup.case.machine) == "single"
    assert relative_residual(tiny.scalars) < 1e-6
    for role in VELOCITY:  # p dt corrects u: convection, of second order in u, is what they differ by
        assert 0 < np.abs(tiny[role]).max() < 2 * slow * np.abs(usual[role]).max()


@pytest.mark.parametrize(("device", "twice"), [("cpu", False), ("gpu", True)])
def test_gpus_compute_ghost_cells_of_levels_for_which_they_would_wait(device, twice):
    case = Case(**cavity(pressure={"solver": "multigrid", "amalgamate": 9}, grid__cells=[8, 8, 32]))
    assert any(item.redundant for item in RunSetup(case, (1, 1, 2), device=device).partition.beside) == twice


def test_options_of_multigrid():
    def cycle(**options):
        case = Case(**cavity(pressure={"solver": "multigrid", **options}))
        return RunSetup(case, (1, 1, 1)).model.pressure.cycle

    assert (cycle().shape, cycle(cycle="w").shape, cycle(cycle="f").shape) == ("V", "W", "F")
    assert type(cycle().smoother) is not type(cycle(smoother="jacobi").smoother)
    wide, few = cycle(amalgamate=64), cycle(levels=2)
    assert [level.whole for level in wide.levels] == [level.mesh.box.volume <= 64 for level in wide.levels]
    assert [item.levels[-1].mesh.box.volume for item in (cycle(), wide, cycle(amalgamate=9))] == [128, 16, 4]
    assert few.levels == cycle().levels[:2]
    assert [cycle().single, cycle(precision="single").single, cycle(precision="double").single] == [True, True, False]


@pytest.mark.slow
@pytest.mark.parametrize("boundaries", [
    "box", *(pytest.param(name, marks=pytest.mark.slow) for name in BOUNDARIES if name != "box"),
])  # fmt: skip
@pytest.mark.parametrize("pressure", [
    {"solver": "multigrid", "tolerance": 1e-10}, {"solver": "multigrid", "tolerance": 1e-10, "outer": "none"},
    {"solver": "multigrid", "iterations": 15, "smoother": "jacobi"},
    {"solver": "multigrid", "tolerance": 1e-10, "precision": "single"},
    pytest.param({"solver": "jacobi", "tolerance": 1e-10, "max_iterations": 20000}, marks=pytest.mark.slow),
], ids=str)  # fmt: skip
def test_flows_agree_with_that_of_the_direct_solver(boundaries, pressure):
    """On one block and on four, with walls, periodic sides, heat and buoyancy; on cells that no solver has it easy
    with.
    """
    case = stirred(BOUNDARIES[boundaries])
    direct = compute(with_pressure(case, solver="fft"), (2, 1, 2))
    flow = compute(with_pressure(case, **pressure), (2, 1, 2))
    for name in (*VELOCITY, "T"):
        np.testing.assert_allclose(flow[name], direct[name], rtol=0, atol=1e-8, err_msg=name)
    np.testing.assert_allclose(flow["p"] - flow["p"].mean(), direct["p"] - direct["p"].mean(), rtol=0, atol=1e-7)
    assert relative_residual(direct.scalars) < 1e-12
    assert direct.scalars["divergence"] < 1e-11
    if "tolerance" in pressure:
        assert relative_residual(flow.scalars) <= 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("pressure", [{"solver": "multigrid"}, {"solver": "jacobi", "tolerance": 1e-6}], ids=str)
def test_a_flow_that_comes_to_rest_is_solved_for_to_its_end(pressure):
    """Its divergence falls below what rounding leaves of a sum over all cells: there is no solution for that mean."""
    case = Case(
        grid={"cells": [8, 8, 8], "lengths": [6.2831853, 6.2831853, 6.2831853]}, fluid={"viscosity": 1.0},
        boundaries={"x": "periodic", "y": "periodic", "z": "periodic"}, time={"end": 12.0}, pressure=pressure,
        initial={"velocity": ["sin(x)*cos(y)", "-cos(x)*sin(y)", 0.0]},
    )  # fmt: skip
    flow = compute(case, (1, 1, 2))
    assert 0 < flow.scalars["speed"] < 1e-9
    assert relative_residual(flow.scalars) <= 1e-6


def test_a_report_says_which_solver_it_was_and_why(tmp_path):
    case = Case(**cavity(time={"steps": 2}, machine={"threads": 1, "device": "cpu"}))
    report = tf.run(case, tmp_path / "run").report
    assert report["pressure"] == {"solver": "fft", "why": UNIFORM}
