"""Operators and functions of formulas by their names, and what computes them: arrays here, intervals and dual numbers
elsewhere.
"""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

ELEMENTARY = ("sin", "cos", "tan", "exp", "log", "sqrt", "sinh", "cosh", "tanh", "abs")
FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    **{name: (getattr(np, name), 1) for name in ELEMENTARY},
    **{name: (getattr(np, name), 2) for name in ("minimum", "maximum")},
    "where": (lambda condition, then, otherwise: np.where(condition != 0, then, otherwise), 3),
}
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Pow: np.float_power,
    ast.USub: np.negative,
    ast.UAdd: np.positive,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """Numbers, operators and functions by their names, as a formula has them."""

    number: Callable[[float], Any]
    operators: Mapping[type[ast.AST], Callable[..., Any]]
    functions: Mapping[str, Callable[..., Any]]


def _in_double(function: Callable[..., Any]) -> Callable[..., np.ndarray]:
    return lambda *values: np.asarray(function(*values), dtype=np.float64)


ARRAYS = Arithmetic(
    np.float64,
    {kind: _in_double(operator) for kind, operator in OPERATORS.items()},
    {name: _in_double(function) for name, (function, _) in FUNCTIONS.items()},
)
