"""Parabolic profiles of what enters through rectangular and round sides."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taskflow.errors import BadInput
from taskflow.geometry.grids import MultiBlockGrid, Patch, faces

FLAT = 1e-6  # of the size of a side: how far from a plane, a rectangle or a circle its vertices may lie


def parabolic(grid: MultiBlockGrid, patches: Sequence[Patch], mean: np.ndarray) -> list[np.ndarray]:
    """The velocities [xyz, ...] in the faces of each patch of a side, whose mean over it is `mean` to rounding.

    Over a circle of radius R they are 2 (1 - r^2 / R^2) of it, over a rectangle 3/2 (1 - s^2) along each direction in
    which it is more than a cell wide, with s from -1 to 1. Raises BadInput where the side is neither.
    """
    corners = np.concatenate([grid.charts[p.chart].at(p.vertices).reshape(3, -1) for p in patches], axis=1).T
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
    geometry = [faces(grid, patch) for patch in patches]
    normal = sum(areas.reshape(3, -1).sum(axis=1) for _, areas in geometry)
    normal = normal / np.linalg.norm(normal)
    size = float(np.linalg.norm(np.ptp(corners, axis=0)))
    if np.abs((corners - middle) @ normal).max() > FLAT * size:
        raise BadInput('profile = "parabolic" needs a plane side; give velocity as expressions')
    shares = [_share(centres, corners, middle, normal, size, _wide(grid, patches)) for centres, _ in geometry]
    sizes = [np.sqrt((areas**2).sum(axis=0)) for _, areas in geometry]
    total = sum((share * area).sum() for share, area in zip(shares, sizes, strict=True))
    scale = sum(area.sum() for area in sizes) / total
    return [mean[:, None, None] * (scale * share) for share in shares]


def _wide(grid: MultiBlockGrid, patches: Sequence[Patch]) -> np.ndarray:
    """The directions [n, xyz], of length one, in which a side is more than a cell wide: of its first patch."""
    patch = patches[0]
    x = grid.charts[patch.chart].at(patch.vertices).squeeze(3 - patch.axis)
    edges = [x[:, -1, 0] - x[:, 0, 0]] * (x.shape[1] > 2) + [x[:, 0, -1] - x[:, 0, 0]] * (x.shape[2] > 2)
    return np.array([edge / np.linalg.norm(edge) for edge in edges]).reshape(-1, 3)


def _share(
    at: np.ndarray, corners: np.ndarray, middle: np.ndarray, normal: np.ndarray, size: float, along: np.ndarray
) -> np.ndarray:  # fmt: skip
    """The profile at some places [xyz, ...], but for a factor."""
    away = corners - middle
    radius = np.linalg.norm(away, axis=1).max()
    if _is_round(away, radius, size):
        square = ((at - middle[:, None, None]) ** 2).sum(axis=0)
        return np.maximum(1 - square / radius**2, 0.0)
    if not len(along):
        return np.ones(at.shape[1:])
    if len(along) == 2 and abs(along[0] @ along[1]) > FLAT:
        raise BadInput('profile = "parabolic" is of rectangular and round sides; give velocity as expressions')
    share = np.ones(at.shape[1:])
    for direction in along:
        reach = away @ direction
        s = np.tensordot(direction, at - middle[:, None, None], 1) / np.abs(reach).max()
        share = share * np.maximum(1 - s**2, 0.0)
    return share


def _is_round(away: np.ndarray, radius: float, size: float) -> bool:
    """Whether the outermost vertices lie on a circle: no more than a corner of a rectangle would in each octant."""
    outermost = np.linalg.norm(away, axis=1) > radius - FLAT * size
    return int(outermost.sum()) > 4
