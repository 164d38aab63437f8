"""Interval arithmetic: bounds of the values of a formula over boxes of its variables."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases.formulas.arithmetic import FUNCTIONS, OPERATORS, Arithmetic

ROUNDING = 2.0**-50  # by which bounds are moved outwards, more than functions round


@dataclass(frozen=True, eq=False)
class Interval:
    """All numbers from `low` to `high`. They are arrays that broadcast, nan where nothing is known."""

    low: Any
    high: Any

    @property
    def point(self) -> Any:
        """True where it is a single number."""
        return np.asarray(self.low) == self.high

    def has(self, number: float) -> Any:
        """Return True where it may contain the number."""
        return ~((np.asarray(self.low) > number) | (np.asarray(self.high) < number))


def _around(*values: Any) -> Interval:
    """Return the smallest interval around values, moved outwards by their rounding."""
    values = np.broadcast_arrays(*values)
    low, high = np.minimum.reduce(values), np.maximum.reduce(values)
    return Interval(low - ROUNDING * abs(low), high + ROUNDING * abs(high))


def _corners(function: Callable[..., Any]) -> Callable[..., Interval]:
    """Return the bounds of a function that is monotonic in each argument."""

    def bounds(*of: Interval) -> Interval:
        ends = [(one.low, one.high) for one in of]
        pairs = [(a,) for a in ends[0]] if len(ends) == 1 else [(a, b) for a in ends[0] for b in ends[1]]
        return _around(*(function(*pair) for pair in pairs))

    return bounds


def _where_known(known: Any, bounds: Interval) -> Interval:
    return Interval(np.where(known, bounds.low, np.nan), np.where(known, bounds.high, np.nan))


def _with(number: float, where: Any, bounds: Interval) -> Interval:
    """Return bounds that include the number in some places."""
    low, high = np.minimum(bounds.low, number), np.maximum(bounds.high, number)
    return Interval(np.where(where, low, bounds.low), np.where(where, high, bounds.high))


def _quotient(a: Interval, b: Interval) -> Interval:
    return _where_known(~b.has(0.0), _corners(np.divide)(a, b))


def _power(a: Interval, b: Interval) -> Interval:
    """Powers with any exponent where the base is positive, else with whole positive exponents."""
    whole = b.point & (np.floor(b.low) == b.low) & (np.asarray(b.low) > 0)
    return _where_known((np.asarray(a.low) > 0) | whole, _with(0.0, a.has(0.0), _corners(np.float_power)(a, b)))


def _even(function: Callable[..., Any], least: float) -> Callable[[Interval], Interval]:
    """Return the bounds of an even function that increases with the magnitude from its least value at 0."""
    return lambda a: _with(least, a.has(0.0), _corners(function)(a))


def _passes(a: Interval, place: float, period: float) -> Any:
    """Return True where an interval may contain the place or one that is some periods away."""
    slack = 1e-9 + 1e-15 * np.maximum(abs(np.asarray(a.low)), abs(np.asarray(a.high)))
    first, last = ((np.asarray(end) - place) / period for end in (a.low, a.high))
    return ~(np.floor(last + slack) < np.ceil(first - slack))


def _wave(function: Callable[..., Any], crest: float) -> Callable[[Interval], Interval]:
    """Return the bounds of sin or cos, which have their largest value at the crest."""

    def bounds(a: Interval) -> Interval:
        low = _with(-1.0, _passes(a, crest + math.pi, 2 * math.pi), _corners(function)(a))
        return _with(1.0, _passes(a, crest, 2 * math.pi), low)

    return bounds


def _tan(a: Interval) -> Interval:
    return _where_known(~_passes(a, math.pi / 2, math.pi), _corners(np.tan)(a))


def _truth(always: Any, never: Any) -> Interval:
    return Interval(np.where(always, 1.0, 0.0), np.where(never, 0.0, 1.0))


def _less(a: Interval, b: Interval) -> Interval:
    return _truth(np.less(a.high, b.low), np.greater_equal(a.low, b.high))


def _at_most(a: Interval, b: Interval) -> Interval:
    return _truth(np.less_equal(a.high, b.low), np.greater(a.low, b.high))


def _equal(a: Interval, b: Interval) -> Interval:
    return _truth(a.point & b.point & np.equal(a.low, b.low), np.less(a.high, b.low) | np.less(b.high, a.low))


def _unequal(a: Interval, b: Interval) -> Interval:
    equal = _equal(a, b)
    return Interval(1 - equal.high, 1 - equal.low)


def _where(condition: Interval, then: Interval, otherwise: Interval) -> Interval:
    holds, fails = ~condition.has(0.0), condition.point & np.equal(condition.low, 0.0)
    low = np.where(holds, then.low, np.where(fails, otherwise.low, np.minimum(then.low, otherwise.low)))
    high = np.where(holds, then.high, np.where(fails, otherwise.high, np.maximum(then.high, otherwise.high)))
    return Interval(low, high)


INTERVALS = Arithmetic(
    lambda number: Interval(np.float64(number), np.float64(number)),
    {kind: _corners(operator) for kind, operator in OPERATORS.items()} | {
        ast.Div: _quotient, ast.Pow: _power, ast.Lt: _less, ast.LtE: _at_most, ast.Eq: _equal, ast.NotEq: _unequal,
        ast.Gt: lambda a, b: _less(b, a), ast.GtE: lambda a, b: _at_most(b, a),
    },
    {name: _corners(function) for name, (function, _) in FUNCTIONS.items()} | {
        "sin": _wave(np.sin, math.pi / 2), "cos": _wave(np.cos, 0.0), "tan": _tan, "where": _where,
        "abs": _even(np.abs, 0.0), "cosh": _even(np.cosh, 1.0),
    },
)  # fmt: skip
