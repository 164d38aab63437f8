"""The exact derivative of an expression of the time t: its value and slope together, by dual numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from taskflow.errors import BadInput
from taskflow.simulation.formulas.expression import CONSTANTS, COORDINATES, FUNCTIONS, OPERATORS, TIME, Expression


class Dual(NamedTuple):
    """A value, and its derivative with respect to t."""

    value: Any
    slope: Any


Function = Callable[[np.ndarray], Dual]  # of times
ONE = np.float64(1.0)
Chain = Callable[[Any, Any], Any]  # the derivative of a function of one argument, of that and the function's value
CHAINS: dict[str, Chain] = {
    "sin": lambda a, _: np.cos(a),
    "cos": lambda a, _: -np.sin(a),
    "tan": lambda _, f: 1 + f * f,
    "exp": lambda _, f: f,
    "log": lambda a, _: 1 / a,
    "sqrt": lambda _, f: 0.5 / f,
    "sinh": lambda a, _: np.cosh(a),
    "cosh": lambda a, _: np.sinh(a),
    "tanh": lambda _, f: 1 - f * f,
    "abs": lambda a, _: np.sign(a),
}


def of_time(value: Any) -> Expression:
    """From a number or an expression of t alone. Raises BadInput for anything else."""
    expression = value if isinstance(value, Expression) else Expression(value, timed=True)
    if isinstance(expression.source, str):
        used = {node.id for node in ast.walk(_parsed(expression.source)) if isinstance(node, ast.Name)}
        if strange := sorted(used & {*COORDINATES}):
            raise BadInput(f"{expression.source!r} uses {', '.join(strange)}; a rigid motion is of the time t alone")
    return expression


def dual(expression: Expression, t: Any) -> Dual:
    """The value and the derivative of an expression `of_time` at a time or an array of times. Where it has a kink the
    derivative is that to one side; what is not finite is left so.
    """
    if not isinstance(expression.source, str):
        return Dual(np.float64(expression.source), np.float64(0.0))
    with np.errstate(all="ignore"):
        return _compiled(expression.source)(np.asarray(t, np.float64))


def _parsed(source: str) -> ast.expr:
    return ast.parse(" ".join(source.split()), mode="eval").body


@lru_cache(maxsize=256)
def _compiled(source: str) -> Function:
    return _function(_parsed(source))


def _function(node: ast.expr) -> Function:
    """The function of a part of an expression, which is known to be one."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return _constant(value)
        case ast.Name(id=name):
            return (lambda t: Dual(t, ONE)) if name == TIME else _constant(CONSTANTS[name])
        case ast.UnaryOp(op=op, operand=operand):
            sign, part = -1.0 if isinstance(op, ast.USub) else 1.0, _function(operand)
            return lambda t: Dual(*(sign * number for number in part(t)))
        case ast.BinOp(left=left, op=op, right=right):
            rule, one, other = RULES.get(type(op), _power), _function(left), _function(right)
            return lambda t: rule(one(t), other(t))
        case ast.Compare(left=left, ops=ops, comparators=others):
            sides = [_function(side) for side in (left, *others)]
            return lambda t: _holds(ops, [side(t).value for side in sides])
        case ast.Call(func=ast.Name(id=name), args=arguments):
            parts = [_function(argument) for argument in arguments]
            return lambda t: _called(name, [part(t) for part in parts])
    raise AssertionError(f"{ast.dump(node)} is no part of an expression")


def _constant(value: float) -> Function:
    constant = Dual(np.float64(value), np.float64(0.0))
    return lambda t: constant


def _times(a: Dual, b: Dual) -> Dual:
    return Dual(a.value * b.value, a.slope * b.value + a.value * b.slope)


def _over(a: Dual, b: Dual) -> Dual:
    quotient = a.value / b.value
    return Dual(quotient, (a.slope - quotient * b.slope) / b.value)


def _power(a: Dual, b: Dual) -> Dual:
    power = np.float_power(a.value, b.value)
    by_base = np.where(b.value == 0, 0.0, b.value * np.float_power(a.value, b.value - 1)) * a.slope
    by_exponent = np.where(b.slope == 0, 0.0, power * np.log(a.value) * b.slope)
    return Dual(power, by_base + by_exponent)


RULES: dict[type[ast.operator], Callable[[Dual, Dual], Dual]] = {
    ast.Add: lambda a, b: Dual(a.value + b.value, a.slope + b.slope),
    ast.Sub: lambda a, b: Dual(a.value - b.value, a.slope - b.slope),
    ast.Mult: _times,
    ast.Div: _over,
}


def _holds(ops: Sequence[ast.cmpop], sides: list[Any]) -> Dual:
    holds = np.float64(1.0)
    for op, (low, high) in zip(ops, pairwise(sides), strict=True):
        holds = holds * OPERATORS[type(op)](low, high)
    return Dual(holds, np.float64(0.0))


def _called(name: str, parts: list[Dual]) -> Dual:
    value = FUNCTIONS[name][0](*(part.value for part in parts))
    if name in CHAINS:
        return Dual(value, CHAINS[name](parts[0].value, value) * parts[0].slope)
    if name == "where":
        condition, then, otherwise = parts
        return Dual(value, np.where(condition.value != 0, then.slope, otherwise.slope))
    first = parts[0].value <= parts[1].value if name == "minimum" else parts[0].value >= parts[1].value
    return Dual(value, np.where(first, parts[0].slope, parts[1].slope))
