"""Expressions of fields, place and time: read as other expressions are, and written as kernels compute them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from taskflow.errors import BadInput
from taskflow.flow.operators.formula import Formula
from taskflow.simulation.formulas.expression import (
    CONSTANTS,
    COORDINATES,
    FUNCTIONS,
    TIME,
    Array,
    compiled,
    field_values,
    names_in,
    syntax,
)

# What C++ calls functions and operators: those of its library, and those of formula.h
WORDS = {name: f"MATH({name})" for name in FUNCTIONS} | {"abs": "MATH(fabs)", "minimum": "least", "maximum": "most"}
SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.USub: "-", ast.UAdd: "+",
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
POWERS: dict[Any, str] = {2: "square", 3: "cube"}
OWN = frozenset((*COORDINATES, TIME, *CONSTANTS, *FUNCTIONS))
"""The names that mean something in every expression, whatever fields there are."""


@dataclass(frozen=True)
class FieldExpression:
    """A formula in x, y, z, t and the `fields` of these names. `BadInput` names the part that is no such formula.

    A field whose name means something else in expressions cannot be in one.
    """

    source: str
    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        hidden = OWN.intersection(self.fields)
        compiled(self.source, self._variables)
        if both := sorted(hidden & names_in(self.source)):
            what = "a coordinate, a constant or a function"
            raise BadInput(f"{both[0]} is a field here, and {what} in expressions; give the scalar another name")

    @property
    def _variables(self) -> tuple[str, ...]:
        return (*COORDINATES, TIME, *(name for name in self.fields if name not in OWN))

    @property
    def names(self) -> tuple[str, ...]:
        """The fields in it, the coordinates and the time, each once."""
        return tuple(name for name in dict.fromkeys(self._variables) if name in names_in(self.source))

    @property
    def formula(self) -> Formula:
        """The formula as kernels compute it: the same function, in double precision."""
        return Formula(_written(syntax(self.source)), self.names)

    def __call__(self, x: Any, y: Any, z: Any, t: float, values: Mapping[str, Any]) -> Array:
        """Values in float64 where the fields have these `values`, in the shape to which x, y and z broadcast.

        Raises BadInput where one is not finite.
        """
        names = {name: np.asarray(at, np.float64) for name, at in {"x": x, "y": y, "z": z, TIME: t, **values}.items()}
        with np.errstate(all="ignore"):
            computed = compiled(self.source, self._variables)(names)
        return field_values(computed, (x, y, z), f"the expression {self.source!r}")


def _written(node: ast.expr) -> str:
    """A sound syntax tree in C++, as a double, with brackets around everything that is one operation."""
    match node:
        case ast.Constant(value=int() | float() as value):
            return _number(float(value))
        case ast.Name(id=name):
            return _number(CONSTANTS[name]) if name in CONSTANTS else f"value_{name}"
        case ast.UnaryOp(op=op, operand=operand):
            return f"({SIGNS[type(op)]}{_written(operand)})"
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=power)) if power in POWERS:
            return f"{POWERS[power]}({_written(left)})"
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return f"MATH(pow)({_written(left)}, {_written(right)})"
        case ast.BinOp(left=left, op=op, right=right):
            return f"({_written(left)} {SIGNS[type(op)]} {_written(right)})"
        case ast.Compare(left=left, ops=ops, comparators=others):
            pairs = zip(pairwise([left, *others]), ops, strict=True)
            holds = (f"({_written(one)} {SIGNS[type(op)]} {_written(other)})" for (one, other), op in pairs)
            return f"double({' & '.join(holds)})"
        case ast.Call(func=ast.Name(id="where"), args=[condition, then, otherwise]):
            return f"({_written(condition)} != 0 ? {_written(then)} : {_written(otherwise)})"
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return f"{WORDS[name]}({', '.join(map(_written, arguments))})"
    raise TypeError(f"{ast.dump(node)} has no place in a formula")


def _number(value: float) -> str:
    """A number of double precision, exactly."""
    return value.hex()
