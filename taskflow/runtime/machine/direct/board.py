"""The board of a block: where other blocks post, in its GPU's memory, what has arrived and what they have to fold; and
the inboxes behind it, for cells that lie apart in memory, which travel packed.

Rows of a face across x hold a cell or a few. To store each of them in another GPU's memory by itself costs what a whole
line costs: so they are packed on the way, and unpacked by the block that they are for. Whole rows go straight into the
ghost cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from taskflow.common.errors import RunFailed
from taskflow.runtime.regions import Copy, Partition
from taskflow.runtime.tasks import MOST_REDUCTIONS, Message

MESSAGES = 4096  # of a pair of blocks in a pass
FOLDS = 512  # all-reduces in a pass
NUMBERS = MOST_REDUCTIONS  # of an all-reduce
NUMBER, FLAG = 8, 4  # bytes of a share, of a flag or a count

NARROW = 8  # cells: shorter rows are packed
AT_ONCE = 64  # of the largest messages of one field that an inbox holds, if it may be that large
SMALL = 16 << 20  # bytes that all inboxes of a block may have in any case,
SHARE = 8  # and in how many parts of its fields' memory they are at most one: narrow blocks are all faces across x

Rooms = dict[Message, dict[tuple[str, Copy], tuple[int, int]]]
"""The begin and end of each packed copy of messages, in bytes behind the target's board."""


@dataclass(frozen=True)
class Board:
    """Addresses on a board that begins at `pointer`, for a program of so many blocks. All boards are alike.

    Flags are posted by others; the counts beside them are the block's own. Raises RunFailed where a pass of a program
    needs more places than there are.
    """

    blocks: int
    pointer: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of a board."""
        return self._rows + FLAG * 6 * self.blocks * MESSAGES - self.pointer

    def share(self, fold: int, block: int) -> int:
        """The place of the share of `block` in the first number of every second all-reduce; that of the others is
        `blocks` places on, that of the next number 2 `blocks`. No two all-reduces have a place in common: a block may
        be at the next one, of another pass perhaps, while others still read the shares of this one.
        """
        return self.pointer + NUMBER * (2 * NUMBERS * _within(fold, FOLDS, "all-reduces") * self.blocks + block)

    def shared(self, fold: int, block: int) -> int:
        """The flag of `block` that its share is there."""
        return self._folds + FLAG * (fold * (self.blocks + 1) + block)

    def folded(self, fold: int) -> int:
        """The count of an all-reduce."""
        return self.shared(fold, self.blocks)

    def arrived(self, source: int, message: int) -> int:
        """The flag that a message from `source` is in the ghost cells."""
        return self._place(0, source, message)

    def granted(self, target: int, message: int) -> int:
        """The flag that a message may overwrite ghost cells of `target`."""
        return self._place(1, target, message)

    def count(self, what: str, peer: int, message: int) -> int:
        """How often this block has seen a message to be arrived or granted, or has sent or granted one itself."""
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
    """The places of the inboxes of all blocks of a partition, in bytes behind each one's board; all know all."""

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
                if _narrow(copy):
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
    """Whether a copy is packed: where the target has short rows."""
    return copy.target_box.shape[0] < NARROW
