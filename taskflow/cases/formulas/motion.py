"""The prescribed motion of a rigid body: where it is at a time, and how fast. Both follow from the time alone: the
value of an expression of t and its exact derivative come together, by dual numbers.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from taskflow.cases.formulas.arithmetic import FUNCTIONS, OPERATORS, Arithmetic
from taskflow.cases.formulas.expression import COORDINATES, TIME, Expression, compiled
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.text import parsed
from taskflow.geometry import Pose, Vector
from taskflow.runtime.regions import triple

JUMP = 1e-6  # of the largest extent of the motion: a change that large within rounding of a time is a jump
HALVINGS = 45


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
    if callable(value) and not isinstance(value, Expression):
        raise BadInput(
            "the velocity of a body is the exact derivative of its motion, which a function does not give; give an"
            " expression of t"
        )
    expression = value if isinstance(value, Expression) else Expression(value, timed=True)
    if strange := sorted(expression.names & {*COORDINATES}):
        raise BadInput(f"{expression.source!r} has {', '.join(strange)}: a rigid motion is an expression in t alone")
    return expression


def dual(expression: Expression, t: Any) -> Dual:
    """The value and the derivative of an expression `of_time` at a time or an array of times. Where it has a kink the
    derivative is one-sided. Values that are not finite stay so.
    """
    with np.errstate(all="ignore"):
        now = Dual(np.asarray(t, np.float64), np.float64(1.0))
        return compiled(expression.source, (TIME,), DUALS)({TIME: now})


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


def _compared(holds: Callable[..., Any]) -> Callable[[Dual, Dual], Dual]:
    return lambda a, b: Dual(np.float64(1.0) * holds(a.value, b.value), np.float64(0.0))


def _called(name: str, *parts: Dual) -> Dual:
    value = FUNCTIONS[name][0](*(part.value for part in parts))
    if name in CHAINS:
        return Dual(value, CHAINS[name](parts[0].value, value) * parts[0].slope)
    if name == "where":
        condition, then, otherwise = parts
        return Dual(value, np.where(condition.value != 0, then.slope, otherwise.slope))
    first = parts[0].value <= parts[1].value if name == "minimum" else parts[0].value >= parts[1].value
    return Dual(value, np.where(first, parts[0].slope, parts[1].slope))


DUALS = Arithmetic(
    lambda value: Dual(np.float64(value), np.float64(0.0)),
    {kind: _compared(holds) for kind, holds in OPERATORS.items() if issubclass(kind, ast.cmpop)}
    | {
        ast.Add: lambda a, b: Dual(a.value + b.value, a.slope + b.slope),
        ast.Sub: lambda a, b: Dual(a.value - b.value, a.slope - b.slope),
        ast.Mult: _times,
        ast.Div: _over,
        ast.Pow: _power,
        ast.USub: lambda a: Dual(-a.value, -a.slope),
        ast.UAdd: lambda a: a,
    },
    {name: partial(_called, name) for name in FUNCTIONS},
)


@dataclass(eq=False)
class RigidMotion:
    """x(t) = centre + R(angle(t)) (X - centre) + displacement(t) of the points X of a body at rest, with expressions of
    t alone; the turn is about an axis (0, 1, 2 for x, y, z) through the centre, in radians. Errors name its `key`. Only
    `change` alters it.
    """

    displacement: tuple[Expression, Expression, Expression]
    angle: Expression
    axis: int
    centre: Vector
    key: str = "motion"

    def change(self, values: Mapping[str, Any]) -> None:
        """Replace expressions, by the names of their `parts`. Everything that has this motion follows."""
        x, y, z, self.angle = (of_time(values.get(name, part)) for name, part in self.parts)
        self.displacement = x, y, z
        for name in ("parts", "constants"):
            self.__dict__.pop(name, None)
        _moments.cache_clear()

    def pose(self, time: float) -> Pose:
        """Return the position and rotation of the body. Raises BadInput if an expression is not finite."""
        x, y, z, angle = (moment.value for moment in _moments(self, time))
        return Pose((x, y, z), angle, self.axis, self.centre)

    def ways(self, times: np.ndarray, points: np.ndarray) -> np.ndarray:
        """Return the distances of points [n, xyz] of the body at rest from their places at the first of some times, at
        the others, [time, n, xyz]; without a turn one for all. Raises as `pose` does.
        """
        values = np.zeros((4, *times.shape))
        for row, (_, part) in zip(values, self.parts, strict=True):
            if part.varies:
                row[:] = dual(part, times).value
        if not np.isfinite(values).all():
            number, when = np.argwhere(~np.isfinite(values))[0].tolist()
            name, part = self.parts[number]
            raise _not_finite(name, part, float(times[when]))
        shift = (values[:3, 1:] - values[:3, :1]).T[:, None]
        if not self.angle.varies:
            return shift
        places = [Pose((0.0, 0.0, 0.0), angle, self.axis, self.centre).forth(points) for angle in values[3].tolist()]
        return shift + (np.array(places[1:]) - places[0])

    def velocity(self, time: float) -> Vector:
        """The velocity of the centre of rotation: the derivative of the displacement."""
        return triple(moment.slope for moment in _moments(self, time)[:3])

    def turning(self, time: float) -> float:
        """The angular velocity about the axis: the derivative of the angle."""
        return float(_moments(self, time)[3].slope)

    def rotation(self, time: float) -> np.ndarray:
        """The angular velocity, a vector."""
        return np.eye(3)[self.axis] * self.turning(time)

    def velocity_at(self, time: float, points: np.ndarray) -> np.ndarray:
        """The velocities of points [..., xyz] of the body, given where they are then."""
        return np.stack(np.broadcast_arrays(*self.velocity_there(time, *np.moveaxis(points, -1, 0))), axis=-1)

    def velocity_there(self, time: float, x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
        """The components of the velocity, numbers or arrays, where the body has these coordinates."""
        pose, turning, velocity = self.pose(time), self.turning(time), list(self.velocity(time))
        away, (a, b) = [here - middle for here, middle in zip((x, y, z), pose.middle, strict=True)], pose.across
        velocity[a], velocity[b] = velocity[a] + -turning * away[b], velocity[b] + turning * away[a]
        return triple(velocity)

    def check(self, times: np.ndarray) -> None:
        """Raises BadInput where an expression is not finite, or jumps, between or at some times that increase."""
        for name, part in self.parts:
            pair = dual(part, times)
            value, slope = (np.broadcast_to(np.asarray(one, np.float64), times.shape) for one in pair)
            bad = np.flatnonzero(~(np.isfinite(value) & np.isfinite(slope)))
            if bad.size:
                raise _not_finite(name, part, float(times[bad[0]]))
            extent, steps = float(np.ptp(value)), np.diff(times)
            beyond = np.abs(np.diff(value) - (slope[:-1] + slope[1:]) / 2 * steps)
            # what a slope can explain that goes steadily from one end to the other
            for n in np.flatnonzero(beyond > np.abs(np.diff(slope)) * steps / 2 + JUMP * extent):
                _refuse_jump(name, part, float(times[n]), float(times[n + 1]), JUMP * extent)

    @cached_property
    def constants(self) -> tuple[Dual | None, ...]:
        """Return values and derivatives of the constant `parts`, which are not evaluated for each time."""
        return tuple(None if part.varies else _moment(name, part, 0.0) for name, part in self.parts)

    @cached_property
    def parts(self) -> tuple[tuple[str, Expression], ...]:
        """The displacement along x, y and z, and the angle, with their names."""
        x, y, z = self.displacement
        parts = ("displacement[1]", x), ("displacement[2]", y), ("displacement[3]", z), ("angle", self.angle)
        return tuple((f"{self.key}.{name}", part) for name, part in parts)


@lru_cache(maxsize=256)
def _moments(motion: RigidMotion, time: float) -> tuple[Dual, ...]:
    """The values and the derivatives of the parts of a motion at a time. Raises as `_moment` does."""
    parts = zip(motion.parts, motion.constants, strict=True)
    return tuple(constant or _moment(name, part, time) for (name, part), constant in parts)


def _moment(name: str, part: Expression, time: float) -> Dual:
    """The value and the derivative of an expression. Raises BadInput where they are not finite."""
    value, slope = map(float, dual(part, time))
    if not (math.isfinite(value) and math.isfinite(slope)):
        raise _not_finite(name, part, time)
    return Dual(value, slope)


def _not_finite(name: str, part: Expression, time: float) -> BadInput:
    return BadInput(
        f"{name}: {part.source!r}, or its derivative, is not finite at time {time:g}; give an expression that is"
        " smooth for all of the run"
    )


def continued(old: Expression, now: float, new: Expression, before: float) -> Expression:
    """Return the expression that is `old` until now and `new` afterwards. It is evaluated after `before` only."""
    return Expression(f"where(t <= {now!r}, {_since(str(old.source), before)}, {new.source})", timed=True)


def _since(source: str, before: float) -> str:
    """Return the text of an expression for times from `before` on, without earlier continuations."""
    match parsed(source, "eval"):
        case ast.Expression(
            ast.Call(ast.Name("where"), [ast.Compare(ast.Name("t"), [ast.LtE()], [ast.Constant(float(end))]), old, new])
        ):
            after = ast.unparse(new)
            return after if end < before else f"where(t <= {end!r}, {_since(ast.unparse(old), before)}, {after})"
    return source


def steepest(at: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Return the ends of the shortest resolved part of an interval in which a function changes most, by bisection."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (low, middle) if abs(at(middle) - at(low)) > abs(at(high) - at(middle)) else (middle, high)
    return low, high


def _refuse_jump(name: str, part: Expression, low: float, high: float, jump: float) -> None:
    """Raises BadInput where an expression changes by more than `jump` in an interval, however short it is made."""

    def at(time: float) -> float:
        return float(dual(part, time).value)

    low, high = steepest(at, low, high)
    if abs(at(high) - at(low)) > jump:
        raise BadInput(
            f"{name}: {part.source!r} jumps at time {high:g}, by {abs(at(high) - at(low)):g}; a body moves"
            " steadily: give an expression that does"
        )
