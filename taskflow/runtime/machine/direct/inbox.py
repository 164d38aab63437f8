"""Inboxes: room on a block's GPU for cells that lie apart in memory, which travel packed.

Rows of a face across x hold a cell or a few. To store each of them in another GPU's memory by itself costs what a whole
line costs: so they are packed on the way, and unpacked by the block that they are for. Whole rows go straight into the
ghost cells.
"""

from __future__ import annotations

from collections.abc import Iterable

from taskflow.runtime.machine.direct.board import NUMBER
from taskflow.runtime.regions import Copy, Partition
from taskflow.runtime.tasks import Message

Rooms = dict[Message, dict[tuple[str, Copy], tuple[int, int]]]
"""Where each packed copy of messages begins and ends, in bytes behind the target's board."""

NARROW = 8  # cells: shorter rows are packed
AT_ONCE = 64  # of the largest messages of one field that an inbox holds, if it may be that large
SMALL = 16 << 20  # bytes that all inboxes of a block may have in any case,
SHARE = 8  # and in how many parts of its fields' memory they are at most one: narrow blocks are all faces across x


def narrow(copy: Copy) -> bool:
    """Whether a copy is packed."""
    return copy.source_box.shape[0] < NARROW


class Inboxes:
    """Where the inboxes of the blocks of a partition are, in bytes behind each one's board: every block knows all."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._value = max(field.nbytes for field in partition.fields.values())
        self._rooms: dict[int, dict[int, tuple[int, int]]] = {}

    def rooms(self, messages: Iterable[Message]) -> Rooms:
        """Room for the messages of a trace, as long as there is some. Each copy begins where numbers of any size may.

        Source and target come to the same result: a message without room has no packed copies.
        """
        rooms, used = Rooms(), dict[tuple[int, int], int]()
        for message in sorted(messages, key=lambda message: message.number):
            pair = message.source, message.target
            start, end = self._of(message.target).get(message.source, (0, 0))
            place, parts = used.get(pair, start), dict[tuple[str, Copy], tuple[int, int]]()
            for name, copy in message.copies:
                if narrow(copy):
                    size = copy.source_box.volume * self._partition.fields[name].nbytes
                    parts[name, copy] = place, place + size
                    place += -(-size // NUMBER) * NUMBER
            if parts and place <= end:
                rooms[message], used[pair] = parts, place
        return rooms

    def nbytes(self, block: int) -> int:
        """Bytes of all inboxes of a block."""
        return max((end for _, end in self._of(block).values()), default=0)

    def _of(self, target: int) -> dict[int, tuple[int, int]]:
        if target not in self._rooms:
            cells: dict[int, int] = {}
            for home in (self._partition, *self._partition.beside):
                for copy in home.sources(target, [home.clip(home.memory[target])]):
                    if copy.source != target and narrow(copy):
                        cells[copy.source] = cells.get(copy.source, 0) + copy.source_box.volume
            ample = AT_ONCE * self._value * sum(cells.values())
            most = min(ample, max(SMALL, self._partition.nbytes(target) // SHARE))
            rooms, start = {}, 0
            for source in sorted(cells):
                size = AT_ONCE * self._value * cells[source] * most // ample
                rooms[source] = (start, start + size // NUMBER * NUMBER)
                start = -(-rooms[source][1] // 512) * 512
            self._rooms[target] = rooms
        return self._rooms[target]
