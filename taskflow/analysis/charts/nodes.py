"""Vertices of all charts, each once: charts share those on their seams."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product

import numpy as np

ENDS = (slice(None, -1), slice(1, None))  # of the vertices of cells along a direction


def numbered(parts: Sequence[np.ndarray], marked: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the places [n, xyz] of those vertices [xyz, k, j, i] of charts that are marked, each once, and for each
    chart their numbers [k, j, i], -1 of the others.
    """
    places = np.concatenate([x[:, at].T for x, at in zip(parts, marked, strict=True)]) + 0.0  # there is no -0
    nodes, names = np.unique(places, axis=0, return_inverse=True)
    numbers, first = [], 0
    for at in marked:
        number, count = np.full(at.shape, -1), int(at.sum())
        number[at] = names.reshape(-1)[first : first + count]
        numbers.append(number)
        first += count
    return nodes, numbers


def corners_of(number: np.ndarray) -> np.ndarray:
    """Return the numbers [8, cells] of the vertices of cells at the corners n = i + 2 j + 4 k."""
    return np.stack([number[k, j, i].ravel() for k, j, i in product(ENDS, repeat=3)])


def means(corners: Sequence[np.ndarray], values: Iterable[np.ndarray]) -> np.ndarray:
    """Return the means at vertices over the cells around: of values [k, j, i] in the cells of each chart, by the
    numbers of their corners, -1 of those not needed.
    """
    count = 1 + max(int(at.max(initial=-1)) for at in corners)
    total, cells = np.zeros(count), np.zeros(count)
    for numbers, of_chart in zip(corners, values, strict=True):
        for at in numbers:
            needed = at >= 0
            total += np.bincount(at[needed], of_chart.ravel()[needed], count)
            cells += np.bincount(at[needed], minlength=count)
    return np.asarray(total / cells)
