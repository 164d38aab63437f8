"""Relays: cells for blocks across edges and corners travel axis after axis, with what face neighbours get anyhow.

A block in the middle of a box has 26 neighbours, of which six share a face. If a face neighbour lacks the same cells at
the same moment, it receives them first, along x, and passes them on, along y and then z: six messages in three turns
instead of 26 at once. That pays where a message costs more than a turn, as between many blocks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from taskflow.runtime.regions import Box, Copy, Partition, difference, triple
from taskflow.runtime.tasks.ghosts import GhostGap


@dataclass(frozen=True, eq=False)
class Relayed:
    """A copy from the block that passes the cells on, and its turn: 0 from an owner, else the axis along which a block
    passes them on.
    """

    copy: Copy
    turn: int


class Relays:
    """The ways of the cells that fill some gaps at one moment. Every block that takes part finds the same ways."""

    def __init__(self, gaps: Iterable[tuple[str, GhostGap]]) -> None:
        self._lacking: dict[tuple[str, int], list[Box]] = defaultdict(list)
        for name, gap in gaps:
            self._lacking[name, gap.piece] += gap.boxes

    def last(self, name: str, copy: Copy, home: Partition) -> Relayed:
        """Return the last part of the way of these cells: from their owner, or from the block next to the target along
        the last axis along which both differ, if that block lacks the cells, too.
        """
        source, target = home.place(copy.source), home.place(copy.target)
        differing = [axis for axis in range(3) if source[axis] != target[axis]]
        if len(differing) > 1:
            axis = differing[-1]
            nx, ny, _ = home.shape
            a, b, c = (source[n] if n == axis else target[n] for n in range(3))
            relay = a + nx * (b + ny * c)
            ends = zip(copy.source_box.lo, copy.target_box.lo, strict=True)
            periods = triple(0 if n == axis else there - here for n, (here, there) in enumerate(ends))
            cells = copy.source_box.shift(periods)
            lacking = self._lacking.get((name, relay))
            if lacking and not difference([cells], lacking):
                return Relayed(Copy(relay, cells, copy.target, copy.target_box, copy.axes), axis)
        return Relayed(copy, 0)
