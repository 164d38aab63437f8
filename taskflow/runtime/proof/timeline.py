"""Steps of all blocks on one timeline: accessed cells, lane, and preceding events of each.

Happens-before holds between some events, and a clock for each answers "always?".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import Any, Literal

import numpy as np

from taskflow.runtime.tasks import AllReduce, Compute, Tiles, rows

Place = tuple[Any, ...]
"""A place of numbers: (block, field), (block, "scalar", name), (block, "count", ...), ("board", block, fold, parity),
and of a message ("out" or "in", buffer), ("wire", message), and, packed for a neighbour, ("inbox", source, target).
"""
Index = np.ndarray
ONE = np.zeros(1, np.int64)
Effect = Literal["move", "compute", "give", "count", "share", "fold"]


class HappensBefore:
    """Events on chains: the events of a chain are sequential (a host's thread, a lane of a device).

    Events are numbered in the order of `add`. After `settle` no more can be added, and `before` answers for all
    executions that the guarantees permit.
    """

    def __init__(self, chains: int) -> None:
        self._last: list[int | None] = [None] * chains
        self._chain: list[int] = []
        self._position: list[int] = []
        self._after: list[list[int]] = []
        self._perhaps: list[list[int]] = []
        self.sequence: list[int] = []

    def add(self, chain: int | None, after: Iterable[int | None] = ()) -> int:
        """Add an event that happens after these and, on a chain, after the chain's last one."""
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
        """Return the last event added to a chain."""
        return self._last[chain]

    def follow(self, event: int, *others: int) -> None:
        """Add a guarantee: `event` happens after the others."""
        self._after[event].extend(others)

    def hold(self, event: int, *others: int) -> None:
        """Note that `event` may have to wait for the others, without a guarantee: relevant for cycles only."""
        self._perhaps[event].extend(others)

    def settle(self) -> None:
        """Find a possible `sequence` of all events, and the clocks. Raises CycleError if none exists."""
        waits = [{*after, *perhaps} for after, perhaps in zip(self._after, self._perhaps, strict=True)]
        self.sequence = list(TopologicalSorter(dict(enumerate(waits))).static_order())
        clocks = np.full((len(waits), len(self._last)), -1, np.int32)
        for event in self.sequence:
            clock = clocks[event]
            for other in self._after[event]:
                np.maximum(clock, clocks[other], out=clock)
            if self._chain[event] >= 0:
                clock[self._chain[event]] = self._position[event]
        self._clocks, self._chains, self._positions = clocks, np.array(self._chain), np.array(self._position)

    def before(self, ends: np.ndarray, begins: np.ndarray) -> np.ndarray:
        """Return for each pair whether the event of `ends` always happens before the event of `begins`, or is the same.

        A negative end never happens. Other ends are on chains.
        """
        return (ends >= 0) & (self._clocks[begins, self._chains[ends]] >= self._positions[ends])

    def always(self, end: int, begin: int) -> bool:
        """Do `before` for one pair."""
        return end >= 0 and bool(self._clocks[begin, self._chain[end]] >= self._position[end])


class Broken(Exception):
    """A template that is inconsistent, or accesses cells outside the memory of its block."""


@dataclass(frozen=True)
class Hardware:
    """The hardware of blocks: GPUs with two streams each (the lanes), or CPUs, where the host does all work. Blocks
    with equal numbers in `near` access each other's memory; without it none do. `tiles` gives the granularity of
    edges.
    """

    streams: bool
    near: tuple[int, ...] | None = None
    tiles: Tiles = rows

    def sees(self, one: int, other: int) -> bool:
        """Return whether two blocks access each other's memory."""
        return self.near is not None and self.near[one] == self.near[other]


@dataclass(eq=False)
class TimedStep:
    """An action that reads and writes memory between the events `begin` and `end` (negative: its end is never
    observed). `turn` is its pass.
    """

    text: str
    turn: int
    effect: Effect
    begin: int
    end: int
    reads: dict[Place, Index] = field(default_factory=dict)
    writes: dict[Place, Index] = field(default_factory=dict)
    moves: list[tuple[Place, Index, Place, Index]] = field(default_factory=list)
    counts: dict[Place, int] = field(default_factory=dict)
    node: Compute | AllReduce | None = None

    def move(self, source: Place, taken: Index, target: Place, filled: Index) -> None:
        """Add a copy of cells."""
        self.moves.append((source, taken, target, filled))
        for touched, place, cells in ((self.reads, source, taken), (self.writes, target, filled)):
            touched[place] = np.concatenate([touched[place], cells]) if place in touched else cells

    def count(self, place: Place, number: int) -> None:
        """Increment the count of a place, which is `number` before."""
        self.counts[place] = number
        self.reads[place] = self.writes[place] = ONE


class StepTimeline:
    """The steps of all blocks. A block has three chains of events, its host and two lanes, or only the host's without
    streams.
    """

    def __init__(self, blocks: int, hardware: Hardware) -> None:
        self.hardware, self.order = hardware, HappensBefore(3 * blocks)
        self.steps: list[TimedStep] = []

    def chain(self, block: int, lane: int | None) -> int:
        """Return the chain of a lane, or (None) of the host."""
        return 3 * block + (0 if lane is None or not self.hardware.streams else 1 + lane)

    def call(self, block: int, *after: int | None) -> int:
        """Return an event on the host, which waits for these."""
        return self.order.add(self.chain(block, None), after)

    def enqueue(self, block: int, lane: int | None, *after: int | None) -> int:
        """Return an event on a lane, after the host's previous events, and after these."""
        return self.order.add(self.chain(block, lane), [self.last(block, None), *after])

    def last(self, block: int, lane: int | None) -> int | None:
        """Return the last event on a lane, or on the host."""
        return self.order.last(self.chain(block, lane))

    def step(self, block: int, turn: int, text: str, begin: int, effect: Effect, end: int | None = None) -> TimedStep:
        """Return a new step, which ends at `end` or when it begins."""
        step = TimedStep(f"block {block}: {text}", turn, effect, begin, begin if end is None else end)
        self.steps.append(step)
        return step
