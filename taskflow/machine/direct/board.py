"""The board of a block: where other blocks post, in its GPU's memory, what has arrived and what they have to fold."""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.errors import RunFailed

MESSAGES = 4096  # of a pair of blocks, in all traces together
FOLDS = 512  # all-reduces, in all traces together
TRACES = 1024
NUMBER, FLAG = 8, 4  # bytes of a share, of a flag


@dataclass(frozen=True)
class Board:
    """Addresses on a board that begins at `pointer`, for a program of so many blocks. All boards are alike.

    Raises RunFailed where the programs of a run need more places than there are.
    """

    blocks: int
    pointer: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes of a board."""
        return self._flags + FLAG * ((FOLDS + 2 * MESSAGES) * self.blocks + TRACES) - self.pointer

    def share(self, fold: int, block: int) -> int:
        """Where `block` puts its share of an all-reduce in passes of even number; in the others, `blocks` places on."""
        return self.pointer + NUMBER * (2 * _within(fold, FOLDS, "all-reduces") * self.blocks + block)

    def shared(self, fold: int, block: int) -> int:
        """The flag that `block` has put its share."""
        return self._flags + FLAG * (fold * self.blocks + block)

    def arrived(self, source: int, message: int) -> int:
        """The flag that a message from `source` is in the ghost cells."""
        return self._message(source, message)

    def granted(self, target: int, message: int) -> int:
        """The flag that a message may overwrite ghost cells of `target`."""
        return self._message(self.blocks + target, message)

    def passes(self, trace: int) -> int:
        """Where a trace counts its passes."""
        return self._message(2 * self.blocks, 0) + FLAG * _within(trace, TRACES, "programs and states of fields")

    @property
    def _flags(self) -> int:
        return self.pointer + NUMBER * 2 * FOLDS * self.blocks

    def _message(self, row: int, message: int) -> int:
        place = row * MESSAGES + _within(message, MESSAGES, "messages between two blocks")
        return self._flags + FLAG * (FOLDS * self.blocks + place)


def _within(number: int, most: int, what: str) -> int:
    if number >= most:
        raise RunFailed(f"the programs of this run have more than {most} {what}; run fewer different programs")
    return number
