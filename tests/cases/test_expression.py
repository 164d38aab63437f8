"""Formulas: what they compute, and that nothing but arithmetic gets through."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from taskflow.cases.formulas.expression import DEEPEST, LONGEST, Expression, field_values
from taskflow.common.errors import BadInput

X = np.linspace(0.1, 0.9, 5).reshape(1, 1, 5)
Y = np.linspace(-1.0, 1.0, 3).reshape(1, 3, 1)
Z = np.linspace(0.5, 2.0, 4).reshape(4, 1, 1)


@pytest.mark.parametrize(("text", "expected"), [
    ("1", lambda x, y, z: 1.0),
    ("x", lambda x, y, z: x),
    ("-x + +y", lambda x, y, z: -x + y),
    ("x + 2*y - z/4", lambda x, y, z: x + 2 * y - z / 4),
    ("x**2**0.5", lambda x, y, z: x ** (2**0.5)),
    ("(x - 1)**3", lambda x, y, z: (x - 1) ** 3),
    ("  2 *\n x ", lambda x, y, z: 2 * x),
    ("sin(pi*x)*cos(z) + tan(y)", lambda x, y, z: np.sin(np.pi * x) * np.cos(z) + np.tan(y)),
    ("exp(x) + log(z) + sqrt(z) + e", lambda x, y, z: np.exp(x) + np.log(z) + np.sqrt(z) + math.e),
    ("sinh(x) + cosh(y) + tanh(z) + abs(y)", lambda x, y, z: np.sinh(x) + np.cosh(y) + np.tanh(z) + np.abs(y)),
    ("minimum(x, y) + maximum(x, z)", lambda x, y, z: np.minimum(x, y) + np.maximum(x, z)),
    ("where(x > 0.5, y, z)", lambda x, y, z: np.where(x > 0.5, y, z)),
    ("where(y > 0, log(y), 0)", lambda x, y, z: np.where(y > 0, np.log(np.where(y > 0, y, 1)), 0)),
    ("0.2 < x < 0.6", lambda x, y, z: (x > 0.2) & (x < 0.6)),
    ("(x >= 0.5) * (y <= 0) * (z != 1)", lambda x, y, z: (x >= 0.5) & (y <= 0) & (z != 1)),
    ("x == x", lambda x, y, z: 1.0),
    ("7/2 + 2**-1", lambda x, y, z: 4.0),
    (3, lambda x, y, z: 3.0),
])
def test_value_in_the_broadcast_shape(text, expected):
    values = Expression(text)(X, Y, Z)
    assert values.shape == (4, 3, 5)
    assert values.dtype == np.float64
    assert values.flags.writeable
    np.testing.assert_allclose(values, np.broadcast_to(expected(X, Y, Z), (4, 3, 5)), rtol=1e-15)


def test_scalars_and_single_precision_give_float64():
    assert Expression("x*y")(2, 3, 0) == 6.0
    assert Expression("x")(np.float32(0.5) * np.ones(2, np.float32), 0, 0).dtype == np.float64


def test_a_part_of_the_points_gets_the_bits_of_the_whole():
    """Blocks evaluate their own points: no value may depend on the split."""
    formula = Expression("sin(3*x)*cos(y)*exp(-z*x) + tanh(x*z)**3 + sqrt(x)*log(z + y**2)")
    x, y, z = np.linspace(0.1, 7, 37).reshape(1, 1, -1), np.linspace(-2, 2, 5).reshape(1, -1, 1), Z
    whole = formula(x, y, z)
    for low, high in ((0, 1), (1, 4), (3, 36), (5, 14)):
        np.testing.assert_array_equal(formula(x[..., low:high], y, z[1:3]), whole[1:3, :, low:high])


@pytest.mark.parametrize(("text", "named"), [
    ("", "is not an expression"),
    ("sin(x", "never closed"),
    ("x +", "is not an expression"),
    ("x y", "is not an expression"),
    ("a = x", "is not an expression"),
    ("import os", "is not an expression"),
    ("\0", "is not an expression"),
    ("x^2", "**"),
    ("x // 2", "'x // 2'"),
    ("x % 2", "'x % 2'"),
    ("x @ y", "'x @ y'"),
    ("~x", "'~x'"),
    ("not x", "'not x'"),
    ("x and y", "(x > 0) * (y > 0)"),
    ("x if y else z", "where(condition, a, b)"),
    ("x in y", "'x in y'"),
    ("x is y", "'x is y'"),
    ("t", "there is no t"),
    ("sin", "write sin(...)"),
    ("sine(x)", "did you mean sin?"),
    ("X", "there is no X"),
    ("np.sin(x)", "no prefix"),
    ("x.real", "'x.real'"),
    ("x.__class__", "'x.__class__'"),
    ("().__class__.__bases__", "is not allowed"),
    ("__import__('os').system('true')", "is not allowed"),
    ("eval('1')", "there is no function eval"),
    ("open('f')", "there is no function open"),
    ("sin(x)(y)", "'sin(x)(y)'"),
    ("2(x)", "'2(x)'"),
    ("(lambda: 1)()", "is not allowed"),
    ("[x for x in y]", "is not allowed"),
    ("(x := 1)", "is not allowed"),
    ("x[0]", "'x[0]'"),
    ("(x, y)", "is not allowed"),
    ("[x]", "'[x]'"),
    ("{x}", "'{x}'"),
    ("'x'", "is not allowed"),
    ("f'{x}'", "is not allowed"),
    ("b'x'", "is not allowed"),
    ("...", "is not allowed"),
    ("True", "'True'"),
    ("None", "'None'"),
    ("1j", "'1j'"),
    ("sin()", "sin takes 1 argument"),
    ("sin(x, y)", "sin takes 1 argument"),
    ("where(x, y)", "where takes 3 arguments"),
    ("sin(*x)", "'*x'"),
    ("sin(x, out=y)", "is not allowed"),
    ("1e999", "too large"),
    ("1" + "0" * 400, "too large"),
    ("1 + x.y*2", "'x.y' in '1 + x.y*2'"),
])
def test_anything_else_is_refused_with_the_offending_part(text, named):
    with pytest.raises(BadInput) as error:
        Expression(text)
    assert named in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("source", [True, None, [1.0], math.nan, math.inf, 1j, b"x", 10**400])
def test_a_source_is_a_finite_number_or_text(source):
    with pytest.raises(BadInput):
        Expression(source)


@pytest.mark.parametrize("text", [
    "x" * (LONGEST + 1), "-" * (DEEPEST + 1) + "x", "-" * LONGEST, "x" + "+x" * 900, "(" * 900 + "x" + ")" * 900,
    "sin(" * 400 + "x" + ")" * 400, "x**" * 600 + "x", "[" * 1999,
])
def test_size_is_limited(text):
    with pytest.raises(BadInput):
        Expression(text)


def test_a_long_sum_within_the_limits_works():
    assert Expression("+".join(["x"] * 150))(1.0, 0, 0) == 150.0


@pytest.mark.parametrize("text", ["9**9**9**9", "10**300*10**300", "1/(x - x)", "log(-z)", "(-1)**0.5", "exp(1e6)"])
def test_a_value_that_is_not_finite_is_refused_with_its_place(text):
    with pytest.raises(BadInput, match=r"not finite at x = 0\.1, y = -1, z = 0\.5"):
        Expression(text)(X, Y, Z)


def test_equal_by_source_and_picklable():
    formula = Expression("sin(x)")
    assert formula == Expression("sin(x)") != Expression("cos(x)")
    assert pickle.loads(pickle.dumps(formula)) == formula
    assert len({formula, Expression("sin(x)")}) == 1


@pytest.mark.parametrize("values", ["1.0", None, 1j, np.zeros(7), [[1.0], [1.0, 2.0]], object()])
def test_field_values_refuses_what_does_not_fit(values):
    with pytest.raises(BadInput, match="f gives"):
        field_values(values, (X, Y, Z), "f")


@given(st.text(alphabet="xyzepi0123456789.+-*/%^&|~<>=!()[]{},:;'\"_ sincoabtlgmu\\\n\t\0é", max_size=40))
def test_no_text_does_anything_but_compute_or_be_refused(text):
    try:
        values = Expression(text)(X, Y, Z)
    except BadInput:
        return
    assert values.shape == (4, 3, 5)
    assert np.isfinite(values).all()


def test_comparisons_in_comparisons_take_time_in_proportion_to_their_length():
    depth = 60
    value = Expression("0<(" * depth + "x" + ")<2" * depth)
    assert value(1.0, 0.0, 0.0) == 1
    assert Expression("0 < x < y < 1")(0.2, 0.4, 0.0) == 1
    assert Expression("0 < x < y < 1")(0.4, 0.2, 0.0) == 0


@pytest.mark.parametrize(("source", "uniform"), [(2, True), ("exp(-2*pi)", True), ("0*x", False), ("sin(z)", False)])
def test_what_is_the_same_everywhere(source, uniform):
    assert Expression(source).uniform == uniform
    assert Expression("t", timed=True).uniform
