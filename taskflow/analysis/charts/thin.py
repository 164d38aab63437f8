"""Grids of charts that are one cell thick along an axis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

NEAR = 1e-9  # of the extent of a chart: what differs by less is the same


def thin_along(parts: Sequence[np.ndarray]) -> tuple[int, list[int]] | None:
    """Return the axis along which a grid is one cell thick, 0, 1, 2 for x, y, z, and the direction of each chart that
    runs along it, 0, 1, 2 for i, j, k; None where there is no such axis. `parts` are the vertices [xyz, k, j, i] of
    charts.
    """
    for normal in (2, 1, 0):
        thin = [direction for x in parts if (direction := thin_direction(x, normal)) is not None]
        if len(thin) == len(parts):
            return normal, thin
    return None


def thin_direction(x: np.ndarray, normal: int) -> int | None:
    """Return the direction of a chart that is one cell thick and runs along an axis; None where there is none."""
    size = np.ptp(x.reshape(3, -1), axis=1).max()
    for axis in range(3):
        if x.shape[3 - axis] == 2:
            shift = np.delete(np.diff(x, axis=3 - axis), normal, axis=0)
            if np.abs(shift).max() <= NEAR * size:
                return axis
    return None
