"""Friction on the surfaces of immersed bodies, of one component of the velocity, on faces across its axis.

Fields are arrays [z, y, x] of all cells and their ghost layers. What is computed in ghost layers means nothing. The
scheme, `friction` and `blockage` are those of `taskflow.flow.bodies.immersed`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from tests.reference.stretched import Metrics, shift


def neighbours(metrics: Metrics, axis: int) -> Iterator[tuple[int, int, np.ndarray, np.ndarray | bool]]:
    """Yield the six neighbours of faces across an axis: their direction, their side (-1 or 1), their weight in the
    Laplacian, and where they lie beyond a wall.
    """
    for b, by in product(range(3), (-1, 1)):
        extent, behind = (metrics.D[b], metrics.W[b]) if b == axis else (metrics.W[b], shift(metrics.D[b], b))
        distance = behind if by > 0 else shift(behind, b, -1)
        edge = None if metrics.last[b] is None else 0 if by < 0 else metrics.last[b]
        yield b, by, 1 / (extent * distance), False if edge is None else np.equal(metrics.N[b], edge)


def brought(metrics: Metrics, missing: np.ndarray, axis: int) -> np.ndarray:
    """The sum over neighbours of their weight times what is missing of their velocity, over the viscosity."""
    around = neighbours(metrics, axis)
    terms = (np.where(beyond, 0, weight * shift(missing, b, by)) for b, by, weight, beyond in around)
    return sum(terms, np.zeros(()))


def spread(metrics: Metrics, axis: int) -> np.ndarray:
    """The sum of the weights of all neighbours, but of those beyond walls along which the face lies."""
    around = neighbours(metrics, axis)
    return sum((np.where(beyond & (b != axis), 0, weight) for b, _, weight, beyond in around), np.zeros(()))


def adhered(
    metrics: Metrics, old: np.ndarray, friction: np.ndarray, blockage: np.ndarray, axis: int, drag: float
) -> tuple[np.ndarray, np.ndarray]:
    """The factor `kept` and the term `added` that make of a predicted velocity u* the one with friction on surfaces,
    kept u* + added, `drag` being viscosity dt.
    """
    share = 1 / (1 + blockage)
    left = 1 / (1 + drag * (friction + (1 - share) * spread(metrics, axis)))
    return share * left, left * (share * drag * brought(metrics, blockage * old, axis) + (1 - share) * old)


def moved(
    metrics: Metrics, predicted: np.ndarray, missing: np.ndarray, now: tuple[np.ndarray, np.ndarray, np.ndarray],
    axis: int, drag: float, slope: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """The velocity on open faces beside bodies that move, from a predicted one, what was `missing` before the step, and
    the velocity of the body, `friction` and `blockage` that there are `now`; slope is dt times the gradient of the
    pressure.
    """
    body, friction, blockage = now
    share = 1 / (1 + blockage)
    left = 1 / (1 + drag * (friction + (1 - share) * spread(metrics, axis)))
    in_centre = predicted + missing + drag * brought(metrics, missing, axis)
    return body + share * left * (in_centre - slope - body) + slope
