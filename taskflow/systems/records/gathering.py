"""Rows of numbers from all blocks, and layers of cells from adjacent ones."""

from __future__ import annotations

from itertools import accumulate

import numpy as np

from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Triple, triple


def gathered(shard: Shard, rows: np.ndarray) -> np.ndarray:
    """Return the rows [row, number] of all blocks, which have different numbers of them, in order. Collective."""
    if len(shard.partition) == 1:
        return rows
    counts = shard.gather(np.array([len(rows)]))[:, 0]
    table = np.zeros((counts.max(), rows.shape[1]), rows.dtype)
    table[: len(rows)] = rows
    tables = shard.gather(table.ravel()).reshape(len(counts), *table.shape)
    return np.concatenate([rows[:count] for rows, count in zip(tables, counts, strict=True)])


class Surrounded:
    """Cell values of a block with a layer of cells from adjacent blocks, also across periodic sides of the domain."""

    def __init__(self, shard: Shard, periodic: tuple[bool, bool, bool]) -> None:
        partition = shard.partition
        self._shard, self._shapes = shard, [box.shape for box in partition.blocks]
        numbers = {partition.place(block): block for block in range(len(partition))}
        here = partition.place(shard.block)
        self._adjacent: dict[tuple[int, int], int] = {}  # block at the low (0) or high (1) end of an axis
        for axis in range(3):
            for end, step in enumerate((-1, 1)):
                at = here[axis] + step
                at = at % partition.shape[axis] if periodic[axis] else at
                block = numbers.get(triple(at if along == axis else here[along] for along in range(3)))
                if block is not None:
                    self._adjacent[axis, end] = block

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Return the values [z, y, x] with a layer more on each side: 0 without a block, and at edges. Collective."""
        ends = [values.take(-end, 2 - axis).ravel() for axis in range(3) for end in (0, 1)]
        row = np.zeros(max(_starts(shape)[-1] for shape in self._shapes), values.dtype)
        row[: _starts(self._shapes[self._shard.block])[-1]] = np.concatenate(ends)
        rows, result = self._shard.gather(row), np.pad(values, 1)
        for (axis, end), block in self._adjacent.items():
            starts, number = _starts(self._shapes[block]), 2 * axis + 1 - end
            beyond = [slice(1, -1)] * 3
            beyond[2 - axis] = slice(-1, None) if end else slice(0, 1)
            layer = rows[block, starts[number] : starts[number + 1]]
            result[tuple(beyond)] = layer.reshape(result[tuple(beyond)].shape)
        return result


def _starts(shape: Triple) -> list[int]:
    """Return the first numbers of the layers on the six sides of a block in a row, and the length of the row."""
    x, y, z = shape
    return [0, *accumulate((y * z, y * z, x * z, x * z, x * y, x * y))]
