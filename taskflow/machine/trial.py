"""Trials: which way to overlap suits a stretch of a program, found by doing it in every way.

All ways give the same results to the last bit, so a run is its own measurement: the first passes of a stretch are
timed, a few in each way, and the slowest block counts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import replace
from statistics import median

from taskflow.machine.mapper import Mapper

WARM, SAMPLES = 2, 5  # passes in each way that do not count, and that do
GAIN = 0.01  # by how much another way has to be faster
KINDS = 8  # tasks that are tried uncut, one after the other, at most

Search = Generator[Mapper, float, Mapper]


def search(ways: Sequence[Mapper], cut: Callable[[Mapper], Collection[str]]) -> Search:
    """Yields ways to be timed, is sent their seconds, and returns the best.

    First the `ways`; then, where the best of them cuts launches, each task that is `cut` is tried uncut.
    """
    best, least = ways[0], (yield ways[0])
    for way in ways[1:]:
        seconds = yield way
        if seconds < (1 - GAIN) * least:
            best, least = way, seconds
    for name in sorted(cut(best))[:KINDS]:
        way = replace(best, whole=best.whole | {name})
        seconds = yield way
        if seconds < (1 - GAIN) * least:
            best, least = way, seconds
    return best


class Trial:
    """The trial of one stretch; where there is one way only it is over at once. `slowest` gives the largest number of
    all blocks; all have to ask at the same time.
    """

    def __init__(
        self, ways: Sequence[Mapper], cut: Callable[[Mapper], Collection[str]], slowest: Callable[[float], float]
    ) -> None:
        self._search, self._slowest = search(ways, cut), slowest
        self.way, self.over = next(self._search), len(ways) == 1
        self._times: list[float] = []

    def note(self, seconds: float) -> bool:
        """What a pass in the present way took; whether the trial is over now."""
        self._times.append(seconds)
        if len(self._times) < WARM + SAMPLES:
            return False
        worst = self._slowest(median(self._times[WARM:]))
        self._times = []
        try:
            self.way = self._search.send(worst)
        except StopIteration as end:
            self.way, self.over = end.value, True
        return self.over
