"""The motion of a body: a table within [[obstacles]]."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from taskflow.simulation.case.problems import Problem, missing, present, wrong
from taskflow.simulation.case.table import Table, Vector, entry, reads
from taskflow.simulation.formulas.expression import Expression
from taskflow.simulation.formulas.motion import RigidMotion
from taskflow.simulation.formulas.slope import of_time
from taskflow.simulation.formulas.values import three

ANGLE = "the angle about this axis in radians; one of them"


def _steady(value: object) -> tuple[Expression, Expression, Expression]:
    x, y, z = three(of_time, "three numbers or expressions of t")(value)
    return x, y, z


class BodyTurn(Table):
    """The angle of a body that turns about one axis."""

    x: Annotated[Expression | None, reads(of_time)] = entry(ANGLE, None)
    y: Annotated[Expression | None, reads(of_time)] = entry(ANGLE, None)
    z: Annotated[Expression | None, reads(of_time)] = entry(ANGLE, None)

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if not values:
            yield missing("z", "give x, y or z, the angle about it in radians")
        for key in present(values, "x", "y", "z")[1:]:
            yield wrong(key, values[key], "turns about more than one axis are not available in this version; give one")


class BodyMotion(Table):
    """The prescribed motion of a rigid body."""

    displacement: Annotated[tuple[Expression, Expression, Expression] | None, reads(_steady)] = entry(
        "how far the body is from the place that its shape has, three numbers or [expressions](#initial) of the time"
        " `t`. Its velocity is their derivative",
        None,
        otherwise="zeros",
    )
    angle: BodyTurn | None = entry(
        "a table with one of `x`, `y`, `z`: the angle in radians by which it is turned about that axis, a number or an"
        " expression of `t`, right-handed",
        None,
        otherwise="not turned",
    )
    centre: Vector | None = entry("of `angle`: a point of the axis, of the body at its place", None, otherwise="zeros")

    @classmethod
    def conflicts(cls, values: Mapping[str, Any]) -> Iterator[Problem]:
        if not present(values, "displacement", "angle"):
            yield missing("displacement", "give displacement, angle, or both")
        if present(values, "centre") and not present(values, "angle"):
            yield wrong("centre", values["centre"], "it is the centre of a turn; give angle, or leave it out")

    @property
    def rigid(self) -> RigidMotion:
        """The motion as it is computed."""
        still = Expression(0.0, timed=True)
        turns = {"xyz".index(name): angle for name, angle in self.angle if angle is not None} if self.angle else {}
        axis, angle = next(iter(turns.items()), (2, still))
        return RigidMotion(self.displacement or (still,) * 3, angle, axis, self.centre or (0.0, 0.0, 0.0))
