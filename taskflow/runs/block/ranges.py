"""The range of temperature and scalars in a run, compared with the values given by its case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from taskflow.flow.measures.extremes import Range
from taskflow.runtime.machine import Shard
from taskflow.systems.base.given import NOTHING, GivenRanges

SHARE, ROUNDING = 1e-3, 1e-5  # of the range, and of the largest value: an excess of less is not reported


def union(one: Range, other: Range) -> Range:
    return min(one[0], other[0]), max(one[1], other[1])


class RangeWatch:
    """Samples states of a run; the first counts as given. Identical on all blocks."""

    def __init__(self, given: GivenRanges, shard: Shard) -> None:
        self._given, self._shard = given, shard
        self._first: Mapping[str, Range] | None = None
        self._seen: dict[str, Range] = {}

    def look(self) -> None:
        """Sample the present state. Collective."""
        if not self._given.ranges:
            return
        self._shard.run(self._given.measured)
        now = self._given.measured.ranges(self._shard.scalars)
        if self._first is None:
            self._first = now
        self._seen = {name: union(self._seen.get(name, found), found) for name, found in now.items()}

    def changed(self) -> None:
        """Count the present state, after changes of fields by the user, as given."""
        if self._given.ranges:
            self._shard.run(self._given.measured)
            now = self._given.measured.ranges(self._shard.scalars)
            self._first = {name: union(now[name], found) for name, found in (self._first or now).items()}

    def replaced(self, keys: Iterable[str]) -> None:
        """Stop the comparison if the user has set temperatures, scalars or sources, by their keys."""
        if any(word in key for key in keys for word in ("temperature", "heat", "scalars")):
            self._given = NOTHING

    def resume(self, state: Mapping[str, Any] | None) -> None:
        """Resume from the state of a checkpoint, None from earlier builds."""
        if state is not None:
            self._first, self._seen = state["first"], {name: tuple(found) for name, found in state["seen"].items()}

    @property
    def state(self) -> dict[str, Any] | None:
        """The state for a checkpoint."""
        return {"first": self._first, "seen": self._seen} if self._first is not None else None

    @property
    def warnings(self) -> Iterator[str]:
        """Yield a warning for each quantity outside the given range."""
        for name, given in self._given.ranges.items():
            if self._first is None or name not in self._seen:
                continue
            (low, high), (least, most) = union(given, self._first[name]), self._seen[name]
            close = max(SHARE * (high - low), ROUNDING * max(abs(low), abs(high))) if high - low < 1e300 else 0.0
            close = close or ROUNDING * max(abs(least), abs(most))
            left = [(low - least, f"down to {least:.6g}, {low - least:.3g} below")] * (low - least > close)
            left += [(most - high, f"up to {most:.6g}, {most - high:.3g} above")] * (most - high > close)
            if left:
                what = "the temperature T" if name == "T" else f"the scalar {name}"
                ends = f"{low:.6g} to {high:.6g}"
                where = " and ".join(words for _, words in left)
                yield f"{what} went {where} everything that is given ({ends}); {self._given.remedies[name]}"
