"""Packed copies in the inboxes of blocks: bytes that no end of a copy tells apart are one."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from taskflow.machine.direct.inbox import Inboxes
from taskflow.machine.proof.cells import Cells
from taskflow.machine.proof.timeline import Index
from taskflow.machine.trace.tracer import Trace
from taskflow.regions import Copy, Partition
from taskflow.tasks import Message, Receive, Send


@lru_cache(8)
def inboxes(partition: Partition) -> Inboxes:
    """Those of a run."""
    return Inboxes(partition)


class Packed:
    """Numbers the places of the copies that some traces pack.

    Between two neighbouring ends of copies there are as many places as the largest copy has cells. A copy takes all
    from its begin to its end, over and over: so two that share a byte share places.
    """

    def __init__(self, partition: Partition, cells: Cells, traces: Iterable[Trace]) -> None:
        self._rooms, self._most = {}, 0
        marks: dict[tuple[int, int], set[int]] = defaultdict(set)
        for trace in set(traces):
            messages = {node.message for node in trace.graph.nodes if isinstance(node, Send | Receive)}
            self._rooms[trace] = inboxes(partition).rooms(messages)
            for message, parts in self._rooms[trace].items():
                for (name, copy), ends in parts.items():
                    marks[message.source, message.target].update(ends)
                    self._most = max(self._most, cells.index(message.target, name, copy.target_box).size)
        self._marks = {pair: sorted(ends) for pair, ends in marks.items()}

    def places(self, trace: Trace, message: Message, name: str, copy: Copy) -> Index | None:
        """Where a block that replays the trace takes a copy to be; None if it is not packed."""
        ends = self._rooms[trace].get(message, {}).get((name, copy))
        if ends is None:
            return None
        first, last = (bisect_left(self._marks[message.source, message.target], end) for end in ends)
        return np.arange(first * self._most, last * self._most)
