"""How a flow is set in motion and how fast it gets, as far as a case tells it: what steps follow from."""

from __future__ import annotations

import numpy as np

from taskflow.flow.stability import NO_ONSET, Onset
from taskflow.systems.base.foresight import Foresight


class Outlook:
    """A flow of an advective `rate`, in which nothing is known to set the fluid in motion but what changes in time
    (`foresight`).
    """

    def __init__(self, rate: float = 0.0, speedup: float = 1.0, foresight: Foresight | None = None) -> None:
        self.rate, self._speedup, self._foresight = rate, speedup, foresight

    @property
    def inert(self) -> bool:
        """Return whether a fluid at rest stays so."""
        return False

    @property
    def onset(self) -> Onset:
        """The causes that set the fluid in motion from rest."""
        return NO_ONSET

    @property
    def foresight(self) -> Foresight | None:
        """The values that change in time and may set the fluid in motion; None without any."""
        return self._foresight

    @property
    def speedup(self) -> float:
        """How many times as fast the flow gets past bodies and in jets, about."""
        return self._speedup

    def least(self, times: np.ndarray) -> np.ndarray:
        """Return the advective rate that the flow has at least, about, at these times."""
        return np.full(times.size, self.rate)

    def forced(self, times: np.ndarray) -> np.ndarray:
        """Return what forces add to the advective rate at most, about, by these times."""
        return np.zeros(times.size)
