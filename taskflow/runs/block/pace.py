"""The growth of the advective rate max(|u|/dx + |v|/dy + |w|/dz) between steps: the next step allowed by time.cfl, and
repetition of steps.

The bound cfl / rate uses the rate before a step. An accelerating fluid exceeds it, most from rest. A step is therefore
planned from the growth in the last one, or from rest by the causes of motion, and judged by the rate at its end. From
rest, steps grow slowly from one short enough for a first-order scheme. Decisions are identical on all blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from taskflow.cases.timing.intervals import Tick
from taskflow.flow.stability import NO_ONSET, Onset, StepLimit

LARGEST = 1.2  # CFL number at the end of a step that is accepted, over time.cfl
PLANNED = 1.1  # the same of a step that is planned by the growth of the last one
REST = 1e-6  # share of time.cfl below which a fluid is at rest
POWER = 3.0  # a step is certain if it allows a growth of the rate by this power of its change in the last one
SHORTER = 0.9  # at most so much of a step that was too long
FROM_REST, BEGINNING = 10.0, 4.0  # how much slower a fluid at rest, or one that begins to move, follows its causes
DIVERGED = 0.1  # the same, if the rate at its end is not finite
MOVING = 0.5  # share of time.cfl in the last step at which a fluid moves
GROWTH = 1.2  # ratio of steps of a fluid that begins to move: they reach a time t with a length below t / 6


@dataclass
class Pace:
    """The growth of the advective rate under a `limit`.

    - `onset`: the causes of motion from rest
    - `inert`: no cause of motion exists
    - `previous`: the rate before the last step; None if unknown, as after changes by the user
    - `begins`: the fluid is at rest, or starts to move from rest
    """

    limit: StepLimit
    onset: Onset = NO_ONSET
    inert: bool = False
    previous: float | None = None
    begins: bool = False

    def longest(self, now: Tick, rate: float) -> float:
        """Return the longest step from `now` with an expected final CFL number within the limit: by the growth in the
        last step, for the first one by the onset.
        """
        if now.step == 0 and now.dt == 0:
            return self.onset.longest(self.limit.cfl, rate)
        if self.previous is None or rate <= self.previous:
            return math.inf
        return _evenly(rate, (rate - self.previous) / now.dt, PLANNED * self.limit.cfl)

    def rests(self, tick: Tick, rate: float) -> bool:
        """Return True if the fluid is practically at rest before the step to `tick`, with this rate."""
        return tick.dt * rate <= REST * self.limit.cfl

    def beginning(self, now: Tick, tick: Tick, rate: float) -> float:
        """Return the longest step from `now` of a fluid at rest, or starting to move, infinite for any other; update
        `begins`. `tick` is the end of the step without this bound.
        """
        cfl, longest = self.limit.cfl, max(GROWTH * now.dt, self.onset.gentle(self.limit.cfl))
        if self.rests(tick, rate):
            self.begins = not self.inert
            return min(longest, self.onset.longest(cfl, rate))
        others = min(bound for name, bound in tick.bounds.items() if name != "cfl")
        self.begins = self.begins and now.dt * rate < MOVING * cfl and GROWTH * now.dt < others
        return longest if self.begins else math.inf

    def slow(self, tick: Tick, rate: float) -> float:
        """Return the factor by which steps are shorter than by time.cfl alone while the fluid follows time-dependent
        forces: larger from rest, as the first step is of first order.
        """
        return 1.0 if not self.begins else FROM_REST if self.rests(tick, rate) else BEGINNING

    def certain(self, tick: Tick, rate: float, more: float = 0.0) -> bool:
        """Return True if the step to `tick`, from a state with this rate, cannot be too long. `more`: the largest
        increase of the rate by walls, inflows and forces that change within it.
        """
        if self.previous is None:
            return False
        if self.rests(tick, rate):
            return self.inert
        if self.previous == 0:
            return False
        growth = POWER * max(tick.ratio, 1.0) * abs(math.log(rate / self.previous))  # a fall may turn into a rise
        most = rate * math.exp(min(growth, 500.0))
        return tick.dt * (most + more) <= LARGEST * self.limit.cfl

    def accepts(self, tick: Tick, rate: float) -> bool:
        """Return True if the step to `tick` was short enough, with this rate at its end."""
        return tick.dt * rate <= LARGEST * self.limit.cfl

    def shorter(self, tick: Tick, before: float, after: float, attempts: int) -> float:
        """Return a shorter step for a too long one: the rate grows linearly in the first attempt, then not at all."""
        if not math.isfinite(after):
            return DIVERGED * tick.dt
        even = _evenly(before, max(after - before, 0.0) / tick.dt, self.limit.cfl)
        return min(SHORTER * tick.dt, even if attempts == 1 else self.limit.cfl / after)


def _evenly(rate: float, growth: float, cfl: float) -> float:
    """Return the dt with dt (rate + growth dt) = cfl."""
    return 2 * cfl / (rate + math.sqrt(rate * rate + 4 * growth * cfl))
