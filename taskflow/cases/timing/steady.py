"""Detection of a steady state, identical on every block: over an interval, not at one moment."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases.timing.intervals import Every, Quiet, Tick
from taskflow.common.rows import Row
from taskflow.flow.measures.steadiness import Motion, Steadiness
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Location
from taskflow.runtime.tasks import Program

Measure = Callable[[Tick], Mapping[str, float]]  # the scalars of the monitor's program, after a step


class StateWatch(ABC):
    """Detection of a steady state on one block, identical on all blocks. Collective. After a check `not_finite` names a
    number that is not finite, and `concern` is a warning about the step.
    """

    not_finite: str | None = None
    concern: str | None = None

    @property
    def rates(self) -> dict[str, float]:
        """The numbers that decided at the last check."""
        return {}

    def begin(self, now: float) -> None:  # noqa: B027  there may be nothing to do
        """Begin an interval at the time `now`."""

    @abstractmethod
    def resume(self, state: Mapping[str, Any]) -> None:
        """Restart from the `state` of a checkpoint, whose fields are restored already."""

    @property
    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the state for a checkpoint, except fields."""

    @abstractmethod
    def look(self, before: Tick, now: Tick) -> str | None:
        """Return how the run ends here, if it is checked now: as "steady", or "stalled"."""

    def quiet(self, now: Tick) -> Quiet:
        """Return the number of steps and the time after `now` without a check."""
        return Quiet(steps=0)

    @property
    def shortfall(self) -> str | None:
        """Return the distance of a run that ends now from a steady state, as text, if that has to be reported."""
        return None


class Criterion(ABC):
    """A criterion of a steady state, or of the steps on the way, and its `label`, a word. Picklable."""

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs that measure it, in their order, in addition to the monitor."""
        return ()

    @property
    def fields(self) -> dict[str, Location]:
        """Their own fields."""
        return {}

    @abstractmethod
    def watch(self, shard: Shard, measure: Measure) -> StateWatch:
        """Return the detection on a block, whose state `measure` measures as for the log."""

    @abstractmethod
    def rows(self) -> Iterator[Row]:
        """Yield rows of `taskflow check`: when the run ends, and by which numbers."""


@dataclass(frozen=True)
class SteadyCriterion(Criterion):
    """A state is steady if no rate reached `rate` for the time `over`, by default `Steadiness.patience`, in checks at
    the interval `every`. `fields` belong to the programs.
    """

    steadiness: Steadiness
    rate: float
    every: Every
    over: float | None = None

    @property
    def programs(self) -> tuple[Program, ...]:
        """Return the programs that compare with the kept state, and replace it."""
        return self.steadiness.compare, self.steadiness.keep

    @property
    def fields(self) -> dict[str, Location]:
        return self.steadiness.fields

    def watch(self, shard: Shard, measure: Measure) -> SteadyWatch:
        return SteadyWatch(self, shard)

    def rows(self) -> Iterator[Row]:
        watched, most = self.steadiness.watched, self.steadiness.patience(0.0)
        names = " and ".join((", ".join(watched[:-1]), watched[-1])) if len(watched) > 1 else watched[0]
        if self.over is not None:
            over = f"a time of {self.over:g}"
        else:
            over = "the time in which the largest speed crosses the longest side"
            over += f", but at most {most:.4g}, the time of diffusion" if most < math.inf else ""
        n = self.every.steps
        often = f"{n} step{'s' * (n > 1)}" if n else f"{self.every.time:g} of time"
        how = f"largest change since that time began / (its length x range), checked every {often}"
        yield Row("steady", f"when the rate of {names} stays below {self.rate:g} for {over}")
        yield Row("", f"rate: {how}", "detail")


class SteadyWatch(StateWatch):
    """Detection on one block, identical on all blocks.

    An interval begins with a reference state. It lasts until a quantity has departed from that state as fast as `rate`,
    on average since then, and a new one begins. The range of a quantity is its largest so far: decaying flows become
    steady, too. No interval is counted before the fluid has moved.
    """

    def __init__(self, criterion: SteadyCriterion, shard: Shard) -> None:
        self._criterion, self._shard = criterion, shard
        self._rounding = float(np.finfo(next(iter(shard.partition.fields.values())).dtype).eps)
        self._since, self._moved = 0.0, False
        self._ranges = dict.fromkeys(criterion.steadiness.watched, 0.0)
        self._rates: dict[str, float] = {}

    @property
    def rates(self) -> dict[str, float]:
        return self._rates

    def begin(self, now: float) -> None:
        self._shard.run(self._criterion.steadiness.keep)
        self._since = now

    def resume(self, state: Mapping[str, Any]) -> None:
        self._since, self._moved, self._ranges = state["since"], state["moved"], dict(state["ranges"])

    @property
    def state(self) -> dict[str, Any]:
        return {"since": self._since, "moved": self._moved, "ranges": dict(self._ranges)}

    def look(self, before: Tick, now: Tick) -> str | None:
        criterion, shard = self._criterion, self._shard
        if not criterion.every.due(before, now.step, now.time):
            return None
        shard.run(criterion.steadiness.compare)
        motions = criterion.steadiness.motions(shard.scalars, now.dt, self._rounding)
        self._rates = {name: self._rate(name, motion, now.time - self._since) for name, motion in motions.items()}
        self._moved = self._moved or any(rate > 0 for rate in self._rates.values())
        if not (self._moved and all(rate < criterion.rate for rate in self._rates.values())):  # NaN does not stay below
            self.begin(now.time)
            return None
        over = criterion.over or criterion.steadiness.patience(shard.scalars.get("speed", 0.0))
        return "steady" if now.time - self._since >= over else None

    def quiet(self, now: Tick) -> Quiet:
        return self._criterion.every.quiet(now)

    def _rate(self, name: str, motion: Motion, length: float) -> float:
        """Return 0 if nothing can differ."""
        self._ranges[name] = largest = max(self._ranges[name], motion.range)
        return motion.change / (length * largest) if motion.range > 0 else motion.range
