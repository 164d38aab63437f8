"""What surfaces of immersed bodies do to one component of the velocity, in NumPy. Fields are arrays [z, y, x] with
layers of ghost cells, in which nothing is right afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from tests.reference.stretched import Metrics, shift


def neighbours(metrics: Metrics, axis: int) -> Iterator[tuple[int, int, np.ndarray, np.ndarray | bool]]:
    """Of low faces across an axis those of the same kind: along which direction, to which side, what they weigh in the
    Laplacian, and where they lie beyond a wall.
    """
    for b, by in product(range(3), (-1, 1)):
        extent, behind = (metrics.D[b], metrics.W[b]) if b == axis else (metrics.W[b], shift(metrics.D[b], b))
        distance = behind if by > 0 else shift(behind, b, -1)
        edge = None if metrics.last[b] is None else 0 if by < 0 else metrics.last[b]
        yield b, by, 1 / (extent * distance), False if edge is None else metrics.N[b] == edge


def brought(metrics: Metrics, missing: np.ndarray, axis: int) -> np.ndarray:
    """What friction brings of what is missing of the neighbours' velocity."""
    found = neighbours(metrics, axis)
    return sum(np.where(beyond, 0, weight * shift(missing, b, by)) for b, by, weight, beyond in found)


def spread(metrics: Metrics, axis: int) -> np.ndarray:
    """The sum of the weights of neighbours that do not lie beyond walls along which the face lies."""
    return sum(np.where(beyond & (b != axis), 0, weight) for b, _, weight, beyond in neighbours(metrics, axis))


def adhered(
    metrics: Metrics, old: np.ndarray, stick: np.ndarray, cover: np.ndarray, axis: int, drag: float
) -> tuple[np.ndarray, np.ndarray]:
    """kept and added: see `taskflow.flow.bodies.adherence`."""
    share = 1 / (1 + cover)
    left = 1 / (1 + drag * (stick + (1 - share) * spread(metrics, axis)))
    return share * left, left * (share * drag * brought(metrics, cover * old, axis) + (1 - share) * old)
