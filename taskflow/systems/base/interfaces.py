"""The interfaces by which blocks know a system of equations: its constants, inflows and measures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from taskflow.cases.tables.timed import Value
from taskflow.cases.timing.schedule import Tick
from taskflow.runtime.machine import Shard
from taskflow.runtime.tasks import Program


class Constants(Protocol):
    """Fields that no program writes, such as where bodies are. Picklable."""

    def fill(self, shard: Shard) -> None:
        """Write those of a block."""


class Entering(Protocol):
    """The fluid that enters, where it changes in time: written before each step. Picklable."""

    @property
    def keys(self) -> Mapping[str, Value]:
        """The values of the case that change in time, by key."""

    def following(self, instead: Mapping[str, Value]) -> Entering:
        """Return this with the values `instead` of those of the case, by key, also when they change later."""

    def check(self, times: list[float]) -> None:
        """Raises BadInput if a value is invalid at one of these times."""

    def begin(self, shard: Shard) -> dict[str, float]:
        """Write that of time 0; the scalars that the first step needs."""

    def advance(self, shard: Shard, time: float, dt: float, last: float) -> dict[str, float]:
        """Write that of a step from `time` to time + dt, behind one of `last` (0: none); the scalars that it needs."""


class Measures(Protocol):
    """The quantities that a line of the log has, of a state whose monitor has run. Picklable."""

    @property
    def monitor(self) -> Program:
        """The program that measures. It leaves the scalar speed, the largest one, where there is a velocity."""

    @property
    def finite(self) -> tuple[str, ...]:
        """The names of those that are finite in a sane state."""

    def line(self, scalars: Mapping[str, float], tick: Tick, wall: float) -> dict[str, Any]:
        """The line, `wall` seconds after the first state, from the scalars of the step and of the monitor."""
