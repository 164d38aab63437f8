"""The wind over rough ground that enters at a side."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from taskflow.simulation.case.problems import Problem, missing, present, wrong
from taskflow.simulation.case.table import Number, Positive, Table, Vector, entry


class LogLawTable(Table):
    """The wind over rough ground, (u* / 0.41) ln((s + roughness) / roughness) at the height s above it."""

    roughness: Positive = entry("roughness length", remedy="give the roughness length of the ground, a number > 0")
    friction_velocity: Positive | None = entry("u*; or else `speed` and `height`", None)
    speed: Positive | None = entry("the speed at a `height`", None)
    height: Positive | None = entry("the height above the ground at which there is this `speed`", None)
    up: Literal["x", "y", "z"] = entry("which direction is up", "z")
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
