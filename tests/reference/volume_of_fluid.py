"""A volume of fluid in NumPy: planes in cells, and sweeps along an axis. Arrays are [z, y, x]; all results are those of
cells, and fields may have the layers of `tests.reference.two_phase` around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from tests.reference.two_phase import at


def exact_volume(m: Sequence[Fraction], alpha: Fraction) -> Fraction:
    """The volume of m . x <= alpha in the unit cube, for m >= 0: pyramids, less those beyond the faces."""
    m = [c for c in m if c]
    total = Fraction(0)
    for n in range(len(m) + 1):
        for beyond in combinations(m, n):
            total += (-1) ** n * max(Fraction(0), alpha - sum(beyond)) ** len(m)
    product = Fraction(1)
    for n, c in enumerate(m, start=1):
        product *= n * c
    return total / product


def volume(m: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """The volume of m . x <= alpha in the unit cube, for m [xyz, ...] >= 0 with the sum 1: the same, of the sorted m by
    the cases of Scardovelli and Zaleski (2000).
    """
    m1, m2, m3 = np.sort(np.abs(m), axis=0)
    a = np.clip(np.minimum(alpha, 1 - alpha), 0, 0.5)

    def third(x: np.ndarray) -> np.ndarray:
        inner = np.divide(x**3, m1, out=np.zeros_like(x), where=m1 > 0)
        return np.where(x <= 0, 0.0, np.where(x >= m1, 3 * x * (x - m1) + m1**2, inner))

    curved = third(a) - third(a - m2) - third(a - m3)
    curved = np.divide(curved, 6 * m2 * m3, out=np.zeros_like(a), where=m2 > 0)
    half = np.where(a >= m1 + m2, (2 * a - m1 - m2) / (2 * m3), curved)
    return np.where(alpha > 0.5, 1 - half, half)


def plane(m: np.ndarray, f: np.ndarray) -> np.ndarray:
    """The alpha below which a cell has the share f, by bisection."""
    low, high = np.zeros_like(f), np.ones_like(f)
    for _ in range(60):
        middle = (low + high) / 2
        less = volume(m, middle) < f
        low, high = np.where(less, middle, low), np.where(less, high, middle)
    return (low + high) / 2


def normal(f: np.ndarray) -> np.ndarray:
    """The mixed Youngs-centred normals [xyz, z, y, x], out of phase 1; 0 where the shares around are even."""
    def scaled(m: list[np.ndarray]) -> np.ndarray:
        size = np.abs(m).sum(axis=0)
        return np.divide(m, size, out=np.zeros((3, *size.shape)), where=size > 0)

    youngs = []
    for a in range(3):
        b, c = (n for n in range(3) if n != a)
        weights = {-1: 1, 0: 2, 1: 1}
        sums = [
            sum(weights[i] * weights[j] * at(f, (side, a), (i, b), (j, c)) for i in weights for j in weights)
            for side in (-1, 1)
        ]
        youngs.append(sums[0] - sums[1])
    gradient = scaled(youngs)
    candidates = []
    for a in range(3):
        slopes: list[np.ndarray] = [np.where(gradient[a] < 0, -1.0, 1.0)] * 3
        for b in (b for b in range(3) if b != a):
            heights = [sum(at(f, (n, a), (side, b)) for n in (-1, 0, 1)) for side in (-1, 1)]
            slopes[b] = (heights[0] - heights[1]) / 2
        candidates.append((np.abs(slopes).sum(axis=0), scaled(slopes)))
    steepest = np.argmin([steep for steep, _ in candidates], axis=0)
    centred = np.choose(steepest, [m for _, m in candidates])
    even = np.abs(gradient).sum(axis=0) == 0
    return np.where(even | (np.abs(centred).max(axis=0) > np.abs(gradient).max(axis=0)), gradient, centred)


def slab(m: np.ndarray, f: np.ndarray, axis: int, c: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The share of phase 1 in the slab of thickness c at the low or `high` side of a cell along an axis."""
    size = np.abs(m)
    alpha = plane(size, f)
    far = high == (m[axis] > 0)
    inner = size.copy()
    inner[axis] *= c
    total = inner.sum(axis=0)
    return volume(inner / total, np.where(far, alpha - size[axis] * (1 - c), alpha) / total)
