"""The time schemes: their order, what they are stable for, and that a step needs nothing of those before."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases import Case
from taskflow.flow.time.schemes import ADAMS_BASHFORTH, RUNGE_KUTTA, TimeScheme
from tests.flows import VELOCITY, Flow, Lengths, compute, orders

PERIODIC = {"x": "periodic", "y": "periodic", "z": "periodic"}
TAU = 2 * np.pi


def integrate(scheme: TimeScheme, tendency, start: complex, end: float, steps: int) -> complex:
    """dq/dt = tendency(q), as the kernels advance a field."""
    q, old, dt = start, 0.0, end / steps
    for step in range(steps):
        scalars = scheme.scalars(dt, 1.0 if step else 0.0)
        for names in scheme.names:
            length, ratio = scalars[names["dt"]], scalars[names["ratio"]]
            H = tendency(q)
            q += length * ((1 + ratio / 2) * H - ratio / 2 * old)
            old = H
    return q


@pytest.mark.parametrize(("scheme", "order"), [(ADAMS_BASHFORTH, 2), (RUNGE_KUTTA, 3)])
def test_order_for_an_equation_of_one_number(scheme, order):
    """dq/dt = -q^2, q(0) = 1: q = 1 / (1 + t). Not linear, so that all conditions of the order are needed."""
    errors = [abs(integrate(scheme, lambda q: -q * q, 1.0, 1.0, n) - 0.5) for n in (20, 40, 80, 160)]
    assert orders(errors, [1, 2, 4, 8])[-1] == pytest.approx(order, abs=0.1)


def grows(scheme: TimeScheme, z: complex) -> float:
    """What 400 steps make of dq/dt = z q with a step of 1, after 200 in which what is not stable comes to the fore."""
    early, late = (abs(integrate(scheme, lambda q: z * q, 1.0, n, n)) for n in (200, 600))
    return late / early if early > 0 else 0.0


@pytest.mark.parametrize("scheme", [ADAMS_BASHFORTH, RUNGE_KUTTA])
def test_the_limits_of_stability(scheme):
    """Diffusion has eigenvalues down to -4 diffusion, central convection of +- i cfl."""
    assert grows(scheme, -4 * scheme.diffusion) <= 1 + 1e-9
    assert grows(scheme, -4 * (scheme.diffusion + 0.01)) > 1
    if scheme.cfl:
        assert grows(scheme, 1j * scheme.cfl) <= 1 + 1e-9
    assert grows(scheme, 1j * (scheme.cfl + 0.1)) > 1


def test_where_runge_kutta_is_stable_with_both():
    for decay in np.linspace(0, 4 * 0.4, 9):
        for wave in np.linspace(0, RUNGE_KUTTA.cfl, 9):
            assert grows(RUNGE_KUTTA, -decay + 1j * wave) <= 1 + 1e-9


def vortices(steps: int, scheme: str) -> Case:
    """A three-dimensional periodic flow that is nowhere steady."""
    return Case(
        grid={"cells": [8, 6, 8], "lengths": [TAU, TAU, TAU]}, fluid={"viscosity": 0.05}, boundaries=PERIODIC,
        initial={"velocity": ["0.5 + sin(x)*cos(y)*cos(z)", "cos(z) - cos(x)*sin(y)*cos(z)", "0.3*sin(x + y)"]},
        time={"end": 1.2, "step": 1.2 / steps, "scheme": scheme}, pressure=EXACT,
    )  # fmt: skip


def warm(steps: int, scheme: str) -> Case:
    """A heated box with a lid that moves."""
    return Case(
        grid={"cells": [8, 5, 7], "lengths": [1.0, 0.8, 1.0]}, fluid={"viscosity": 0.05},
        heat={"diffusivity": 0.04, "expansion": 2.0}, body={"gravity": [0.0, 0.3, -1.0]},
        boundaries={
            "x_min": {"type": "wall", "temperature": 1.0}, "x_max": "slip", "y": "periodic", "z_min": "wall",
            "z_max": {"type": "wall", "velocity": [1.0, 0.4, 0.0]},
        },
        initial={"velocity": ["sin(pi*x)", "cos(2*pi*x)*z", "x*z"], "temperature": "x*z + sin(2*pi*y/0.8)"},
        time={"end": 0.4, "step": 0.4 / steps, "scheme": scheme}, pressure=EXACT,
    )  # fmt: skip


EXACT = {"solver": "jacobi", "tolerance": 1e-13, "max_iterations": 4000}


@pytest.mark.parametrize(("case", "fields"), [
    (vortices, VELOCITY), pytest.param(warm, ("u", "v", "w", "T"), marks=pytest.mark.slow),
])  # fmt: skip
def test_velocity_and_temperature_are_of_third_order_in_time(case, fields):
    """On one grid, against steps that are shorter by far: what is left is the error in time."""
    exact = compute(case(160, "rk3"))
    flows = [compute(case(steps, "rk3")) for steps in (10, 20, 40)]
    second = compute(case(40, "ab2"))
    for name in fields:
        errors = [np.abs(flow[name] - exact[name]).max() for flow in flows]
        assert orders(errors, [1, 2, 4])[-1] == pytest.approx(3.0, abs=0.2), name
        assert np.abs(second[name] - exact[name]).max() > 20 * errors[-1], name


@pytest.mark.slow
def test_the_pressure_belongs_to_the_middle_of_the_last_stage():
    """Of second order at t - dt/6, of first order at t."""

    def pressure(*lengths: float) -> np.ndarray:
        flow = compute(vortices(10, "rk3"), clock=Lengths(lengths))
        return flow["p"] - flow["p"].mean()

    end, short, middle, late = 1.2, 1e-3, [], []
    for steps in (10, 20, 40):
        dt = end / steps
        result = pressure(*[dt] * steps)
        for when, errors in ((end - dt / 6, middle), (end, late)):
            before = when - 5 / 6 * short
            errors.append(np.abs(result - pressure(*[before / 80] * 80, short)).max())
    assert orders(middle, [1, 2, 4])[-1:] == [pytest.approx(2.0, abs=0.25)]
    assert orders(late, [1, 2, 4])[-1:] == [pytest.approx(1.0, abs=0.25)]


def test_steps_need_nothing_of_the_steps_before():
    """Tendencies of an earlier step are not used, whatever they are: two steps are a step and then another."""
    case = warm(10, "rk3")
    one, other = compute(case, garbage=0.0), compute(case, garbage=np.nan)
    assert_same(one, other)


@pytest.mark.fast("(2, 2, 1)")
@pytest.mark.parametrize("blocks", [(1, 1, 2), (2, 2, 1)], ids=str)
def test_blocks_change_no_bit(blocks):
    case = warm(10, "rk3").model_copy(update={"pressure": warm(10, "rk3").pressure.model_copy(
        update={"tolerance": None, "max_iterations": None, "iterations": 7})})  # fmt: skip
    assert_same(compute(case), compute(case, blocks))


def assert_same(one: Flow, other: Flow) -> None:
    for name in (*VELOCITY, "p", "T"):
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)
        assert np.isfinite(one[name]).all()
