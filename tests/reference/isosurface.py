"""The area of the surface on which a quantity has a value, by marching tetrahedra."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np


def area(q: np.ndarray, fluid: np.ndarray, h: Sequence[float], value: float) -> float:
    """The area on which q [z, y, x] is a value, in the six tetrahedra of each box between eight centres, times the
    share of its corners that are `fluid`.
    """
    total = 0.0
    for k, j, i in np.ndindex(*(n - 1 for n in q.shape)):
        corners = [np.array((n & 1, n >> 1 & 1, n >> 2)) for n in range(8)]
        over = [q[k + z, j + y, i + x] - value for x, y, z in corners]
        share = np.mean([fluid[k + z, j + y, i + x] for x, y, z in corners])
        for first, second in ((1, 3), (1, 5), (2, 3), (2, 6), (4, 5), (4, 6)):
            ends = [(corners[n] * h, over[n]) for n in (0, first, second, 7)]
            total += share * _cut(ends)
    return total


def _cut(ends: Sequence[tuple[np.ndarray, float]]) -> float:
    """The area of the plane on which a linear function is 0 in a tetrahedron."""
    above, below = ([end for end in ends if (end[1] > 0) == sign] for sign in (True, False))
    points = [x + (y - x) * at_x / (at_x - at_y) for x, at_x in above for y, at_y in below]
    if len(points) == 4:  # around: their order is that of above, then of below
        points = [points[0], points[1], points[3], points[2]]
    turned = [np.cross(b - points[0], c - points[0]) for b, c in pairwise(points[1:])]
    return float(sum(np.linalg.norm(n) for n in turned)) / 2
