"""Parabolic inflow profiles on sides of a grid that are rectangles or discs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from taskflow.cases.tables.charts.sides import ChartSide
from taskflow.common.errors import BadInput
from taskflow.geometry.grids import MultiBlockGrid, Patch, faces

FLAT = 1e-6  # of the size of a side: tolerance of its vertices to a plane, a rectangle or a circle
PROFILE = 'profile = "parabolic"'
REMEDY = "omit it, and give velocity as expressions"
Faces = tuple[np.ndarray, np.ndarray]  # middles and areas [xyz, ...]


def parabolic(
    grid: MultiBlockGrid, patches: Sequence[Patch], walls: Sequence[Patch], mean: np.ndarray
) -> list[np.ndarray]:  # fmt: skip
    """Return the velocities [xyz, ...] in the faces of each patch of a side, with the mean `mean` to rounding.

    Over a disc of radius R the profile is 2 (1 - r^2 / R^2) times the mean. Over a rectangle it is 3/2 (1 - s^2) along
    each direction in which it is more than a cell wide, with s from -1 to 1 between two walls, to 0 if the other end is
    not a wall, and uniform without walls at its ends. Raises BadInput if the side is neither.
    """
    geometry = [faces(grid, patch) for patch in patches]
    shares, _ = _shares(grid, patches, walls, geometry)
    sizes = [np.sqrt((areas**2).sum(axis=0)) for _, areas in geometry]
    total = sum((share * area).sum() for share, area in zip(shares, sizes, strict=True))
    scale = sum(area.sum() for area in sizes) / total
    return [mean[:, None, None] * (scale * share) for share in shares]


def largest(grid: MultiBlockGrid, patches: Sequence[Patch], walls: Sequence[Patch]) -> float:
    """Return the largest of these velocities over their mean, also between faces. Raises BadInput as `parabolic`."""
    return _shares(grid, patches, walls, [faces(grid, patch) for patch in patches])[1]


def walls_of(grid: MultiBlockGrid, sides: Mapping[str, ChartSide]) -> list[Patch]:
    return [patch for name, side in sides.items() if side.kind.solid for patch in grid.sides.get(name, ())]


def _shares(
    grid: MultiBlockGrid, patches: Sequence[Patch], walls: Sequence[Patch], geometry: Sequence[Faces]
) -> tuple[list[np.ndarray], float]:
    """Return the velocities over the largest one, in the faces of each patch, and the largest one over the mean."""
    corners = np.concatenate([grid.charts[p.chart].at(p.vertices).reshape(3, -1) for p in patches], axis=1).T
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
    normal = sum(areas.reshape(3, -1).sum(axis=1) for _, areas in geometry)
    size, area = float(np.linalg.norm(np.ptp(corners, axis=0))), float(np.linalg.norm(normal))
    if np.abs((corners - middle) @ normal).max() > FLAT * size * area or area == 0:
        raise BadInput(f"{PROFILE} needs a plane side; {REMEDY}")
    edges, at_walls = _outline(grid, patches, walls)
    outline = np.unique(edges.reshape(-1, 3), axis=0) - middle
    away = [centres - middle[:, None, None] for centres, _ in geometry]
    if shares := _over_disc(away, outline, size):
        return shares, 2.0
    along, wide = _directions(grid, patches[0], FLAT * size)
    reach = _reach(outline, along, size)
    ends = (edges.mean(axis=0) - middle) @ along.T
    low, high = (wide & (side * ends > reach - FLAT * size)[at_walls].any(axis=0) for side in (-1, 1))
    shares = [_over_rectangle(np.tensordot(along, place, 1) / reach[:, None, None], low, high) for place in away]
    return shares, 1.5 ** int((low | high).sum())


def _outline(
    grid: MultiBlockGrid, patches: Sequence[Patch], walls: Sequence[Patch]
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the edges [end, n, xyz] at which a side ends, also around holes, and True for edges shared with walls.
    They belong to a single patch, once, as joined patches have bitwise identical vertices.
    """
    own, others = _rims(grid, patches), _rims(grid, walls)
    points, numbers = np.unique(np.concatenate([own, others], axis=1).reshape(-1, 3), axis=0, return_inverse=True)
    edges = np.sort(numbers.reshape(2, -1), axis=0)
    names = edges[0] * len(points) + edges[1]
    own, others = names[: own.shape[1]], names[own.shape[1] :]
    own, counts = np.unique(own[edges[0, : own.size] != edges[1, : own.size]], return_counts=True)
    own = own[counts == 1]
    return points[np.stack(np.divmod(own, len(points)))], np.isin(own, others)


def _rims(grid: MultiBlockGrid, patches: Sequence[Patch]) -> np.ndarray:
    """Return the edges [end, n, xyz] around patches."""
    edges = [np.empty((2, 0, 3))]
    for patch in patches:
        x = grid.charts[patch.chart].at(patch.vertices).squeeze(3 - patch.axis)
        lines = (line.T for line in (x[:, 0], x[:, -1], x[:, :, 0], x[:, :, -1]))
        edges.extend(np.stack([line[:-1], line[1:]]) for line in lines)
    return np.concatenate(edges, axis=1)


def _directions(grid: MultiBlockGrid, patch: Patch, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Return unit directions [n, xyz] of a patch's edges, of at least `least`, and True if more than a cell wide."""
    x = grid.charts[patch.chart].at(patch.vertices).squeeze(3 - patch.axis)
    edges = np.stack([x[:, -1, 0] - x[:, 0, 0], x[:, 0, -1] - x[:, 0, 0]])
    return edges / np.maximum(np.linalg.norm(edges, axis=1, keepdims=True), least), np.array(x.shape[1:]) > 2


def _over_disc(away: Sequence[np.ndarray], outline: np.ndarray, size: float) -> list[np.ndarray]:
    """Return the profile, up to a factor, at [xyz, ...] from the centre; empty if the outline is not a circle."""
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


def _reach(outline: np.ndarray, along: np.ndarray, size: float) -> np.ndarray:
    """Return half the lengths of a rectangle along its edges. Raises BadInput if the outline is not a rectangle."""
    apart = np.abs(outline @ along.T)
    reach = apart.max(axis=0)
    if abs(along[0] @ along[1]) > FLAT or (apart < reach - FLAT * size).all(axis=1).any() or reach.min() < FLAT * size:
        raise BadInput(f"{PROFILE} requires a side that is a rectangle or a disc, without holes; {REMEDY}")
    return np.asarray(reach)


def _over_rectangle(places: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the profile at [direction, ...] from -1 to 1, with walls at the `low` and `high` ends of directions."""
    low, high = low[:, None, None], high[:, None, None]
    s = np.where(low & high, places, (places + np.where(high, 1, -1)) / 2)
    return np.asarray(np.prod(np.maximum(1 - s**2, 0.0), axis=0, where=low | high))
