"""Derivatives of expressions of the time, and motions made of them."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.motion import RigidMotion, dual, of_time
from taskflow.common.errors import BadInput

TIMES = np.linspace(0.3, 1.7, 15)
STILL = Expression(0.0, timed=True)


@pytest.mark.parametrize(("source", "slope"), [
    ("3*t - 2/t + t**2.5", lambda t: 3 + 2 / t**2 + 2.5 * t**1.5),
    ("sin(2*t)*cos(t)", lambda t: 2 * np.cos(2 * t) * np.cos(t) - np.sin(2 * t) * np.sin(t)),
    ("exp(-t)/(1 + t)", lambda t: -np.exp(-t) / (1 + t) - np.exp(-t) / (1 + t) ** 2),
    ("sqrt(1 + t) + log(t) + tan(t/3)", lambda t: 0.5 / np.sqrt(1 + t) + 1 / t + (1 + np.tan(t / 3) ** 2) / 3),
    ("sinh(t) - cosh(t) + tanh(t)", lambda t: np.cosh(t) - np.sinh(t) + 1 - np.tanh(t) ** 2),
    ("t**t", lambda t: t**t * (np.log(t) + 1)),
    ("2**t", lambda t: 2**t * np.log(2)),
    ("abs(1 - t) + minimum(t, 1) + maximum(t**2, 1)", lambda t: np.sign(t - 1) + (t <= 1) + 2 * t * (t >= 1)),
    ("where(0.5 < t < 1, t**2, -t)", lambda t: np.where((t > 0.5) & (t < 1), 2 * t, -1.0)),
    ("-(+t) + pi*e", lambda t: -np.ones_like(t)),
    ("4", lambda t: np.zeros_like(t)),
])  # fmt: skip
def test_derivatives_are_exact(source, slope):
    expression = of_time(source)
    result = dual(expression, TIMES)
    np.testing.assert_allclose(result.slope * np.ones(TIMES.size), slope(TIMES), rtol=2e-14, atol=2e-14)
    values = [float(expression(0.0, 0.0, 0.0, t)) for t in TIMES]
    np.testing.assert_allclose(result.value * np.ones(TIMES.size), values, rtol=1e-15)


@pytest.mark.parametrize(("source", "words"), [
    ("x + t", "has x"), ("v*t", "there is no v"), ("t(", "not an expression"),
])  # fmt: skip
def test_other_names_are_refused(source, words):
    with pytest.raises(BadInput, match=words):
        of_time(source)


def test_velocity_is_the_derivative_of_the_place():
    motion = RigidMotion((of_time("sin(t)"), STILL, of_time("t**2")), of_time("2*t + 0.1*t**3"), 1, (0.3, 0.0, -0.2))
    points, t, dt = np.array([[0.5, 0.1, 0.4], [-0.2, 0.7, 0.1]]), 0.7, 1e-5
    ahead, behind, here = (motion.pose(time).forth(points) for time in (t + dt, t - dt, t))
    np.testing.assert_allclose(motion.velocity_at(t, here), (ahead - behind) / (2 * dt), atol=1e-9)
    x, y, z = motion.pose(t).back(*here.T)
    np.testing.assert_allclose(np.stack([x, y, z], axis=1), points, atol=1e-14)


def test_steep_is_no_jump():
    times = np.linspace(0.0, 2.0, 201)
    RigidMotion((of_time("tanh(4000*(t - 1.0037))"), STILL, STILL), STILL, 2, (0.0, 0.0, 0.0)).check(times)
    with pytest.raises(BadInput, match=r"displacement\[1\].*jumps at time 1.0037, by 0.01"):
        RigidMotion((of_time("sin(t) + 0.01*(t > 1.0037)"), STILL, STILL), STILL, 2, (0.0, 0.0, 0.0)).check(times)
