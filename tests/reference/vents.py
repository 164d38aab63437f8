"""Vents in NumPy: the normal velocity on a face, and values in the ghost cells beyond it."""

from __future__ import annotations

import numpy as np


def resisted(
    q_new: np.ndarray, q: np.ndarray, p: np.ndarray, sign: int, dt: float, h: float, loss: float,
    density: np.ndarray | float = 1.0,
) -> np.ndarray:  # fmt: skip
    """(q_new + back) / (1 + dt k |q| / h) - back, back = sign dt p / (density h / 2): the drag applies to a velocity
    with the last pressure. k is the loss where fluid leaves, 1 more where it enters.
    """
    k, back = np.where(sign * q > 0, loss, loss + 1), sign * dt * p / (density * h / 2)
    return (q_new + back) / (1 + dt * k * abs(q) / h) - back


def entered(inside: np.ndarray, q: np.ndarray, sign: int, factor: float, value: float) -> np.ndarray:
    """Ghost values: factor inside + value where fluid enters, else the value inside."""
    return np.where(sign * q < 0, factor * inside + value, inside)
