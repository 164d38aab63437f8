"""Happens-before: events of which some are known to follow others, and a clock for each that answers "always?"."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


class Circle(Exception):
    """Events that wait for one another; `args` are their numbers."""


class Order:
    """Events on chains: a chain is what happens one after the other (a host's thread, a lane of a device).

    Events are numbered as they are added. After `settle` no more can be added, and `before` answers for all executions
    that the guarantees allow.
    """

    def __init__(self, chains: int) -> None:
        self._last: list[int | None] = [None] * chains
        self._chain: list[int] = []
        self._position: list[int] = []
        self._after: list[list[int]] = []
        self._perhaps: list[list[int]] = []
        self.sequence: list[int] = []

    def add(self, chain: int | None, after: Iterable[int | None] = ()) -> int:
        """A new event that happens after these and, on a chain, after the chain's last one."""
        event, before = len(self._after), [e for e in after if e is not None]
        self._chain.append(-1 if chain is None else chain)
        self._position.append(0)
        if chain is not None:
            last, self._last[chain] = self._last[chain], event
            if last is not None:
                before.append(last)
                self._position[event] = self._position[last] + 1
        self._after.append(before)
        self._perhaps.append([])
        return event

    def last(self, chain: int) -> int | None:
        """The event that was added to a chain last."""
        return self._last[chain]

    def follow(self, event: int, *others: int) -> None:
        """One more guarantee: `event` happens after the others."""
        self._after[event].extend(others)

    def hold(self, event: int, *others: int) -> None:
        """`event` may have to wait for the others, though nothing is guaranteed: it counts in circles only."""
        self._perhaps[event].extend(others)

    def settle(self) -> None:
        """Find one `sequence` in which everything can happen, and the clocks. Raises Circle where there is none."""
        missing = [len(a) + len(p) for a, p in zip(self._after, self._perhaps, strict=True)]
        next_: list[list[int]] = [[] for _ in missing]
        for event, (after, perhaps) in enumerate(zip(self._after, self._perhaps, strict=True)):
            for other in (*after, *perhaps):
                next_[other].append(event)
        ready = [event for event, n in enumerate(missing) if not n]
        clocks = np.full((len(missing), len(self._last)), -1, np.int32)
        while ready:
            event = ready.pop()
            self.sequence.append(event)
            clock = clocks[event]
            for other in self._after[event]:
                np.maximum(clock, clocks[other], out=clock)
            if self._chain[event] >= 0:
                clock[self._chain[event]] = self._position[event]
            for later in next_[event]:
                missing[later] -= 1
                if not missing[later]:
                    ready.append(later)
        if len(self.sequence) < len(missing):
            raise Circle(*(event for event, n in enumerate(missing) if n))
        self._clocks, self._chains, self._positions = clocks, np.array(self._chain), np.array(self._position)

    def before(self, ends: np.ndarray, begins: np.ndarray) -> np.ndarray:
        """Entry [i, j]: whether the event ends[i] always happens before, or is, begins[j].

        A negative end never happens; ends are on chains.
        """
        chains, positions = self._chains[ends], self._positions[ends]
        return (ends >= 0)[:, None] & (self._clocks[begins].T[chains] >= positions[:, None])
