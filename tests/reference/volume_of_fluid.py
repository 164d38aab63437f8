"""A volume of fluid in NumPy: planes in cells, and sweeps along an axis. Arrays are [z, y, x]; all results are those of
cells, and fields may have the layers of `tests.reference.two_phase` around them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np

from tests.reference.bounded import limiter
from tests.reference.two_phase import at, surrounded


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


def fall(f: np.ndarray, cut: np.ndarray, h: Sequence[float], gravity: Sequence[float]) -> np.ndarray:
    """g.(x - foot), from the centres of cells to the nearest points of their planes, infinite where there is none.
    """
    m = normal(f)
    steep = [m[n] / h[n] for n in range(3)]
    above = 0.5 - plane(np.abs(m), at(f))
    with np.errstate(divide="ignore", invalid="ignore"):
        down = sum(g * slope for g, slope in zip(gravity, steep, strict=True))
        return np.where(cut, above * down / sum(slope**2 for slope in steep), np.inf)


def slab(m: np.ndarray, f: np.ndarray, axis: int, c: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The share of phase 1 in the slab of thickness c at the low or `high` side of a cell along an axis."""
    size = np.abs(m)
    alpha = plane(size, f)
    far = high == (m[axis] > 0)
    inner = size.copy()
    inner[axis] *= c
    total = inner.sum(axis=0)
    return volume(inner / total, np.where(far, alpha - size[axis] * (1 - c), alpha) / total)


def share_flux(f: np.ndarray, speed: np.ndarray, axis: int, cells: int, wall: bool) -> np.ndarray:
    """What passes low faces with the Courant number `speed`. `f` is known in three layers around, of which those beyond
    walls are used on their faces alone: else they mirror it.
    """
    mirrored = surrounded(at(f), tuple(wall for _ in range(3))) if wall else f
    m = normal(mirrored)
    m = np.pad(m, [(0, 0), *((1, 1) if n == 2 - axis else (0, 0) for n in range(3))], mode="edge" if wall else "wrap")

    def donor(by: int) -> np.ndarray:
        """The share of the slab at the high side of the cell before (-1), or the low side of the one behind (0)."""
        sizes = enumerate(m.shape[1:])
        kept = tuple(slice(1 + by, size - 1 + by) if n == 2 - axis else slice(None) for n, size in sizes)
        own, plane_m, width = at(mirrored, (by, axis)), m[(slice(None), *kept)], np.abs(speed)
        cut = (own > 1e-12) & (own < 1 - 1e-12) & (np.abs(plane_m).sum(axis=0) > 0) & (width > 0)
        inside = np.where(cut, own, 0.5)
        some = np.where(cut, plane_m, np.array([1.0, 0, 0])[:, None, None, None])
        return np.where(cut, slab(some, inside, axis, np.where(cut, width, 1.0), np.full(own.shape, by < 0)), own)

    index = np.arange(own_size := at(f).shape[2 - axis]).reshape([-1 if n == 2 - axis else 1 for n in range(3)])
    assert own_size == cells
    entering = wall & (index == 0) & (speed > 0)
    return speed * np.where(entering, (at(f, (-1, axis)) + at(f)) / 2, np.where(speed > 0, donor(-1), donor(0)))


def moved(
    q: np.ndarray, mass: np.ndarray, through: np.ndarray, axis: int, along: int, cells: int, wall: bool
) -> np.ndarray:
    """The velocity q along `along` after a sweep along `axis`, from the mass of cells and what passes their low faces.

    All are known in three layers around.
    """
    def both(field: np.ndarray, by: int) -> np.ndarray:
        """The mean over the volume around a face, some volumes further along the sweep."""
        return (at(field, (by, axis), (-1, along)) + at(field, (by, axis))) / 2

    def part(by: int) -> np.ndarray:
        low, high, held = both(through, by), both(through, by + 1), both(mass, by)
        return np.maximum(held - np.maximum(high, 0) - np.maximum(-low, 0), 0) / held

    index = np.arange(cells).reshape([-1 if n == 2 - axis else 1 for n in range(3)])

    def passing(by: int) -> np.ndarray:
        side, mass_through = index + by, both(through, by)
        results = {}
        for forward in (True, False):
            up, down, before = (by - 1, by, by - 2) if forward else (by, by - 1, by + 1)
            behind, ahead = at(q, (up, axis)) - at(q, (before, axis)), at(q, (down, axis)) - at(q, (up, axis))
            with np.errstate(divide="ignore", invalid="ignore"):
                r = np.where(ahead == 0, 0.0, behind / ahead)
            first = wall & (side == (1 if forward else cells - 1)) & (along != axis)
            phi = np.where(first, np.minimum(limiter(r), np.maximum(r, 0)), limiter(r))
            bent = at(q, (up, axis)) + phi / 2 * part(up) * ahead
            mean = (at(q, (up, axis)) + at(q, (down, axis))) / 2
            if along == axis:
                results[forward] = np.where(wall & (side - 1 == (0 if forward else cells - 1)), mean, bent)
            else:
                entering = wall & (side == (0 if forward else cells))
                leaving = wall & (side == (cells if forward else 0))
                results[forward] = np.where(entering, mean, np.where(leaving, at(q, (up, axis)), bent))
        return mass_through * (np.where(mass_through > 0, results[True], results[False]) - at(q))

    low, high, held = both(through, 0), both(through, 1), both(mass, 0)
    left = np.maximum(held - np.maximum(high, 0) - np.maximum(-low, 0), 0) + np.maximum(low, 0) + np.maximum(-high, 0)
    return at(q) + (passing(0) - passing(1)) / left


def height(column: Sequence[float]) -> float | None:
    """How high seven shares, from phase 1 up, reach above the middle of the fourth: between the full and the empty one
    next to the interface, or None where one of them is not among them.
    """
    full, empty = (
        next((n for n in ns if end(column[n])), None)
        for ns, end in ((range(3, -1, -1), lambda f: f > 1 - 1e-6), (range(3, 7), lambda f: f < 1e-6))
    )
    if full is None or empty is None:
        return None
    while column[full + 1] > 1 - 1e-6 and full + 1 < empty:
        full += 1
    if empty == 3:
        empty = next(n for n in range(full + 1, 7) if column[n] < 1e-6)
    return full - 3 + 0.5 + sum(column[full + 1 : empty])


def curvature_by_heights(
    f: np.ndarray, cell: tuple[int, int, int], axis: int, up: bool, h: Sequence[float]
) -> float | None:
    """kappa in a cell [z, y, x] of an array, from nine columns along an axis, phase 1 being below if `up`."""
    b, d = (n for n in range(3) if n != axis)
    heights = {}
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            at_column = [cell[0], cell[1], cell[2]]
            at_column[2 - b] += i
            at_column[2 - d] += j
            low, high = at_column[2 - axis] - 3, at_column[2 - axis] + 4
            index: list[int | slice] = list(at_column)
            index[2 - axis] = slice(low, high)
            column = f[tuple(index)]
            one = height(list(column if up else column[::-1]))
            if one is None:
                return None
            heights[i, j] = one * h[axis]
    if abs(heights[0, 0]) > 1.5 * h[axis]:
        return None
    x, y = (heights[1, 0] - heights[-1, 0]) / 2 / h[b], (heights[0, 1] - heights[0, -1]) / 2 / h[d]
    weights = {-1: 0.2 / 1.4, 0: 1 / 1.4, 1: 0.2 / 1.4}
    xx = sum(w * (heights[1, j] - 2 * heights[0, j] + heights[-1, j]) for j, w in weights.items()) / h[b] ** 2
    yy = sum(w * (heights[i, 1] - 2 * heights[i, 0] + heights[i, -1]) for i, w in weights.items()) / h[d] ** 2
    xy = sum(i * j * heights[i, j] for i in (-1, 1) for j in (-1, 1)) / 4 / h[b] / h[d]
    return -(xx * (1 + y * y) + yy * (1 + x * x) - 2 * xy * x * y) / (1 + x * x + y * y) ** 1.5
