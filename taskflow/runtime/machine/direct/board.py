"""The board of a block, in its GPU's memory, where other blocks post flags of arrived messages and shares of
reductions. The inboxes for packed cells follow it.

Rows of a face across x have only a few cells. Storing each row in another GPU's memory costs as much as a whole memory
line, so the rows are packed by the sender and unpacked by the receiver. Long rows are written directly to the ghost
cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from taskflow.common.errors import RunFailed
from taskflow.runtime.regions import Copy, Partition
from taskflow.runtime.tasks import MOST_REDUCTIONS, Message

MESSAGES = 4096  # per pair of blocks and pass
FOLDS = 512  # all-reduces per pass
NUMBERS = MOST_REDUCTIONS  # per all-reduce
NUMBER, FLAG = 8, 4  # bytes of a share, of a flag or a count

NARROW = 8  # cells: shorter rows are packed
AT_ONCE = 64  # largest messages of one field that an inbox holds, if the limits below permit
SMALL = 16 << 20  # bytes that all inboxes of a block may always use;
SHARE = 8  # above, at most 1 / SHARE of its fields' memory: narrow blocks are all faces across x

Rooms = dict[Message, dict[tuple[str, Copy], tuple[int, int]]]
"""The begin and end of each packed copy of messages, in bytes after the target's board."""


@dataclass(frozen=True)
class Board:
    """Addresses on a board at `pointer`, for a program on `blocks` blocks. All boards have the same layout.

    Flags are posted by other blocks; the counts are the block's own. Raises RunFailed if a pass of a program needs more
    places than exist.
    """

    blocks: int
    pointer: int = 0

    @property
    def nbytes(self) -> int:
        return self._rows + FLAG * 6 * self.blocks * MESSAGES - self.pointer

    def share(self, fold: int, block: int) -> int:
        """Return the address of the share of `block` in the first number of an all-reduce, for one parity of its
        passes. The other parity is `blocks` places further, the next number 2 `blocks`. Places never overlap: a
        block may be one all-reduce ahead, even in the next pass, while others still read its shares.
        """
        return self.pointer + NUMBER * (2 * NUMBERS * _within(fold, FOLDS, "all-reduces") * self.blocks + block)

    def shared(self, fold: int, block: int) -> int:
        """Return the address of the flag that the share of `block` has arrived."""
        return self._folds + FLAG * (fold * (self.blocks + 1) + block)

    def folded(self, fold: int) -> int:
        """Return the address of the count of an all-reduce."""
        return self.shared(fold, self.blocks)

    def arrived(self, source: int, message: int) -> int:
        """Return the address of the flag that a message from `source` is in the ghost cells."""
        return self._place(0, source, message)

    def granted(self, target: int, message: int) -> int:
        """Return the address of the flag that a message may overwrite ghost cells of `target`."""
        return self._place(1, target, message)

    def count(self, what: str, peer: int, message: int) -> int:
        """Return the address of the number of times this block has seen a message arrived or granted, or has sent or
        granted it.
        """
        return self._place(2 + ("arrived", "granted", "sent", "grants").index(what), peer, message)

    @property
    def _folds(self) -> int:
        return self.pointer + NUMBER * 2 * NUMBERS * FOLDS * self.blocks

    @property
    def _rows(self) -> int:
        return self._folds + FLAG * FOLDS * (self.blocks + 1)

    def _place(self, kind: int, block: int, message: int) -> int:
        place = (kind * self.blocks + block) * MESSAGES + _within(message, MESSAGES, "messages between two blocks")
        return self._rows + FLAG * place


def _within(number: int, most: int, what: str) -> int:
    if number >= most:
        raise RunFailed(f"a pass of this program has more than {most} {what}; make it several programs")
    return number


class Inboxes:
    """Positions of the inboxes of all blocks of a partition, in bytes after each board. Identical on all blocks."""

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._value = max(field.nbytes for field in partition.fields.values())
        self._rooms: dict[int, dict[int, tuple[int, int]]] = {}

    def rooms(self, messages: Iterable[Message]) -> Rooms:
        """Return space for the packed copies of messages of a trace, while the inboxes have some. Copies begin at
        multiples of 8 bytes.

        Source and target get the same result. A message without space has no packed copies.
        """
        rooms, used = Rooms(), dict[tuple[int, int], int]()
        for message in sorted(messages, key=lambda message: message.number):
            pair = message.source, message.target
            start, end = self._of(message.target).get(message.source, (0, 0))
            place, parts = used.get(pair, start), dict[tuple[str, Copy], tuple[int, int]]()
            for name, copy in message.copies:
                if _narrow(copy):
                    size = copy.source_box.volume * self._partition.fields[name].nbytes
                    parts[name, copy] = place, place + size
                    place += -(-size // NUMBER) * NUMBER
            if parts and place <= end:
                rooms[message], used[pair] = parts, place
        return rooms

    def nbytes(self, block: int) -> int:
        return max((end for _, end in self._of(block).values()), default=0)

    def _of(self, target: int) -> dict[int, tuple[int, int]]:
        if target not in self._rooms:
            cells: dict[int, int] = {}
            for home in (self._partition, *self._partition.beside):
                memory = [(piece, home.clip(home.memory[piece])) for piece in home.pieces_of(target)]
                for copy in (copy for piece, box in memory for copy in home.sources(piece, [box])):
                    source = home.block_of[copy.source]
                    if source != target and _narrow(copy):
                        cells[source] = cells.get(source, 0) + copy.source_box.volume
            ample = AT_ONCE * self._value * sum(cells.values())
            most = min(ample, max(SMALL, self._partition.nbytes(target) // SHARE))
            rooms, start = {}, 0
            for source in sorted(cells):
                size = AT_ONCE * self._value * cells[source] * most // ample
                rooms[source] = (start, start + size // NUMBER * NUMBER)
                start = -(-rooms[source][1] // 512) * 512
            self._rooms[target] = rooms
        return self._rooms[target]


def _narrow(copy: Copy) -> bool:
    """Return whether a copy is packed: its target has short rows."""
    return copy.target_box.shape[0] < NARROW
