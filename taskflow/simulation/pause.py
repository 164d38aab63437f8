"""Where a run pauses: at a step, at a time, or after a while of the wall clock."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

from taskflow.simulation.timing.schedule import Tick


@dataclass(frozen=True)
class Pause:
    """The first tick at `step` or later, or at `time` or later, or after so many seconds of the `wall` clock, whichever
    comes first. `deadline` is when these seconds are over, by `time.perf_counter` of the block that counts them.

    A run that `stays` pauses where it is asked to stop; another one ends there.
    """

    step: float = math.inf
    time: float = math.inf
    wall: float = math.inf
    stays: bool = True
    deadline: float = math.inf

    def begun(self) -> Pause:
        """The same, with the wall clock started."""
        return replace(self, deadline=time.perf_counter() + self.wall)

    def reached(self, tick: Tick) -> bool:
        """Return whether the run pauses at a tick; all blocks come to the same."""
        return tick.step >= self.step or tick.time >= self.time

    @property
    def late(self) -> bool:
        """Return whether the wall clock of this block wants a pause."""
        return time.perf_counter() >= self.deadline


NEVER = Pause(stays=False)
HERE = Pause(step=0)
