"""Shares of cells in which phi is positive, by recursive halving of the boxes that its zero may cross."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

Phi = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

FINEST = {1: 6, 2: 5, 3: 3}  # halvings by the number of directions that are divided
SLACK = 1.5  # phi may change by so much more in a box than between its corners, and its zero still be seen
PIECE = 1 << 18  # boxes that are divided at a time
ON_FACE = 1e-9  # spacings by which a face on the interface is off it
LEAST = 2e-6  # share of phase 2 in a cell that the interface cuts: twice FULL of `plane.h`


def shares(
    phi: Phi, centres: tuple[np.ndarray, np.ndarray, np.ndarray], spacing: tuple[float, float, float],
    divided: tuple[int, ...] = (0, 1, 2), *, bent: bool = False,
) -> np.ndarray:  # fmt: skip
    """Return the share [z, y, x] of each cell in which phi is positive, from 0 to 1.

    Boxes that the zero of phi may cross are halved along the `divided` axes. In the smallest ones phi is a plane, with
    its mean over the box, so that errors of curvature cancel on average: the volume of a circle or a ball with 16 cells
    per diameter is right to 1e-6. A cell's share depends on its centre alone, not on the other cells.

    If the interface is `bent` by surface tension, full cells with a face on it lose 2e-6: only in cells that the
    interface cuts has it a curvature, and a box with its sides on faces of cells would stay a box.
    """
    middle = np.asarray(phi(*centres))
    shape = np.broadcast_shapes(middle.shape, *(np.shape(c) for c in centres))
    middle = np.broadcast_to(middle, shape)
    result = (middle > 0).astype(float)
    corners = _on_corners(phi, centres, np.array(spacing), divided)
    cut = np.flatnonzero(_may_be_cut(middle.reshape(-1), corners.reshape(len(corners), -1)))
    points = np.stack([np.broadcast_to(c, shape).reshape(-1)[cut] for c in centres], axis=1)
    least = max(1, PIECE // 2 ** (FINEST[len(divided)] * (len(divided) - 1)) // 4)
    values = [
        _inside(phi, points[n : n + least], np.array(spacing), divided, FINEST[len(divided)])
        for n in range(0, len(cut), least)
    ]
    found = np.concatenate(values) if values else np.zeros(0)
    if bent:
        on = np.abs(corners.reshape(len(corners), -1)[:, cut]) <= ON_FACE * min(spacing)
        found = np.where(_has_face(on) & (found > 1 - LEAST), 1 - LEAST, found)
    result.reshape(-1)[cut] = found
    return result


def _has_face(corners: np.ndarray) -> np.ndarray:
    """Return True for boxes that have all corners of a face, of flags of their corners [corner, box]."""
    axes = range(int(np.log2(len(corners))))
    cube = corners.reshape(*(2 for _ in axes), -1)
    faces = [cube.take(end, axis).all(axis=tuple(axes)[:-1]) for axis in axes for end in (0, 1)]
    return np.any(faces, axis=0)


def _on_corners(phi: Phi, centres: tuple, h: np.ndarray, divided: tuple[int, ...]) -> np.ndarray:
    """Return phi on the corners of boxes with sides h, corners after each other: the last of the `divided` axes first.
    """
    values = []
    shape = np.broadcast_shapes(*(np.shape(c) for c in centres))
    for signs in product((-0.5, 0.5), repeat=len(divided)):
        shift = _shifted(signs, h, divided)
        values.append(np.broadcast_to(phi(*(c + s for c, s in zip(centres, shift, strict=True))), shape))
    return np.stack(values)


def _shifted(signs: tuple[float, ...], h: np.ndarray, divided: tuple[int, ...]) -> np.ndarray:
    """Return the vector with these parts of h along the `divided` axes, and 0 along the others."""
    shift = np.zeros(3)
    shift[list(divided)] = np.array(signs) * h[list(divided)]
    return shift


def _may_be_cut(middle: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return True for boxes whose corners differ in sign, or where phi is small compared with its changes."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    return (np.minimum(low, middle) <= 0) & (np.maximum(high, middle) > 0) | (2 * np.abs(middle) < SLACK * (high - low))


def _inside(phi: Phi, points: np.ndarray, h: np.ndarray, divided: tuple[int, ...], left: int) -> np.ndarray:
    """Return the shares of boxes with these centres [n, xyz] and sides h, some times halved."""
    x, y, z = points.T[:, :, None, None]
    middle = np.asarray(phi(x, y, z)).reshape(-1) + np.zeros(len(points))
    corners = _on_corners(phi, (x, y, z), h, divided).reshape(2 ** len(divided), -1)
    cut = _may_be_cut(middle, corners)
    result = (middle > 0).astype(float)
    if not cut.any():
        return result
    if left == 0:
        result[cut] = _above_zero(middle[cut], corners[:, cut])
        return result
    smaller = h.copy()
    smaller[list(divided)] /= 2
    shifts = [_shifted(signs, smaller, divided) for signs in product((-0.5, 0.5), repeat=len(divided))]
    parts = _inside(phi, np.concatenate([points[cut] + shift for shift in shifts]), smaller, divided, left - 1)
    result[cut] = parts.reshape(len(shifts), -1).sum(axis=0) / len(shifts)
    return result


def _above_zero(middle: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the share of boxes in which the plane through phi is positive."""
    mean = (2 * middle + corners.mean(axis=0)) / 3  # over the box, of a polynomial of second degree
    axes = range(int(np.log2(len(corners))))
    cube = corners.reshape(*(2 for _ in axes), -1)
    slopes = np.zeros((3, len(middle)))
    for axis in axes:
        slopes[axis] = np.abs(np.diff(cube, axis=axis).reshape(-1, len(middle)).mean(axis=0))
    total = slopes.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        below = plane_volume(slopes / total, 0.5 + mean / total)
    return np.where(total > 0, below, mean > 0)


def plane_volume(m: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return the volume of m . x <= alpha in the unit cube, for m [xyz, ...] >= 0 with the sum 1 (R. Scardovelli, S.
    Zaleski 2000, J. Comput. Phys. 164, 228).
    """
    m1, m2, m3 = np.sort(m, axis=0)
    a = np.clip(np.minimum(alpha, 1 - alpha), 0, 0.5)

    def third(x: np.ndarray) -> np.ndarray:
        """(x^3 - (x - m1)^3) / m1, each where positive, without a difference of large numbers."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(x <= 0, 0.0, np.where(x >= m1, 3 * x * (x - m1) + m1 * m1, x**3 / m1))

    with np.errstate(divide="ignore", invalid="ignore"):
        curved = (third(a) - third(a - m2) - third(a - m3)) / (6 * m2 * m3)
    half = np.where((a >= m1 + m2) & (m1 + m2 <= m3), (2 * a - (m1 + m2)) / (2 * m3), curved)
    return np.where(alpha > 0.5, 1 - half, half)
