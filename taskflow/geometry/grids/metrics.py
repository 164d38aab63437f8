"""Metrics from vertices, in double precision: areas of faces and volumes of cells."""

from __future__ import annotations

import numpy as np

LAYER = 1 << 20  # cells whose volumes are computed in one go


def areas(vertices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the area vectors of faces across i [xyz, k, j, i + 1], j and k, which point along the index.

    A face with the vertices a, b, c, d in order has S = (c - a) x (d - b) / 2. The six of a cell sum to zero to
    rounding. The bits are the same, but for the sign, with which vertex and which way round one ever begins: the same
    on both sides of a seam.
    """
    x = vertices
    across_i = area(x[:, :-1, :-1], x[:, :-1, 1:], x[:, 1:, 1:], x[:, 1:, :-1])
    across_j = area(x[:, :-1, :, :-1], x[:, 1:, :, :-1], x[:, 1:, :, 1:], x[:, :-1, :, 1:])
    across_k = area(x[:, :, :-1, :-1], x[:, :, :-1, 1:], x[:, :, 1:, 1:], x[:, :, 1:, :-1])
    return across_i, across_j, across_k


def area(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Return the area vectors [xyz, ...] of faces with these vertices in order."""
    return _cross(c - a, d - b) / 2


def _cross(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    return np.stack([p[1] * q[2] - p[2] * q[1], p[2] * q[0] - p[0] * q[2], p[0] * q[1] - p[1] * q[0]])


def _determinant(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
    return np.asarray((p * _cross(q, r)).sum(axis=0))


def volumes(vertices: np.ndarray) -> np.ndarray:
    """Return the volumes [k, j, i] of cells whose faces are bilinear, with the vertices x_n, n = i + 2 j + 4 k:

    12 V = det[(x7 - x1) + (x6 - x0), x7 - x2, x3 - x0] + det[x6 - x0, (x7 - x2) + (x5 - x0), x7 - x4]
         + det[x7 - x1, x5 - x0, (x7 - x4) + (x3 - x0)],

    which is exact (Grandy, UCRL-ID-128886, 1997). Negative in a left-handed chart.
    """
    _, nk, nj, ni = (n - 1 for n in vertices.shape)
    result = np.empty((nk, nj, ni))
    step = max(1, LAYER // (ni * nj))
    for k in range(0, nk, step):
        result[k : k + step] = _volumes(vertices[:, k : k + step + 1])
    return result


def corners(vertices: np.ndarray) -> list[np.ndarray]:
    """Return the vertices [xyz, k, j, i] at the eight corners n = i + 2 j + 4 k of all cells."""
    ends = slice(None, -1), slice(1, None)
    return [vertices[:, ends[n >> 2], ends[n >> 1 & 1], ends[n & 1]] for n in range(8)]


def _volumes(vertices: np.ndarray) -> np.ndarray:
    x0, x1, x2, x3, x4, x5, x6, x7 = corners(vertices)
    a, b, c, d, e, f = x7 - x1, x6 - x0, x7 - x2, x3 - x0, x5 - x0, x7 - x4
    return (_determinant(a + b, c, d) + _determinant(b, c + e, f) + _determinant(a, e, f + d)) / 12


def closure(vertices: np.ndarray) -> np.ndarray:
    """Return the length [k, j, i] of the sum of a cell's six outward area vectors over the sum of their lengths: zero
    to rounding.
    """
    across_i, across_j, across_k = areas(vertices)
    low_high = [
        (across_i[..., :-1], across_i[..., 1:]),
        (across_j[..., :-1, :], across_j[..., 1:, :]),
        (across_k[:, :-1], across_k[:, 1:]),
    ]
    total = np.sqrt((sum(high - low for low, high in low_high) ** 2).sum(axis=0))
    return np.asarray(total / sum(np.sqrt((s**2).sum(axis=0)) for pair in low_high for s in pair))


def thickness(vertices: np.ndarray, directions: int = 3) -> np.ndarray:
    """Return the volume [k, j, i] of cells over the largest of their low faces across the first directions."""
    i, j, k = areas(vertices)
    squares = [(low**2).sum(axis=0) for low in (i[..., :-1], j[..., :-1, :], k[:, :-1])]
    return np.asarray(volumes(vertices) / np.sqrt(np.max(squares[:directions], axis=0)))
