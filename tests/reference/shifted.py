"""Fields over a box of cells and their neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskflow.runtime.regions import Box, Triple


@dataclass(frozen=True)
class Shifted:
    """A field q as an array [z, y, x] whose first element belongs to the cell `origin`, seen from the cells of `box`.

    `q()` is q[i, j, k] of all cells of the box, `q(1, 0)` is q[i+1, j, k], `q(-1, 2)` is q[i, j, k-1], and
    `q(1, 0, -1, 2)` is q[i+1, j, k-1]: pairs of a number of cells and an axis. All values are in double precision.
    """

    array: np.ndarray
    box: Box
    origin: Triple

    def __call__(self, *steps: int) -> np.ndarray:
        """Return the values [z, y, x] that lie the given steps from the cells of the box."""
        shift = [0, 0, 0]
        for n, axis in zip(steps[::2], steps[1::2], strict=True):
            shift[axis] += n
        moved = self.box.shift((shift[0], shift[1], shift[2]))
        return self.array[moved.slices(self.origin)].astype(np.float64)
