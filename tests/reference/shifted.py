"""Fields over a box of cells and their neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taskflow.runtime.regions import Box, Triple


@dataclass(frozen=True)
class Shifted:
    """A field [z, y, x] whose first element is the cell `origin`: `q(0)` are its values in the cells of `box` and
    `q(+1, axis)` those of the next cells along an axis; more steps may follow. All in double precision.
    """

    array: np.ndarray
    box: Box
    origin: Triple

    def __call__(self, *steps: int) -> np.ndarray:
        """`q()` the cells, `q(n, axis)` n cells along the axis, `q(n, axis, m, other)` then m along another one."""
        shift = [0, 0, 0]
        for n, axis in zip(steps[::2], steps[1::2], strict=True):
            shift[axis] += n
        moved = self.box.shift((shift[0], shift[1], shift[2]))
        return self.array[moved.slices(self.origin)].astype(np.float64)
