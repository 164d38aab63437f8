"""Bounds of formulas over boxes: no value is beyond them."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.cases.formulas.expression import Expression

RANDOM = np.random.default_rng(1)
LOW = RANDOM.uniform(-2, 2, (3, 300, 1, 1))
HIGH = LOW + RANDOM.choice([0.0, 0.1, 0.6, 3.0], LOW.shape)
BALL = "0.4 - sqrt((x - 0.1)**2 + (y + 0.2)**2 + z**2)"


@pytest.mark.parametrize(("text", "known"), [
    ("3", 1), (BALL, 1), ("-x + +y*z", 1), ("x/(3 + y)", 1), ("1/x", 0.6), ("x**3 - y**2", 1), ("x**0.5", 0.2),
    ("(2 + x)**y", 0.9), ("x**-2", 0.2), ("sin(3*x)*cos(5*y - 1) + tan(z)", 0.3), ("exp(x) - tanh(y)/cosh(z)", 1),
    ("where(x > 0, log(x), 0)", 0.4), ("where(x <= y, abs(z), minimum(x, y))", 1), ("maximum(sinh(x), z) - e", 1),
    ("0.2 < x < 0.6", 1), ("(x >= 0.5) * (y <= 0) + (z != x)", 1), ("x == y", 1), ("where(x == x, 1, 2)", 1),
])  # fmt: skip
def test_values_are_within_bounds(text, known):
    formula = Expression(text)
    least, most = (np.broadcast_to(end, LOW[0].shape) for end in formula.range_over(tuple(LOW), tuple(HIGH)))
    bounded = np.isfinite(least) & np.isfinite(most)
    assert bounded.mean() >= known
    for share in (0, 1, *RANDOM.uniform(0, 1, (30, 3, 1, 1, 1))):
        places = (LOW + share * (HIGH - LOW))[:, bounded]
        values = formula(*places[:, :, None, None])[:, 0, 0]
        assert ((values >= least[bounded]) & (values <= most[bounded])).all()


def test_bounds_of_a_distance_are_close():
    """Each coordinate is in it once, so that both ends are values."""
    least, most = Expression(BALL).range_over((0.1, -0.2, 0.0), (0.4, 0.2, 1.2))
    assert (least, most) == pytest.approx((0.4 - 1.3, 0.4))
    assert Expression("sin(x)").range_over((1.0, 0, 0), (2.0, 0, 0)) == pytest.approx((np.sin(1), 1))
