"""Vertices along a line from 0 to 1: equally spaced, or clustered at one end, both, or in the middle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

HALVINGS = 200
STEEPEST = 500.0  # exp(-500) does not underflow


def equal(cells: int) -> np.ndarray:
    return np.arange(cells + 1) / cells


def both_ends(cells: int, strength: float) -> np.ndarray:
    """Return (1 + tanh(a (2 xi - 1)) / tanh a) / 2 with strength a, equally spaced if a = 0."""
    if not strength:
        return equal(cells)
    half = np.tanh(strength * (2 * equal(cells) - 1)) / np.tanh(strength)
    return _ended((1 + half) / 2)


def in_the_middle(cells: int, strength: float) -> np.ndarray:
    """Return (1 + sinh(a (2 xi - 1)) / sinh a) / 2 with strength a > 0: narrow in the middle."""
    return _ended((1 + np.sinh(strength * (2 * equal(cells) - 1)) / np.sinh(strength)) / 2)


def one_end(cells: int, strength: float) -> np.ndarray:
    """Return 1 + tanh(a (xi - 1)) / tanh a with strength a, narrow at 0 (Vinokur, J. Comput. Phys. 50, 1983). a = 0:
    equal.
    """
    if not strength:
        return equal(cells)
    return _ended(1 + np.tanh(strength * (equal(cells) - 1)) / np.tanh(strength))


def geometric(cells: int, ratio: float) -> np.ndarray:
    """Return vertices with widths that grow by a ratio from 0."""
    if ratio == 1:
        return equal(cells)
    widths = np.exp((np.arange(cells) - cells) * np.log(ratio))
    return _ended(np.concatenate([[0.0], np.cumsum(widths)]) / widths.sum())


def with_first(family: Callable[[int, float], np.ndarray], cells: int, first: float) -> np.ndarray:
    """Return the vertices of a family whose first cell has this width, at most 1 / cells, by bisection."""
    low, high = (1.0, 2.0) if family is geometric else (0.0, 1.0)
    if first >= family(cells, low)[1]:
        return equal(cells)
    while family(cells, high)[1] > first and high < STEEPEST:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if family(cells, middle)[1] > first else (low, middle)
    return family(cells, high)


def _ended(places: np.ndarray) -> np.ndarray:
    places[0], places[-1] = 0.0, 1.0
    return places
