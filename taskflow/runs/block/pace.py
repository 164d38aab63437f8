"""How the advective rate max(|u|/dx + |v|/dy + |w|/dz) of a flow grows from step to step: what time.cfl allows the next
step, and whether a step has to be taken again.

The bound cfl / rate uses the rate before a step. A fluid that accelerates exceeds it, most of all from rest. So a step
is planned by the growth of the last one, or from rest by what sets the fluid in motion, and judged by the rate at its
end. From rest, steps grow slowly from one that is short enough for a scheme of first order. All blocks come to the same
decisions.
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
FROM_REST, BEGINNING = 10.0, 4.0  # how much slower a fluid at rest, or one that begins to move, follows its causes
DIVERGED = 0.1  # the same, if the rate at its end is not finite
MOVING = 0.5  # share of time.cfl in the last step at which a fluid moves
GROWTH = 1.2  # ratio of steps of a fluid that begins to move: they reach a time t with a length below t / 6


@dataclass
class Pace:
    """The growth of the advective rate under a `limit`. `onset`: what sets the fluid in motion from rest;
    `inert`: nothing ever does. `previous`: the rate before the last step; None if unknown, as after somebody has
    changed the state. `begins`: the fluid is at rest, or has been so and begins to move.
    """

    limit: StepLimit
    onset: Onset = NO_ONSET
    inert: bool = False
    previous: float | None = None
    begins: bool = False

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

    def beginning(self, now: Tick, tick: Tick, rate: float) -> float:
        """Return the longest step from `now` of a fluid at rest, or one that begins to move, infinite for any other;
        `tick` is where the step leads without. Note whether the fluid begins to move.
        """
        cfl, longest = self.limit.cfl, max(GROWTH * now.dt, self.onset.gentle(self.limit.cfl))
        if self.rests(tick, rate):
            self.begins = not self.inert
            return min(longest, self.onset.longest(cfl, rate))
        others = min(bound for name, bound in tick.bounds.items() if name != "cfl")
        self.begins = self.begins and now.dt * rate < MOVING * cfl and GROWTH * now.dt < others
        return longest if self.begins else math.inf

    def slow(self, tick: Tick, rate: float) -> float:
        """Return by how many times shorter steps than by time.cfl alone the fluid follows forces that change in time:
        more from rest, as the first step is of first order.
        """
        return 1.0 if not self.begins else FROM_REST if self.rests(tick, rate) else BEGINNING

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
