"""The exact derivative of an expression of the time t: its value and slope together, by dual numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from taskflow.errors import BadInput
from taskflow.simulation.expression import CONSTANTS, COORDINATES, FUNCTIONS, OPERATORS, TIME, Expression


class Dual(NamedTuple):
    """A value, and its derivative with respect to t."""

    value: Any
    slope: Any


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
        return _dual(_parsed(expression.source), np.asarray(t, np.float64))


@lru_cache(maxsize=256)
def _parsed(source: str) -> ast.expr:
    return ast.parse(" ".join(source.split()), mode="eval").body


def _dual(node: ast.expr, t: np.ndarray) -> Dual:
    """Of a part of an expression, which is known to be one."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return Dual(np.float64(value), np.float64(0.0))
        case ast.Name(id=name):
            return Dual(t, np.float64(1.0)) if name == TIME else Dual(np.float64(CONSTANTS[name]), np.float64(0.0))
        case ast.UnaryOp(op=op, operand=operand):
            sign, part = -1.0 if isinstance(op, ast.USub) else 1.0, _dual(operand, t)
            return Dual(sign * part.value, sign * part.slope)
        case ast.BinOp(left=left, op=op, right=right):
            return _arithmetic(op, _dual(left, t), _dual(right, t))
        case ast.Compare():
            return _holds(node, t)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _called(name, [_dual(argument, t) for argument in arguments])
    raise AssertionError(f"{ast.dump(node)} is no part of an expression")


def _arithmetic(op: ast.operator, a: Dual, b: Dual) -> Dual:
    match op:
        case ast.Add():
            return Dual(a.value + b.value, a.slope + b.slope)
        case ast.Sub():
            return Dual(a.value - b.value, a.slope - b.slope)
        case ast.Mult():
            return Dual(a.value * b.value, a.slope * b.value + a.value * b.slope)
        case ast.Div():
            quotient = a.value / b.value
            return Dual(quotient, (a.slope - quotient * b.slope) / b.value)
    power = np.float_power(a.value, b.value)
    by_base = np.where(b.value == 0, 0.0, b.value * np.float_power(a.value, b.value - 1)) * a.slope
    by_exponent = np.where(b.slope == 0, 0.0, power * np.log(a.value) * b.slope)
    return Dual(power, by_base + by_exponent)


def _holds(node: ast.Compare, t: np.ndarray) -> Dual:
    sides, holds = [_dual(side, t).value for side in (node.left, *node.comparators)], np.float64(1.0)
    for op, (low, high) in zip(node.ops, pairwise(sides), strict=True):
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
