"""Functions that a simulation calls during the run: `@simulation.every(...)`."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from taskflow.cases.formulas.values import positive
from taskflow.cases.timing.intervals import MEETS, Every, Tick, intervals
from taskflow.cases.timing.schedule import HERE, Pause
from taskflow.common.errors import BadInput, named


@dataclass(eq=False)
class Callback:
    """A function that is called repeatedly: after a number of steps, after an interval of simulation time, or
    after a number of seconds of the `wall` clock. `next` is the scheduled moment.
    """

    function: Callable[[Any], object]
    every: Every | None
    wall: float = math.inf
    next: Pause = HERE

    @classmethod
    def of(
        cls, function: Callable[[Any], object], now: Tick, steps: int | None, time: float | None, wall: float | None
    ) -> Callback:
        """Raise BadInput unless exactly one valid interval is given."""
        if (steps, time, wall).count(None) != 2:
            raise BadInput(f"every(steps={steps}, time={time}, wall={wall}); give one of steps, time and wall")
        if not callable(function):
            raise BadInput(f"every(...)({function!r}); give a function of the simulation")
        with named("every(...): wall" if wall is not None else "every(...)"):
            interval = Every(steps, time) if wall is None else None
            callback = cls(function, interval, positive(wall) if wall is not None else math.inf)
        callback.plan(now)
        return callback

    @property
    def name(self) -> str:
        return getattr(self.function, "__qualname__", None) or repr(self.function)

    def plan(self, now: Tick) -> None:
        """Schedule the next call after the present tick."""
        if self.every is None:
            self.next = Pause(wall=self.wall).started()
        elif self.every.steps is not None:
            self.next = Pause(step=(now.step // self.every.steps + 1) * self.every.steps)
        elif self.every.time is not None:
            count = intervals(now.time + MEETS * self.every.time, self.every.time) + 1
            self.next = Pause(time=(count - MEETS) * self.every.time)

    def due(self, now: Tick) -> bool:
        """Return True if it is scheduled at a tick."""
        return self.next.reached(now) or self.next.late


class Callbacks(list[Callback]):
    """All callbacks, in the order of their registration."""

    def pause(self, until: Pause) -> Pause:
        """Return the next pause on the way to `until`."""
        ends = until, *(callback.next for callback in self)
        wall = min(end.deadline for end in ends) - time.perf_counter()
        return Pause(min(end.step for end in ends), min(end.time for end in ends), max(0.0, wall))

    def due(self, now: Tick) -> list[Callback]:
        """Return the functions to be called at a tick, and schedule each again."""
        due = [callback for callback in self if callback.due(now)]
        for callback in due:
            callback.plan(now)
        return due
