"""The onset and the speed of a flow, estimated from its case, which set its steps."""

from __future__ import annotations

import numpy as np

from taskflow.flow.stability import NO_ONSET, Onset
from taskflow.systems.base.foresight import Foresight


class Outlook:
    """A flow with an advective `rate`, set in motion only by values that change in time (`foresight`)."""

    def __init__(self, rate: float = 0.0, speedup: float = 1.0, foresight: Foresight | None = None) -> None:
        self.rate, self._speedup, self._foresight = rate, speedup, foresight

    @property
    def inert(self) -> bool:
        """True if a fluid at rest stays at rest."""
        return False

    @property
    def onset(self) -> Onset:
        """The causes that set the fluid in motion from rest."""
        return NO_ONSET

    @property
    def foresight(self) -> Foresight | None:
        """The time-dependent values that may set the fluid in motion, or None."""
        return self._foresight

    @property
    def speedup(self) -> float:
        """The estimated speed past bodies and in jets, over the speed of the flow."""
        return self._speedup

    def least(self, times: np.ndarray) -> np.ndarray:
        """Return a lower estimate of the advective rate at these times."""
        return np.full(times.size, self.rate)

    def forced(self, times: np.ndarray) -> np.ndarray:
        """Return an upper estimate of the increase of the advective rate by forces, up to these times."""
        return np.zeros(times.size)
