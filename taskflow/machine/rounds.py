"""The questions of a repetition: after which round its numbers are looked at, and what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from taskflow.machine.trace.scalars import Scalars
from taskflow.tasks import Repeat


class Rounds:
    """A repetition in progress on one block. `done` passes of its body; `over` when no more are to be done."""

    def __init__(self, repeat: Repeat, scalars: Scalars) -> None:
        self._repeat, self._scalars = repeat, scalars
        self.done, self._enough = 0, False
        self._asked: Callable[[], Mapping[str, float]] | None = None
        self._seen: list[Mapping[str, float]] = []
        if repeat.further:
            self._ask()

    @property
    def over(self) -> bool:
        """Whether it was enough, or as often as it may be."""
        return self._enough or self.done == self._repeat.times

    def another(self) -> None:
        """A pass of the body has been enqueued: ask what is to be asked after it."""
        self.done += 1
        self._ask()

    def _ask(self) -> None:
        repeat = self._repeat
        if repeat.until is None or self.done % repeat.every:
            return
        more = self.done + repeat.every <= repeat.times
        if not repeat.lag and (more or repeat.otherwise is not None):
            now = self._scalars.later()()
            self._enough = repeat.until(now)
            if repeat.otherwise is not None:
                self._seen.append(now)
        elif repeat.lag:
            self._enough = self._asked is not None and repeat.until(self._asked())
            self._asked = self._scalars.later() if more and not self._enough else None

    def close(self) -> None:
        """It is over. Raises what `otherwise` raises where it was not enough."""
        if self._repeat.count is not None:
            self._scalars.set({self._repeat.count: float(self.done)})
        if self._repeat.otherwise is not None and not self._enough:
            self._repeat.otherwise(self._seen)
