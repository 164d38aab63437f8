"""The solver of the pressure that a case of two phases gets: which, why, and that its flow does not depend on it."""

from __future__ import annotations

import numpy as np
import pytest

import taskflow as tf
from taskflow.common.rows import Row
from taskflow.flow.poisson import ConjugateGradients, ConvergedJacobi, Multigrid, UniformCoefficient
from taskflow.output import LOG, STORE, dataset, read_log
from taskflow.runs.state.setup import RunSetup
from tests.cases.two_phases import case

EQUAL = {"density": [2.0, 2.0]}
AUTO = {"solver": "auto", "outer": None, "iterations": None}
DIFFER = "densities differ, so that the coefficient 1/density is variable"
PLAIN = "densities are equal, and each direction is periodic or between walls or sides with p = 0"


@pytest.mark.parametrize(("pressure", "phases", "kind", "words"), [
    (AUTO, EQUAL, UniformCoefficient, f"FFT, direct (auto: {PLAIN})"),
    ({**AUTO, "solver": "fft"}, EQUAL, UniformCoefficient, "FFT, direct"),
    ({**AUTO, "solver": "fft"}, {"density": [1.0, 10.0]}, UniformCoefficient, "FFT, direct, with a split gradient"),
    (AUTO, {}, ConjugateGradients,
     f"conjugate gradients with multigrid, to 1e-06 of the divergence, in at most 1000 iterations (auto: {DIFFER});"
     " levels in single precision (auto)"),
    ({**AUTO, "iterations": 9}, EQUAL, ConjugateGradients,
     "conjugate gradients with multigrid, 9 iterations per solve (auto: a number of iterations is given);"
     " levels in double precision (auto)"),
    ({**AUTO, "solver": "cg"}, {}, ConjugateGradients,
     "conjugate gradients with the diagonal, to 1e-06 of the divergence, in at most 1000 iterations"),
    ({**AUTO, "solver": "jacobi", "tolerance": 0.1}, {}, ConvergedJacobi,
     "Jacobi, to 0.1 of the divergence, in at most 1000 iterations"),
    ({}, EQUAL, Multigrid, "multigrid, 3 iterations per solve; levels in double precision (auto)"),
], ids=str)  # fmt: skip
def test_which_solver_it_is(pressure, phases, kind, words):
    sim = RunSetup(case(pressure=pressure, two_phase=phases), (1, 1, 1))
    assert type(sim.model.pressure) is kind
    assert Row("pressure", words) in [*sim.system.solver_rows()]
    assert tf.Case(**sim.case.written()) == sim.case


@pytest.mark.parametrize(("pressure", "words"), [
    ({"solver": "fft"}, r'pressure.solver = "fft": it is for densities of a ratio up to 10, and theirs is 50'),
    ({"solver": "jacobi"}, r"pressure.iterations = 30: densities jump, .*; give pressure.tolerance, or another press"),
    ({"solver": "jacobi", "iterations": 5}, r"pressure.iterations = 5: densities jump"),
    ({"solver": "cg", "cycle": "w"}, r'pressure.cycle = "w": an option of multigrid'),
    ({"solver": "cg", "tolerance": 1e-20}, r"pressure.tolerance = 1e-20: residuals are relative"),
])  # fmt: skip
def test_solvers_that_do_not_fit_are_refused(pressure, words):
    with pytest.raises(tf.BadInput, match=words):
        case(pressure={"outer": None, "iterations": None, **pressure})


@pytest.mark.parametrize(("phases", "solvers"), [
    (EQUAL, ("fft", "cg")),
    ({}, ("cg", "jacobi")),
], ids=["equal", "differing"])  # fmt: skip
@pytest.mark.slow
def test_flows_agree_whatever_solves(tmp_path, phases, solvers):
    def run(solver, blocks):
        converging = {} if solver == "fft" else {"tolerance": 1e-11, "max_iterations": 30000}
        pressure = {"outer": None, "iterations": None, "solver": solver, **converging}
        drop = case(pressure=pressure, two_phase=phases, machine={"blocks": blocks})
        return tf.run(drop, tmp_path / solver)

    multigrid = dataset(run("multigrid", [1, 1, 1]).directory / STORE)
    for solver in solvers:
        other = run(solver, [1, 2, 2])
        result = dataset(other.directory / STORE)
        for name in ("u", "v", "w", "f", "phi"):
            np.testing.assert_allclose(result[name], multigrid[name], rtol=0, atol=1e-9, err_msg=name)
        p, expected = (flow["p"] - flow["p"].mean(("x_c", "y_c", "z_c")) for flow in (result, multigrid))
        np.testing.assert_allclose(p, expected, rtol=0, atol=1e-7 * float(abs(expected).max()))
        last = read_log(other.directory / LOG)[-1]
        assert last["residual"] <= 1e-11
        assert other.report["pressure"]["solver"] == solver


def test_cg_is_for_one_fluid_too(tmp_path):
    def run(solver):
        moving = {"type": "wall", "velocity": [1.0, 0.0, 0.0]}
        box = {"x": "periodic", "y": "periodic", "z_min": "wall", "z_max": moving}
        lid = tf.Case(
            grid={"cells": [8, 6, 8], "lengths": [1, 1, 1]}, fluid={"viscosity": 0.1}, boundaries=box,
            initial={"velocity": ["cos(6.2831853*x)", 0.0, "sin(6.2831853*x)"]}, time={"steps": 4},
            pressure={"solver": solver, "tolerance": 1e-11}, output={"precision": "double"},
        )  # fmt: skip
        return dataset(tf.run(lid, tmp_path / solver).directory / STORE)

    cg, multigrid = run("cg"), run("multigrid")
    for name in ("u", "v", "w"):
        np.testing.assert_allclose(cg[name], multigrid[name], rtol=0, atol=1e-9)
