"""The board of a block: where other blocks post, in its GPU's memory, what has arrived and what they have to fold."""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.errors import RunFailed
from taskflow.runtime.tasks import MOST_REDUCTIONS

MESSAGES = 4096  # of a pair of blocks in a pass
FOLDS = 512  # all-reduces in a pass
NUMBERS = MOST_REDUCTIONS  # of an all-reduce
NUMBER, FLAG = 8, 4  # bytes of a share, of a flag or a count


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
        """Where `block` puts its share of the first number of every second all-reduce; that of the others is `blocks`
        places on, that of the next number 2 `blocks`. No two all-reduces have a place in common: a block may be at the
        next one, of another pass perhaps, while others still read the shares of this one.
        """
        return self.pointer + NUMBER * (2 * NUMBERS * _within(fold, FOLDS, "all-reduces") * self.blocks + block)

    def shared(self, fold: int, block: int) -> int:
        """The flag that `block` has put its share."""
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
