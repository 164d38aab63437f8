"""The values at an inflow: numbers, formulas of place and time, a log law, a table."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from taskflow.errors import BadInput
from taskflow.simulation.case.problems import Problem, missing, present, wrong
from taskflow.simulation.case.table import Number, Positive, Table, Vector, entry, reads
from taskflow.simulation.expression import Expression
from taskflow.simulation.values import number, one_of, three

Value = float | Expression
Values = tuple[Value, Value, Value]


def one_value(value: Any) -> Value:
    """A number, or an expression in x, y, z and t."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, str):
        return Expression(value, timed=True)
    try:
        return number(value)
    except BadInput:
        raise BadInput("give a finite number or an expression in x, y, z and t") from None


def three_values(value: Any) -> Values:
    """Three numbers, where all are; else numbers and expressions."""
    if isinstance(value, (list, tuple)) and any(isinstance(item, (str, Expression)) for item in value):
        return three(one_value, "three numbers or expressions")(value)
    return three(number, "three numbers")(value)


class LogLaw(Table):
    """The wind over rough ground, (u* / 0.41) ln((s + roughness) / roughness) at the height s above it."""

    roughness: Positive = entry("roughness length", remedy="give the roughness length of the ground, a number > 0")
    friction_velocity: Positive | None = entry("u*; or else `speed` and `height`", None)
    speed: Positive | None = entry("the speed at a `height`", None)
    height: Positive | None = entry("the height above the ground at which there is this `speed`", None)
    up: Annotated[Literal["x", "y", "z"], reads(one_of("x", "y", "z"))] = entry("which direction is up", "z")
    ground: Number | None = entry("where the ground is along `up`", None, otherwise="the lowest corner of the grid")
    direction: Vector | None = entry(
        "where the wind blows, with a component into the domain and none along `up`", None, otherwise="into the domain"
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        pair = present(values, "speed", "height")
        if present(values, "friction_velocity"):
            for key in pair:
                yield wrong(key, values[key], "friction_velocity is given as well; give it, or speed and height")
        elif not pair:
            yield missing("friction_velocity", "give it, or a speed and the height above ground where it is")
        elif len(pair) == 1:
            other = "height" if pair == ["speed"] else "speed"
            yield missing(other, "give the speed, and the height above ground where it is")
