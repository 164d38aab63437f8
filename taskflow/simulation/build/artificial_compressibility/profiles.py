"""Parabolic profiles of what enters through sides of a grid that are rectangles or discs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taskflow.errors import BadInput
from taskflow.geometry.grids import MultiBlockGrid, Patch, faces

FLAT = 1e-6  # of the size of a side: how far from a plane, a rectangle or a circle its vertices may lie
PROFILE = 'profile = "parabolic"'
REMEDY = "leave it out, and give velocity as expressions"


def parabolic(grid: MultiBlockGrid, patches: Sequence[Patch], mean: np.ndarray) -> list[np.ndarray]:
    """The velocities [xyz, ...] in the faces of each patch of a side, whose mean over it is `mean` to rounding.

    Over a disc of radius R they are 2 (1 - r^2 / R^2) of it, over a rectangle 3/2 (1 - s^2) along each direction in
    which it is more than a cell wide, with s from -1 to 1. Raises BadInput where the side is neither.
    """
    corners = np.concatenate([grid.charts[p.chart].at(p.vertices).reshape(3, -1) for p in patches], axis=1).T
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
    geometry = [faces(grid, patch) for patch in patches]
    normal = sum(areas.reshape(3, -1).sum(axis=1) for _, areas in geometry)
    size, area = float(np.linalg.norm(np.ptp(corners, axis=0))), float(np.linalg.norm(normal))
    if np.abs((corners - middle) @ normal).max() > FLAT * size * area or area == 0:
        raise BadInput(f"{PROFILE} needs a plane side; {REMEDY}")
    outline = _outline(grid, patches) - middle
    away = [centres - middle[:, None, None] for centres, _ in geometry]
    shares = _over_disc(away, outline, size) or _over_rectangle(away, outline, size, *_edges(grid, patches[0]))
    sizes = [np.sqrt((areas**2).sum(axis=0)) for _, areas in geometry]
    total = sum((share * area).sum() for share, area in zip(shares, sizes, strict=True))
    scale = sum(area.sum() for area in sizes) / total
    return [mean[:, None, None] * (scale * share) for share in shares]


def _outline(grid: MultiBlockGrid, patches: Sequence[Patch]) -> np.ndarray:
    """The vertices [n, xyz] at which a side ends, around holes, too: those of edges that one patch alone has, and that
    once. What is joined has the same vertices to the bit.
    """
    starts, ends = [], []
    for patch in patches:
        x = grid.charts[patch.chart].at(patch.vertices).squeeze(3 - patch.axis)
        for line in (x[:, 0], x[:, -1], x[:, :, 0], x[:, :, -1]):
            starts.append(line[:, :-1])
            ends.append(line[:, 1:])
    points, numbers = np.unique(np.concatenate([*starts, *ends], axis=1).T, axis=0, return_inverse=True)
    edges = np.sort(numbers.reshape(2, -1), axis=0)
    edges, counts = np.unique(edges[:, edges[0] != edges[1]], axis=1, return_counts=True)
    return np.asarray(points[np.unique(edges[:, counts == 1])])


def _edges(grid: MultiBlockGrid, patch: Patch) -> tuple[np.ndarray, np.ndarray]:
    """Two edges [n, xyz] of a patch; in which of these directions it is more than a cell wide."""
    x = grid.charts[patch.chart].at(patch.vertices).squeeze(3 - patch.axis)
    return np.stack([x[:, -1, 0] - x[:, 0, 0], x[:, 0, -1] - x[:, 0, 0]]), np.array(x.shape[1:]) > 2


def _over_disc(away: Sequence[np.ndarray], outline: np.ndarray, size: float) -> list[np.ndarray]:
    """The profile, but for a factor, at places [xyz, ...] from the middle; none where the outline is no circle."""
    if len(outline) <= 4:  # as a rectangle has
        return []
    points = outline / size
    equations = np.column_stack([2 * points, np.ones(len(points))])  # 2 x.c + r^2 - c^2 = x^2
    centre = size * np.linalg.lstsq(equations, (points**2).sum(axis=1))[0][:3]
    distances = np.linalg.norm(outline - centre, axis=1)
    radius = distances.max()
    if distances.min() < radius - FLAT * size:
        return []
    squares = (((place - centre[:, None, None]) ** 2).sum(axis=0) for place in away)
    return [np.maximum(1 - square / radius**2, 0.0) for square in squares]


def _over_rectangle(
    away: Sequence[np.ndarray], outline: np.ndarray, size: float, edges: np.ndarray, wide: np.ndarray
) -> list[np.ndarray]:  # fmt: skip
    """As `_over_disc` of a rectangle with edges in these directions, `wide` where there is a profile along one. Raises
    BadInput where the outline is none.
    """
    lengths = np.linalg.norm(edges, axis=1, keepdims=True)
    along = edges / np.maximum(lengths, FLAT * size)
    apart = np.abs(outline @ along.T)
    reach = apart.max(axis=0)
    if abs(along[0] @ along[1]) > FLAT or (apart < reach - FLAT * size).all(axis=1).any() or reach.min() < FLAT * size:
        raise BadInput(f"{PROFILE} is of sides that are rectangles or discs, without holes; {REMEDY}")
    places = [np.tensordot(along, place, 1) / reach[:, None, None] for place in away]
    return [np.prod(np.maximum(1 - s**2, 0.0), axis=0, where=wide[:, None, None]) for s in places]
