"""One-sided derivatives of fifth order: WENO5 (G.-S. Jiang, D. Peng 2000, SIAM J. Sci. Comput. 21, 2126)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.reference.shifted import Shifted


def weno(v: Sequence[np.ndarray]) -> np.ndarray:
    """The derivative from five differences, of which the third is beside the point, upwind (Jiang & Peng)."""
    a, b, c, d, e = v
    candidates = a / 3 - 7 * b / 6 + 11 * c / 6, -b / 6 + 5 * c / 6 + d / 3, c / 3 + 5 * d / 6 - e / 6
    rough = (
        13 / 12 * (a - 2 * b + c) ** 2 + (a - 4 * b + 3 * c) ** 2 / 4,
        13 / 12 * (b - 2 * c + d) ** 2 + (b - d) ** 2 / 4,
        13 / 12 * (c - 2 * d + e) ** 2 + (3 * c - 4 * d + e) ** 2 / 4,
    )
    least = 1e-6 * np.max([w**2 for w in v], axis=0) + (1e-99 if a.dtype == np.float64 else 1e-18)
    weights = [share / (s + least) ** 2 for share, s in zip((0.1, 0.6, 0.3), rough, strict=True)]
    return sum(w * q for w, q in zip(weights, candidates, strict=True)) / sum(weights)


def upwind_slope(q: Shifted, speed: np.ndarray, b: int, h: float, known: tuple[int, int] | None) -> np.ndarray:
    """dq/db by WENO5 from the side that the flow comes from; `known` are the places of the first and of the last
    difference of neighbours, that with the next one along b, which beyond them repeat.
    """
    axis, place = 2 - b, np.arange(q.box.lo[b], q.box.hi[b])
    z, y, _, x = q.box.slices(q.origin)
    rows = tuple(slice(None) if n == axis else inside for n, inside in enumerate((z, y, x)))
    changes = np.diff(q.array.astype(np.float64), axis=axis)[rows]
    places = (place + n if known is None else np.clip(place + n, *known) for n in range(-3, 3))
    d = [np.take(changes, at - q.origin[b], axis=axis) / h for at in places]
    return np.where(speed > 0, weno(d[:5]), weno(d[:0:-1]))
