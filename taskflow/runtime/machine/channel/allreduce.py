"""Reductions of small float64 vectors over all blocks, with identical bits on every block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.runtime.machine.channel.base import SEQUENCES, Channel, Deadline

Gather = Callable[[np.ndarray], np.ndarray]
"""Rows of all blocks from a row of each. All blocks have to call it."""
FOLD = {"max": np.maximum, "min": np.minimum, "sum": np.add}


def distances(blocks: int) -> list[int]:
    """1, 2, 4, ... below the number of blocks: how far the messages of each round go."""
    return [1 << r for r in range((blocks - 1).bit_length())]


def partners(block: int, blocks: int) -> set[int]:
    """The blocks with which `block` must be connected for a `BlockReducer`, besides its neighbours."""
    return {(block + sign * d) % blocks for d in distances(blocks) for sign in (-1, 1)} - {block}


class BlockReducer:
    """result_c = op_c(values_c of block 0, of block 1, ...), folded in the order of the blocks on every block.

    Every block gathers the vectors of all: in round r it passes what it has to the block 2^r below and gets as much
    from the block 2^r above, so that ceil(log2 N) messages each way suffice; then it folds them itself. A NaN from any
    block makes the result NaN for every op; a zero is returned as +0.0. All blocks must make the same calls in order.
    """

    def __init__(self, channel: Channel, blocks: int) -> None:
        self._channel = channel
        self._blocks = blocks
        self._rounds = [(number, distance) for number, distance in enumerate(distances(blocks))]
        self._calls = count()

    def __call__(self, values: np.ndarray, ops: str | Sequence[str], deadline: Deadline) -> np.ndarray:
        """The reduced vector. `ops`: "max", "min" or "sum", for all components or one each. Raises as `wait` does."""
        row = np.asarray(values, np.float64)
        names = [ops] * row.size if isinstance(ops, str) else list(ops)
        if row.ndim != 1 or len(names) != row.size or not set(names) <= FOLD.keys():
            raise BadInput(f"allreduce of shape {row.shape} with {ops!r}: pass a vector and one of {sorted(FOLD)} each")
        result, *others = self.gather(row, deadline)
        for op in dict.fromkeys(names) if others else ():
            mine = [name == op for name in names]
            for other in others:
                FOLD[op](result, other, out=result, where=mine)
        result += 0.0  # which of -0.0 and 0.0 is the larger, and which NaN wins, may depend on the processor
        result[np.isnan(result)] = np.nan
        return result

    def gather(self, row: np.ndarray, deadline: Deadline) -> np.ndarray:
        """The vectors of all blocks, [block, component], all of one length and dtype."""
        blocks, block, channel = self._blocks, self._channel.block, self._channel
        rows = np.empty((blocks, row.size), row.dtype)  # rows[i] is that of block (block + i) mod blocks
        rows[0] = row
        first = SEQUENCES + next(self._calls) * len(self._rounds)
        for number, distance in self._rounds:
            size = min(distance, blocks - distance)
            below, above = (block - distance) % blocks, (block + distance) % blocks
            coming = channel.receive(above, first + number, rows[distance : distance + size].reshape(-1).view(np.uint8))
            going = channel.send(below, first + number, rows[:size].reshape(-1).view(np.uint8))
            coming.wait(deadline)
            going.wait(deadline)
        return np.concatenate((rows[blocks - block :], rows[: blocks - block])) if block else rows
