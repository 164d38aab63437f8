"""Moments of a run, and the intervals between events: numbers of steps, simulation times, minutes of the wall clock."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from taskflow.cases.formulas.values import positive, whole
from taskflow.common.errors import BadInput, named

MEETS = 1e-9  # two moments this close, as a fraction of the interval between events, are one
ROUNDING = 2.0**-50  # relative: moments this close cannot be told apart


class Quiet(NamedTuple):
    """A number of `steps` during which nothing is due, and a `time` before which nothing is."""

    steps: float = math.inf
    time: float = math.inf

    def __and__(self, other: Quiet) -> Quiet:
        return Quiet(min(self.steps, other.steps), min(self.time, other.time))


QUIET = Quiet()


@dataclass(frozen=True)
class Every:
    """An interval between events: a number of `steps`, a simulation `time`, or `minutes` of the wall clock; exactly one
    of them, positive.
    """

    steps: int | None = None
    time: float | None = None
    minutes: float | None = None

    def __post_init__(self) -> None:
        if (self.steps, self.time, self.minutes).count(None) != 2:
            raise BadInput("give one of steps and time")
        for name, kind in (("steps", whole), ("time", positive), ("minutes", positive)):
            value = getattr(self, name)
            with named(name):
                object.__setattr__(self, name, None if value is None else kind(value))

    @classmethod
    def parse(cls, value: Any, *, minutes: bool = False) -> Every:
        """An interval from a number (simulation time), { steps = n }, { time = t } or, where `minutes` may be,
        { minutes = m }. Raises BadInput for anything else.
        """
        match value:
            case Every() if minutes or value.minutes is None:
                return value
            case {"steps": steps} if len(value) == 1:
                return cls(steps=steps)
            case {"time": time} if len(value) == 1:
                return cls(time=time)
            case {"minutes": length} if minutes and len(value) == 1:
                return cls(minutes=length)
            case {"minutes": _} if not minutes:
                raise BadInput("minutes are for checkpoints; give a number (simulation time) or { steps = n }")
            case int() | float() if not isinstance(value, bool):
                return cls(time=positive(value))
        wall = ", { minutes = m }" if minutes else ""
        raise BadInput(f"give a number > 0 (simulation time){wall}, {{ steps = n }} or {{ time = t }}")

    def written(self) -> dict[str, float]:
        """The table of a case file."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def due(self, before: Tick, step: int, time: float) -> bool:
        """Return whether an event falls after `before`, up to `step` and `time`; never for wall-clock events."""
        if self.time is None:
            return self.steps is not None and step % self.steps == 0 and step > before.step
        return (time / self.time + MEETS) // 1 > (before.time / self.time + MEETS) // 1

    def quiet(self, now: Tick) -> Quiet:
        """Return steps and a time after `now` without an event. The time may be slightly early."""
        if self.steps is not None:
            return Quiet(steps=self.steps - 1 - now.step % self.steps)
        if self.time is None:
            return QUIET
        return Quiet(time=((now.time / self.time + MEETS) // 1 + 1 - 2 * MEETS) * self.time)

    def after(self, time: float) -> float:
        """The first multiple of the interval later than `time`, a product: nothing accumulates. Infinite for steps."""
        if self.time is None:
            return math.inf
        count = intervals(time, self.time)
        while count * self.time <= time * (1 + ROUNDING):
            count += 1
        return count * self.time


def intervals(time: float, length: float) -> int:
    """The number of intervals of `length` in `time`, give or take one. Raises BadInput where rounding hides it."""
    if length < 16 * ROUNDING * time:
        raise BadInput(f"intervals of {length:g} cannot be resolved at time {time:g}; give longer ones")
    return math.floor(time / length)


@dataclass(frozen=True)
class Tick:
    """The state of a run after `step` steps, and the events scheduled then.

    `dt` is the length of the step that led here; `ratio` = dt / previous dt is what Adams-Bashforth needs (0: Euler).
    `bounds` limit its length, see `StepLimit.bounds`; `limit` names the active one, or "end" where less was
    left to a time that is hit.
    """

    step: int = 0
    time: float = 0.0
    dt: float = 0.0
    ratio: float = 0.0
    output: bool = True
    monitor: bool = True
    finished: bool = False
    checkpoint: bool = False
    limit: str = field(default="", compare=False)
    bounds: Mapping[str, float] = field(default_factory=dict, compare=False)

    def last(self) -> Tick:
        """This moment as the end of the run, whose state is written."""
        return replace(self, output=True, monitor=True, finished=True)
