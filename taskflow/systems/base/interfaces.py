"""Interfaces between blocks and a system of equations: constants, inflows and measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from taskflow.cases.tables.timed import Value
from taskflow.cases.timing.intervals import Tick
from taskflow.runtime.machine import Shard
from taskflow.runtime.tasks import Program


class Constants(Protocol):
    """Fields that no program writes, such as flags of bodies. Picklable."""

    def fill(self, shard: Shard) -> None:
        """Write the fields of a block."""


class InflowValues(Protocol):
    """Inflow values, written before each step if they change in time. Picklable."""

    @property
    def keys(self) -> Mapping[str, Value]:
        """The time-dependent values of the case, by key."""

    @property
    def varies(self) -> bool:
        """True if any value changes in time."""

    def following(self, instead: Mapping[str, Value]) -> InflowValues:
        """Return the same inflow with the values `instead`, by key, which may change later."""

    def check(self, times: list[float]) -> None:
        """Raise BadInput if a value is invalid at one of these times."""

    def begin(self, shard: Shard, time: float) -> dict[str, float]:
        """Write the values at the time of a first or restored state. Return the scalars that the first step needs."""

    def advance(self, shard: Shard, time: float, dt: float, last: float) -> dict[str, float]:
        """Write the values of a step from `time` to time + dt, after one of `last` (0: none); return its scalars."""


class Measures(Protocol):
    """The quantities in a line of the log, for a state whose monitor has run. Picklable."""

    @property
    def monitor(self) -> Program:
        """The measuring program. It leaves the scalar speed, the largest speed, if the model has a velocity."""

    @property
    def finite(self) -> tuple[str, ...]:
        """The names of quantities that are finite in a sane state."""

    def line(self, scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
        """Return the line, `wall` seconds after the first state, from the scalars of the step and of the monitor."""
