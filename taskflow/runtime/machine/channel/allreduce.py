"""Reductions of small float64 vectors over all blocks, bitwise identical on every block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Protocol

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.runtime.machine.channel.base import SEQUENCES, Channel, Deadline

Gather = Callable[[np.ndarray], np.ndarray]
"""Function that returns the rows of all blocks, given this block's row. Collective."""
FOLD = {"max": np.maximum, "min": np.minimum, "sum": np.add}
LOOPED = 4  # blocks: up to this number folding one after the other is faster than `accumulate`


def distances(blocks: int) -> list[int]:
    """Return the block distance of each round's messages: 1, 2, 4, ... < `blocks`."""
    return [1 << r for r in range((blocks - 1).bit_length())]


def partners(block: int, blocks: int) -> set[int]:
    """Return the blocks that a `BlockReducer` of `block` must be connected to, in addition to its neighbours."""
    return {(block + sign * d) % blocks for d in distances(blocks) for sign in (-1, 1)} - {block}


class ProcessFold(Protocol):
    """A fold of up to `most` numbers with the same bits, where all blocks share a process."""

    most: int

    def __call__(self, row: np.ndarray, operators: Sequence[str]) -> np.ndarray: ...


class BlockReducer:
    """result_c = op_c(values_c of block 0, of block 1, ...), folded in block order on every block.

    In round r each block sends to the block 2^r below and receives from the block 2^r above: ceil(log2 N) messages each
    way. For sums it gathers all vectors and folds them locally. Maxima and minima are folded on the way, as it does not
    matter that some values come twice. A NaN from any block makes the result NaN for every op, and zeros are returned
    as +0.0. All blocks must make the same calls in the same order. `within` folds few numbers without messages.
    """

    def __init__(self, channel: Channel, blocks: int) -> None:
        self._channel = channel
        self._blocks = blocks
        self._rounds = [(number, distance) for number, distance in enumerate(distances(blocks))]
        self._calls = count()
        self.within: ProcessFold | None = None

    def __call__(self, values: np.ndarray, ops: str | Sequence[str], deadline: Deadline) -> np.ndarray:
        """Return the reduced vector. `ops`: "max", "min" or "sum", for all components or one each. Raises as
        `Pending.wait`, and BadInput if `ops` is invalid.
        """
        row = np.asarray(values, np.float64)
        names = [ops] * row.size if isinstance(ops, str) else list(ops)
        if row.ndim != 1 or len(names) != row.size or not set(names) <= FOLD.keys():
            raise BadInput(f"allreduce of shape {row.shape} with {ops!r}: pass a vector and one of {sorted(FOLD)} each")
        if self.within is not None and row.size <= self.within.most:
            return self.within(row, names)
        if self._blocks > 1:
            row = (self._folded if "sum" in names else self._extremes)(row, names, deadline)
        result = row + 0.0  # the order of -0.0 and 0.0, and of NaNs, may depend on the processor
        result[np.isnan(result)] = np.nan
        return result

    def _folded(self, row: np.ndarray, names: Sequence[str], deadline: Deadline) -> np.ndarray:
        """Return the vectors of all blocks, folded in their order."""
        rows = self.gather(row, deadline)
        result = rows[0]
        for op in dict.fromkeys(names) if len(rows) > 1 else ():
            mine = [name == op for name in names]
            if len(rows) > LOOPED:
                result[mine] = FOLD[op].accumulate(rows[:, mine], axis=0)[-1]  # in order, unlike `reduce`
            else:
                for other in rows[1:]:
                    FOLD[op](result, other, out=result, where=mine)
        return result

    def _extremes(self, row: np.ndarray, names: Sequence[str], deadline: Deadline) -> np.ndarray:
        """Return the maxima and minima over all blocks: after round r of 2^(r + 1) consecutive ones."""
        sign = np.array([1.0 if name == "max" else -1.0 for name in names])
        most, others, first = row * sign, np.empty(row.size), self._first()
        for number, distance in self._rounds:
            self._exchange(first + number, distance, most, others, deadline)
            np.maximum(most, others, out=most)
        return most * sign

    def gather(self, row: np.ndarray, deadline: Deadline) -> np.ndarray:
        """Return the vectors of all blocks, [block, component]. Lengths and dtypes must be equal."""
        blocks, block = self._blocks, self._channel.block
        rows = np.empty((blocks, row.size), row.dtype)  # rows[i] belongs to block (block + i) mod blocks
        rows[0], first = row, self._first()
        for number, distance in self._rounds:
            size = min(distance, blocks - distance)
            self._exchange(first + number, distance, rows[:size], rows[distance : distance + size], deadline)
        return np.concatenate((rows[blocks - block :], rows[: blocks - block])) if block else rows

    def _first(self) -> int:
        """Return the sequence number of the first message of a call."""
        return SEQUENCES + next(self._calls) * len(self._rounds)

    def _exchange(
        self, sequence: int, distance: int, mine: np.ndarray, theirs: np.ndarray, deadline: Deadline
    ) -> None:
        """Send values to the block at a distance below, and receive from the block above."""
        blocks, block, channel = self._blocks, self._channel.block, self._channel
        coming = channel.receive((block + distance) % blocks, sequence, theirs.reshape(-1).view(np.uint8))
        going = channel.send((block - distance) % blocks, sequence, mine.reshape(-1).view(np.uint8))
        coming.wait(deadline)
        going.wait(deadline)
