"""How the advective rate max(|u|/dx + |v|/dy + |w|/dz) of a flow grows from step to step: what time.cfl allows the next
step, and whether a step has to be taken again.

The bound cfl / rate uses the rate before a step. A fluid that accelerates exceeds it, most of all from rest. So a step
is planned by the growth of the last one, or from rest by what sets the fluid in motion, and judged by the rate at its
end. All blocks come to the same decisions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from taskflow.cases.timing.schedule import Tick
from taskflow.flow.stability import NO_ONSET, Onset, StepLimit

LARGEST = 1.2  # CFL number at the end of a step that is accepted, over time.cfl
PLANNED = 1.1  # the same of a step that is planned by the growth of the last one
REST = 1e-6  # share of time.cfl below which a fluid is at rest
POWER = 3.0  # a step is certain if the rate may grow in it by this power of what it grew by in the last one
SHORTER = 0.9  # at most so much of a step that was too long
DIVERGED = 0.1  # the same, if the rate at its end is not finite


@dataclass
class Pace:
    """The growth of the advective rate under a `limit`. `onset`: what sets the fluid in motion from rest;
    `inert`: nothing ever does. `previous`:
    the rate before the last step; None if unknown, as after somebody has changed the state.
    """

    limit: StepLimit
    onset: Onset = NO_ONSET
    inert: bool = False
    previous: float | None = None

    def longest(self, now: Tick, rate: float) -> float:
        """Return the longest step from `now` at whose end the CFL number is expected within the limit: by the growth of
        the last step, for the very first one by the onset.
        """
        if now.step == 0 and now.dt == 0:
            return self.onset.longest(self.limit.cfl, rate)
        if self.previous is None or rate <= self.previous:
            return math.inf
        return _evenly(rate, (rate - self.previous) / now.dt, PLANNED * self.limit.cfl)

    def rests(self, tick: Tick, rate: float) -> bool:
        """Return whether the fluid is as good as at rest before the step to `tick`, with this rate."""
        return tick.dt * rate <= REST * self.limit.cfl

    def certain(self, tick: Tick, rate: float, more: float = 0.0) -> bool:
        """Return whether the step to `tick`, from a state with this rate, cannot come out too long. `more`: what walls,
        inflows and forces that change within it add to the rate, at most.
        """
        if self.previous is None:
            return False
        if self.rests(tick, rate):
            return self.inert
        if self.previous == 0:
            return False
        most = rate
        if rate > self.previous:
            growth = POWER * max(tick.ratio, 1.0) * math.log(rate / self.previous)
            most *= math.exp(min(growth, 500.0))
        return tick.dt * (most + more) <= LARGEST * self.limit.cfl

    def accepts(self, tick: Tick, rate: float) -> bool:
        """Return whether the step to `tick` was short enough, with this rate at its end."""
        return tick.dt * rate <= LARGEST * self.limit.cfl

    def shorter(self, tick: Tick, before: float, after: float, attempts: int) -> float:
        """Return the length of a step that replaces one which was too long, with these rates at its ends: the rate is
        taken to grow evenly at first, and after several `attempts` not at all.
        """
        if not math.isfinite(after):
            return DIVERGED * tick.dt
        even = _evenly(before, max(after - before, 0.0) / tick.dt, self.limit.cfl)
        return min(SHORTER * tick.dt, even if attempts == 1 else self.limit.cfl / after)


def _evenly(rate: float, growth: float, cfl: float) -> float:
    """Return the dt with dt (rate + growth dt) = cfl."""
    return 2 * cfl / (rate + math.sqrt(rate * rate + 4 * growth * cfl))
