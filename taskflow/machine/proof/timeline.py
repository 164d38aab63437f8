"""Steps of all blocks on one timeline: what each touches, on which lane it is, and after which events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from taskflow.machine.proof.order import Order
from taskflow.tasks import AllReduce, Compute, Tiles, rows

Place = tuple[Any, ...]
"""Where numbers are: (block, field), (block, "scalar", name), (block, "count", ...), ("board", block, fold, parity),
and of a message ("out" or "in", buffer), ("wire", message), and, packed for a neighbour, ("inbox", source, target)."""
Index = np.ndarray
ONE = np.zeros(1, np.int64)
Effect = Literal["move", "compute", "give", "count", "share", "fold"]


class Broken(Exception):
    """A template that cannot be what it claims to be."""


@dataclass(frozen=True)
class Hardware:
    """What blocks live on: GPUs with two streams each (the lanes), or CPUs, where the host does everything itself; and
    who sees whose memory: blocks with one number in `near`, or, without it, none. Edges are made of `tiles`.
    """

    streams: bool
    near: tuple[int, ...] | None = None
    tiles: Tiles = rows

    def sees(self, one: int, other: int) -> bool:
        """Whether two blocks see each other's memory."""
        return self.near is not None and self.near[one] == self.near[other]


@dataclass(eq=False)
class Step:
    """Something that reads and writes memory. It is done after the event `begin`, and over at the event `end` (a
    negative one: nobody ever knows that it is over). `turn` is the pass to which it belongs.
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
        """Copy cells."""
        self.moves.append((source, taken, target, filled))
        for touched, place, cells in ((self.reads, source, taken), (self.writes, target, filled)):
            touched[place] = np.concatenate([touched[place], cells]) if place in touched else cells

    def count(self, place: Place, number: int) -> None:
        """Count one more, after this many."""
        self.counts[place] = number
        self.reads[place] = self.writes[place] = ONE


class Timeline:
    """What all blocks do. A block has three chains of events: its host, and two lanes, or, without streams, the host's
    only.
    """

    def __init__(self, blocks: int, hardware: Hardware) -> None:
        self.hardware, self.order = hardware, Order(3 * blocks)
        self.steps: list[Step] = []

    def chain(self, block: int, lane: int | None) -> int:
        """The chain of a lane, or (None) of the host."""
        return 3 * block + (0 if lane is None or not self.hardware.streams else 1 + lane)

    def call(self, block: int, *after: int | None) -> int:
        """An event on the host, which waits for these."""
        return self.order.add(self.chain(block, None), after)

    def enqueue(self, block: int, lane: int | None, *after: int | None) -> int:
        """An event on a lane, after what the host has done so far, and after these."""
        return self.order.add(self.chain(block, lane), [self.last(block, None), *after])

    def last(self, block: int, lane: int | None) -> int | None:
        """What is last on a lane, or on the host."""
        return self.order.last(self.chain(block, lane))

    def step(self, block: int, turn: int, text: str, begin: int, effect: Effect, end: int | None = None) -> Step:
        """A new step, over when it begins or at `end`."""
        step = Step(f"block {block}: {text}", turn, effect, begin, begin if end is None else end)
        self.steps.append(step)
        return step
