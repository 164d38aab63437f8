"""What is told of formulas that add unlike things."""

import pytest

from taskflow.systems.base.expressions import unlike_terms

FIELDS = ("u", "v", "w", "p", "T", "nu_t", "dye", "smoke")


@pytest.mark.parametrize("source", [
    "w*T", "u*u + v**2 + w*w + 2*p", "u - 2*z", "sqrt(u*u + v*v) - w", "p + u*v + nu_t/t", "x/t - u",
    "(x**2 + y**2)**0.5 < z", "sin(x) + u", "where(z < 0.2, u, 0)", "dye*smoke - 0.5*T", "minimum(u, 1)", "abs(u) + -v",
    "x**y + t", "nu_t*(u/x)**2", "1e300**u", "pi*x + t", "maximum(x, y) * u - nu_t", "0 < z < x",
])  # fmt: skip
def test_like_terms(source):
    assert unlike_terms(source, FIELDS) == []


@pytest.mark.parametrize(("source", "words"), [
    ("u - z", "'u - z' is of unlike things, length/time and length"),
    ("w*T + p", "'w*T + p' is of unlike things, length*temperature/time and length^2/time^2"),
    ("dye + smoke", "dye and smoke"),
    ("where(z < t, u, v)", "'z < t' is of unlike things, length and time"),
    ("where(z < 1, u, p)", "length/time and length^2/time^2"),
    ("2*minimum(u, x)", "'minimum(u, x)'"),
    ("sqrt(u) + sqrt(x)", "length^(1/2)/time^(1/2) and length^(1/2)"),
    ("sin(u + x)", "'u + x'"),
    ("0 < z < T", "length and temperature"),
    ("u/v - T*x/(T*y) + z", "1 and length"),
    ("p/(u*x) - T", "1/time and temperature"),
    ("t - x/(x*x*T)", "time and 1/(length*temperature)"),
])  # fmt: skip
def test_unlike_terms(source, words):
    (problem,) = unlike_terms(source, FIELDS)
    assert words in problem
