"""Index transforms of vertices, and of arrays beside charts."""

from __future__ import annotations

import numpy as np

from taskflow.runtime.regions import Box, Turn, triple


def vertices(turn: Turn, box: Box) -> Box:
    """The images of a box of vertices; vertex (i, j, k) is the low corner of cell (i, j, k)."""
    image, ahead = turn(box), [0, 0, 0]
    for axis in turn.axes:
        ahead[abs(axis) - 1] = int(axis < 0)  # the low corner of a cell is the high one of its image
    return image.shift(triple(ahead))


def oriented(turn: Turn, values: np.ndarray) -> np.ndarray:
    """Values [..., k, j, i] of images, in the order of what they are images of."""
    lead = values.ndim - 3
    order = [lead + 3 - abs(turn.axes[a]) for a in (2, 1, 0)]
    turned = values.transpose(*range(lead), *order)
    return np.flip(turned, tuple(lead + 2 - a for a in range(3) if turn.axes[a] < 0))
