"""Factors that outer iterations share: when they are new, and the flow that they lead to."""

from __future__ import annotations

import numpy as np
import pytest

from taskflow.flow.models.artificial_compressibility.implicit.lag import COST, EACH, Lag


def served(lag, reductions, products=10.0):
    """Whether the factors are new in each iteration of a step, whose residuals fall by these factors."""
    scalars, size, new = {"cfl": 0.0, "retreat": 0.0}, 1.0, []
    for reduction in (*reductions, 1.0):
        scalars |= lag.advance(scalars, size) | {"begun": size, "taken": products}
        new.append(scalars["stale"] == 1)
        scalars["cfl"], size = 1e6, size / reduction
    return new


def test_factors_serve_until_an_iteration_gains_less_than_the_mean():
    """Ten products with new factors cost 12.5, so an iteration may gain ten of 12.5 parts of the first one."""
    assert pytest.approx(2.5) == COST
    assert served(Lag(), [100, 100, 100]) == [True, False, False, False]
    less = 100 ** (10 / (10 + COST))
    assert served(Lag(), [100, 100, less * 0.8, 100]) == [True, False, False, True, False]
    assert served(Lag(), [100, 0.5, 100]) == [True, False, True, False]


def test_factors_serve_as_many_iterations_as_the_case_says():
    assert served(Lag(2), [100, 1.1, 100, 100]) == [True, False, True, False, True]
    assert EACH.memory == ()
    assert EACH.advance({}, 1.0) == {}


@pytest.mark.parametrize("size", [0.0, np.inf, np.nan])
def test_residuals_without_a_logarithm_keep_factors(size):
    served = {"cfl": 1e6, "retreat": 0.0, "begun": 1.0, "taken": 3.0, "age": 0.0, "spent": 0.0, "fallen": 0.0}
    assert Lag().advance(served, size)["stale"] == 0


def test_a_refused_update_leads_to_new_factors():
    refused = {"cfl": 1e6, "retreat": 1.0}
    assert Lag().advance(refused, 1.0)["stale"] == 1
