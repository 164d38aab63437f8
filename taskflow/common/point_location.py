"""Cells that contain points, and grids of charts one cell thick along an axis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

STEPS, ENOUGH = 20, 1e-10  # of Newton's method; the error that ends it, over the size of a cell
NEAR = 1e-9  # of the extent of a cell or a chart: smaller differences are ignored
GROUP = 8  # cells along each direction of a search group
Cell = tuple[int, int, int, int]  # chart, k, j, i


def cells_around(parts: Iterable[tuple[int, np.ndarray]], points: np.ndarray) -> list[Cell | None]:
    """Return chart, k, j and i of the cell that contains each of the points [n, xyz], or None.

    Cells are trilinear between their vertices. On a face the first cell is returned. `parts` are charts by number and
    vertices.
    """
    cells: list[Cell | None] = [None] * len(points)
    for number, x in parts:
        groups = _widened(_around_groups(x, np.minimum), _around_groups(x, np.maximum))
        for n, point in enumerate(points):
            if cells[n] is None and (place := _cell(x, groups, point)):
                cells[n] = (number, *place)
    return cells


def reach(parts: Iterable[np.ndarray]) -> tuple[list[float], list[float]]:
    """Return the smallest and largest coordinates of positions [xyz, ...], such as vertices of charts."""
    ends = [(x.reshape(3, -1).min(axis=1), x.reshape(3, -1).max(axis=1)) for x in parts]
    return np.min([low for low, _ in ends], axis=0).tolist(), np.max([high for _, high in ends], axis=0).tolist()


def _cell(x: np.ndarray, groups: tuple[np.ndarray, np.ndarray], point: np.ndarray) -> tuple[int, int, int] | None:
    """Return k, j, i of the first cell that contains a point. Bounding boxes of `groups` limit the search."""
    cells = list[list[int]]()
    for first in GROUP * np.argwhere(_between(*groups, point)):
        part = x[:, *(slice(n, n + GROUP + 1) for n in first)]
        boxes = _widened(around_cells(part, np.minimum), around_cells(part, np.maximum))
        cells += (first + np.argwhere(_between(*boxes, point))).tolist()
    for k, j, i in sorted(cells):
        share = shares(x[:, k : k + 2, j : j + 2, i : i + 2], point)
        if share is not None and ((share > -NEAR) & (share < 1 + NEAR)).all():
            return k, j, i
    return None


def _widened(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of boxes with a margin for rounding."""
    margin = 1e-9 * (high - low).max(axis=0)
    return low - margin, high + margin


def _between(low: np.ndarray, high: np.ndarray, point: np.ndarray) -> np.ndarray:
    at = point[:, None, None, None]
    return np.asarray(((low <= at) & (at <= high)).all(axis=0))


def around_cells(x: np.ndarray, extreme: np.ufunc) -> np.ndarray:
    """Return the smallest or largest coordinates [xyz, k, j, i] of the vertices of each cell."""
    for axis in (1, 2, 3):
        x = extreme(np.delete(x, -1, axis), np.delete(x, 0, axis))
    return x


def _around_groups(x: np.ndarray, extreme: np.ufunc) -> np.ndarray:
    """Return the smallest or largest coordinates [xyz, k, j, i] of the vertices of each group of cells."""
    for axis in (1, 2, 3):
        firsts = range(0, x.shape[axis] - 1, GROUP)
        ends = np.moveaxis(extreme.reduceat(x, firsts, axis), axis, 0)
        ends[:-1] = extreme(ends[:-1], np.moveaxis(x.take(firsts[1:], axis), axis, 0))  # where the next one begins
        x = np.moveaxis(ends, 0, axis)
    return x


def shares(corners: np.ndarray, point: np.ndarray) -> np.ndarray | None:
    """Return the local coordinates of a point along k, j and i, between 0 and 1 in the trilinear cell between vertices
    [xyz, 2, 2, 2], or None if Newton's method does not find them between -1 and 2.
    """
    size, share = np.ptp(corners.reshape(3, 8), axis=1).max(), np.full(3, 0.5)
    for _ in range(STEPS):
        weights = np.stack([1 - share, share], axis=1)
        error = np.einsum("xkji,k,j,i->x", corners, *weights) - point
        if np.abs(error).max() <= ENOUGH * size:
            return share
        slopes = [
            np.einsum("xkji,k,j,i->x", corners, *(np.array([-1.0, 1.0]) if a == axis else weights[a] for a in range(3)))
            for axis in range(3)
        ]
        step = np.linalg.lstsq(np.stack(slopes, axis=1), error, rcond=None)[0]
        share = np.clip(share - step, -1.0, 2.0)
    return None


def thin_along(parts: Sequence[np.ndarray]) -> tuple[int, list[int]] | None:
    """Return the axis along which a grid is one cell thick, and the direction of each chart along it, or None.

    Axes 0, 1, 2 are x, y, z, and directions i, j, k. `parts` are the vertices [xyz, k, j, i] of charts.
    """
    for normal in (2, 1, 0):
        thin = [direction for x in parts if (direction := thin_direction(x, normal)) is not None]
        if len(thin) == len(parts):
            return normal, thin
    return None


def thin_direction(x: np.ndarray, normal: int) -> int | None:
    """Return the direction along an axis in which a chart is one cell thick, or None."""
    size = np.ptp(x.reshape(3, -1), axis=1).max()
    for axis in range(3):
        if x.shape[3 - axis] == 2:
            shift = np.delete(np.diff(x, axis=3 - axis), normal, axis=0)
            if np.abs(shift).max() <= NEAR * size:
                return axis
    return None
