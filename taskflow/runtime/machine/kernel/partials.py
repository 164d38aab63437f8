"""The parts that reductions fold at their end."""

from __future__ import annotations

import numpy as np

from taskflow.runtime.machine.kernel.call import BX, BY, cuda_shape
from taskflow.runtime.regions import Box

BUNDLE = 16  # rows that a reduction on a CPU folds into one part, as in visit_host.h


def partial_bytes(box: Box, device: str) -> int:
    """Bytes in which a reduction over a box keeps what it folds at its end; on a GPU those of a kernel that defines no
    shape of its own.
    """
    if device == "cpu":
        return 8 * host_parts(box)
    return 8 * int(np.prod(cuda_shape(box.shape, 1, BX, BX * BY)[0])) + 4  # and the count of those that are there


def host_parts(box: Box) -> int:
    """How many parts a reduction over a box has on a CPU."""
    _, ny, nz = box.shape
    return max(1, -(-ny * nz // BUNDLE))
