"""Expressions of fields, place and time: read as other expressions are, and written as kernels compute them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases.formulas.arithmetic import ELEMENTARY, FUNCTIONS, Arithmetic
from taskflow.cases.formulas.expression import CONSTANTS, COORDINATES, TIME, Array, compiled, field_values, names_in
from taskflow.common.errors import BadInput
from taskflow.flow.operators.formula import Formula

# Operators and functions in C++, with brackets around all that is one operation: those of its library and of formula.h
COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
OPERATIONS: dict[type[ast.AST], str] = {
    ast.Add: "({} + {})", ast.Sub: "({} - {})", ast.Mult: "({} * {})", ast.Div: "({} / {})",
    ast.USub: "(-{})", ast.UAdd: "(+{})", **{kind: f"double({{}} {sign} {{}})" for kind, sign in COMPARED.items()},
}  # fmt: skip
CALLS = {name: f"MATH({name})({{}})" for name in ELEMENTARY} | {
    "abs": "MATH(fabs)({})", "minimum": "least({}, {})", "maximum": "most({}, {})", "where": "({} != 0 ? {} : {})",
}  # fmt: skip
POWERS = {float.hex(2.0): "square", float.hex(3.0): "cube"}


def _power(base: str, exponent: str) -> str:
    return f"{POWERS[exponent]}({base})" if exponent in POWERS else f"MATH(pow)({base}, {exponent})"


TEXTS = Arithmetic(
    float.hex,  # exactly
    {ast.Pow: _power, **{kind: form.format for kind, form in OPERATIONS.items()}},
    {name: form.format for name, form in CALLS.items()},
)
OWN = frozenset((*COORDINATES, TIME, *CONSTANTS, *FUNCTIONS))
"""Return the names that every expression may use, for any fields."""


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
        names = {name: f"value_{name}" for name in self._variables}
        return Formula(compiled(self.source, self._variables, TEXTS)(names), self.names)

    def __call__(self, x: Any, y: Any, z: Any, t: float, values: Mapping[str, Any]) -> Array:
        """Values in float64 where the fields have these `values`, in the shape to which x, y and z broadcast.

        Raises BadInput if a value is not finite.
        """
        names = {name: np.asarray(at, np.float64) for name, at in {"x": x, "y": y, "z": z, TIME: t, **values}.items()}
        with np.errstate(all="ignore"):
            computed = compiled(self.source, self._variables)(names)
        return field_values(computed, (x, y, z), f"the expression {self.source!r}")
