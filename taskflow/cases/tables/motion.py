"""Prescribed rigid motion: angles and a displacement, expressions of time. [motion]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from taskflow.cases.formulas.expression import Expression
from taskflow.cases.formulas.motion import dual, of_time, steepest
from taskflow.cases.language.problems import Problem, present
from taskflow.cases.language.table import Table, Vector, entry, reads
from taskflow.cases.tables.initial import NumberOrExpression, VectorExpression, vector_expression
from taskflow.common.errors import BadInput
from taskflow.output.store.rigid_motion import transformed
from taskflow.runtime.regions import triple

if TYPE_CHECKING:
    from taskflow.geometry.grids import MultiBlockGrid

SAMPLES = 512  # moments at which a motion is tried
ALONG = 1e-9  # of the length of a vector: what of it may point across an axis that it is parallel to
JUMP = 0.5  # of a change between two moments: what is left of it however close they come


def _of_time(value: Any) -> NumberOrExpression:
    expression = of_time(value)
    return expression if isinstance(expression.source, str) else expression.source


def _three_of_time(value: Any) -> VectorExpression:
    return triple(map(_of_time, vector_expression(value)))


class Angles(Table):
    """Angles in radians about the axes x, y and z: turned about x first, then about y, then about z."""

    x: Annotated[NumberOrExpression, reads(_of_time)] = entry("about x, through `centre`", 0.0)
    y: Annotated[NumberOrExpression, reads(_of_time)] = entry("about y", 0.0)
    z: Annotated[NumberOrExpression, reads(_of_time)] = entry("about z", 0.0)


class GridMotion(Table):
    """The motion of a rigid body, x = centre + displacement + R (X - centre), of points that are given at X."""

    angle: Angles = entry("in radians: numbers or expressions of t about the axes", Angles())
    centre: Vector = entry("centre of rotation, before the displacement", (0.0, 0.0, 0.0))
    displacement: Annotated[VectorExpression, reads(_three_of_time)] = entry(
        'three numbers or expressions of t, as `[0.0, "0.1*sin(t)", 0.0]`', (0.0, 0.0, 0.0)
    )

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if not present(values, "angle", "displacement"):
            yield Problem((), "nothing moves; give angle or displacement, or omit the table")

    def pose(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """R and b of x = R X + b at a time. Raises BadInput where an expression is not finite."""
        a, b, c, *shift = (_at(value, key, time) for key, value in self.formulas.items())
        turn, centre = _turn(2, c) @ _turn(1, b) @ _turn(0, a), np.array(self.centre)
        return turn, centre + shift - turn @ centre

    def moved(self, points: np.ndarray, time: float) -> np.ndarray:
        """Points [xyz, ...] where they are at a time."""
        return transformed(points, *self.pose(time))

    def speeds(self, points: np.ndarray, time: float) -> np.ndarray:
        """Return the speeds of points, which are at [xyz, ...] at a time. Not finite if the derivatives are not."""
        return transformed(points, *self._rates(time))

    def _rates(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """The spin and the drift of speeds = spin x + drift of points that are at x at a time."""
        *angles, x, y, z = (dual(of_time(value), time) for value in self.formulas.values())
        frame, spin = np.eye(3), np.zeros((3, 3))
        for axis, angle in reversed([*enumerate(angles)]):
            quarter = _turn(axis, np.pi / 2)
            quarter[axis, axis] = 0.0
            spin += float(angle.slope) * (frame @ quarter @ frame.T)
            frame = frame @ _turn(axis, float(angle.value))
        shift, drift = np.array([[float(part.value), float(part.slope)] for part in (x, y, z)]).T
        return spin, drift - spin @ (self.centre + shift)

    def rates(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """The derivatives of R and b of `pose` at a time; 0 where they are not finite."""
        (turn, shift), (spin, drift) = self.pose(time), self._rates(time)
        rates = spin @ turn, drift + spin @ shift
        return rates if all(np.isfinite(rate).all() for rate in rates) else (np.zeros((3, 3)), np.zeros(3))

    def turns(self, vector: np.ndarray) -> Iterator[str]:
        """Yield the axes about which a change of the angle turns a vector of the grid at rest."""
        for axis, (key, value) in enumerate(list(self.formulas.items())[:3]):
            if not isinstance(value, Expression) or not value.varies:
                vector = _turn(axis, _at(value, key, 0.0)) @ vector
            elif np.abs(np.delete(vector, axis)).max() > ALONG * np.abs(vector).max():
                yield "xyz"[axis]

    @property
    def formulas(self) -> dict[str, NumberOrExpression]:
        """The formulas of angles and displacements, by key."""
        angles = {f"angle.{axis}": getattr(self.angle, axis) for axis in "xyz"}
        return angles | {f"displacement.{axis}": value for axis, value in zip("xyz", self.displacement, strict=True)}

    def check(self, end: float) -> None:
        """Raises BadInput where an expression is not finite or jumps between 0 and `end`."""
        times = np.linspace(0.0, end, SAMPLES)
        for key, value in self.formulas.items():
            at = partial(_at, value, key)
            values = np.array([at(time) for time in times])
            n = int(np.abs(np.diff(values)).argmax())
            jump = abs(values[n + 1] - values[n])
            early, late = steepest(at, float(times[n]), float(times[n + 1]))
            if jump and abs(at(late) - at(early)) > JUMP * jump:
                what = getattr(value, "source", value)
                raise BadInput(f"motion.{key}: {what!r} jumps at t = {late:.6g}; give an expression that does not")


def placed(grid: MultiBlockGrid, motion: GridMotion | None, time: float = 0.0) -> MultiBlockGrid:
    """Return the grid at a time, moved if it has a motion."""
    if motion is None:
        return grid
    moved = (replace(chart, vertices=motion.moved(chart.vertices, time)) for chart in grid.charts)
    return replace(grid, charts=tuple(moved))


def _turn(axis: int, angle: float) -> np.ndarray:
    """The matrix of a turn about an axis."""
    turn, (a, b) = np.eye(3), ((axis + 1) % 3, (axis + 2) % 3)
    turn[a, a] = turn[b, b] = np.cos(angle)
    turn[a, b], turn[b, a] = -np.sin(angle), np.sin(angle)
    return turn


def _at(value: NumberOrExpression, key: str, time: float) -> float:
    if not isinstance(value, Expression):
        return value
    try:
        return float(value(0.0, 0.0, 0.0, time))
    except BadInput:
        raise BadInput(f"motion.{key}: {value.source!r} is not finite at time {time:g}; give one that is") from None
