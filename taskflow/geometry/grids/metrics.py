"""Measures of cells from vertices [xyz, k, j, i], in double precision."""

from __future__ import annotations

import numpy as np

from taskflow.hexahedra import cell_volumes, face_areas


def closure(vertices: np.ndarray) -> np.ndarray:
    """Return the length [k, j, i] of the sum of a cell's six outward area vectors over the sum of their lengths: zero
    to rounding.
    """
    across_i, across_j, across_k = (face_areas(vertices, axis) for axis in range(3))
    low_high = [
        (across_i[..., :-1], across_i[..., 1:]),
        (across_j[..., :-1, :], across_j[..., 1:, :]),
        (across_k[:, :-1], across_k[:, 1:]),
    ]
    total = np.sqrt((sum(high - low for low, high in low_high) ** 2).sum(axis=0))
    return np.asarray(total / sum(np.sqrt((s**2).sum(axis=0)) for pair in low_high for s in pair))


def thickness(vertices: np.ndarray, directions: int = 3) -> np.ndarray:
    """Return the volume [k, j, i] of cells over the largest of their low faces across the first directions."""
    i, j, k = (face_areas(vertices, axis) for axis in range(3))
    squares = [(low**2).sum(axis=0) for low in (i[..., :-1], j[..., :-1, :], k[:, :-1])]
    return np.asarray(cell_volumes(vertices) / np.sqrt(np.max(squares[:directions], axis=0)))
