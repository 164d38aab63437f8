"""Functions that are called while a run goes on: when each is due next, and at what the run has to pause for them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from taskflow.errors import BadInput
from taskflow.simulation.formulas.values import positive
from taskflow.simulation.pause import Pause
from taskflow.simulation.timing.schedule import MEETS, Every, Tick, intervals


@dataclass(eq=False)
class Callback:
    """A function that is called again and again: after so many steps, when so much time has passed (an interval), or
    after so many seconds of the `wall` clock. `step`, `time` and `deadline` are when it is due next.
    """

    function: Callable[[Any], object]
    every: Every | None
    wall: float = math.inf
    step: float = math.inf
    time: float = math.inf
    deadline: float = math.inf

    @classmethod
    def of(
        cls, function: Callable[[Any], object], now: Tick, steps: int | None, time: float | None, wall: float | None
    ) -> Callback:
        """Raises BadInput where not one interval is given, or it is none."""
        if (steps, time, wall).count(None) != 2:
            raise BadInput(f"every(steps={steps}, time={time}, wall={wall}); give one of steps, time and wall")
        if not callable(function):
            raise BadInput(f"every(...)({function!r}); give a function of the simulation")
        try:
            interval = Every(steps, time) if wall is None else None
            callback = cls(function, interval, positive(wall) if wall is not None else math.inf)
        except BadInput as error:
            raise BadInput(f"every(...): {f'wall: {error}' if wall is not None else error}") from None
        callback.plan(now)
        return callback

    @property
    def name(self) -> str:
        """The name of the function."""
        return getattr(self.function, "__qualname__", None) or repr(self.function)

    def plan(self, now: Tick) -> None:
        """It is due next after the present tick."""
        if self.every is None:
            self.deadline = time.perf_counter() + self.wall
        elif self.every.steps is not None:
            self.step = (now.step // self.every.steps + 1) * self.every.steps
        elif self.every.time is not None:
            count = intervals(now.time + MEETS * self.every.time, self.every.time) + 1
            self.time = (count - MEETS) * self.every.time

    def due(self, now: Tick) -> bool:
        """Return whether it is to be called at a tick."""
        return now.step >= self.step or now.time >= self.time or time.perf_counter() >= self.deadline


@dataclass(eq=False)
class Callbacks:
    """All functions that are called, in the order in which they were given."""

    callbacks: list[Callback] = field(default_factory=list)

    def pause(self, until: Pause) -> Pause:
        """Where the run has to pause next on its way to a pause."""
        wall = min((callback.deadline for callback in self.callbacks), default=math.inf) - time.perf_counter()
        return Pause(
            step=min((until.step, *(callback.step for callback in self.callbacks))),
            time=min((until.time, *(callback.time for callback in self.callbacks))),
            wall=max(0.0, min(until.deadline - time.perf_counter(), wall)),
        )

    def due(self, now: Tick) -> list[Callback]:
        """Those that are to be called at a tick; each is planned anew."""
        due = [callback for callback in self.callbacks if callback.due(now)]
        for callback in due:
            callback.plan(now)
        return due
