"""Particles that are carried: where they are in cells, what a field has there, and where a step leads them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taskflow.flow.grid import StaggeredGrid

Between = tuple[np.ndarray, np.ndarray]  # the number of the value before, and the share of the way to the next one


def inside(grid: StaggeredGrid, axis: int, x: np.ndarray) -> Between:
    """The cells in which places along an axis are, and how far these lie behind their low faces, over their widths."""
    faces, last = grid.faces(axis), grid.cells[axis] - 1
    if grid.uniform[axis]:
        s = (x - faces[0]) / grid.spacing[axis]
        cells = np.clip(s, 0, last).astype(int)
        return cells, s - cells
    cells = np.clip(np.searchsorted(faces, x, "right") - 1, 0, last)
    return cells, (x - faces[cells]) / (faces[cells + 1] - faces[cells])


def between(grid: StaggeredGrid, axis: int, x: np.ndarray, *, faces: bool, beyond: bool) -> Between:
    """Places among the values of a field along an axis, on faces or in centres; `beyond` the last one before a boundary
    there are ghost values, or else its own goes on.
    """
    cells, share = inside(grid, axis, x)
    if faces:
        return cells, share
    if grid.uniform[axis]:
        first, part = np.where(share < 0.5, cells - 1, cells), np.where(share < 0.5, share + 0.5, share - 0.5)
    else:
        places = grid.coordinates("corner", axis, -3, grid.cells[axis] + 4)[2:-2]  # as many as kernels know: to the bit
        centres = 0.5 * (places[:-1] + places[1:])  # from that of cell -1 on
        first = np.where(x < centres[cells + 1], cells - 1, cells)
        part = (x - centres[first + 1]) / (centres[first + 2] - centres[first + 1])
    if beyond or grid.periodic[axis]:
        return first, part
    last = grid.cells[axis] - 1
    part = np.where(first < 0, 0.0, np.where(first < last, part, 1.0 if last else 0.0))
    return np.clip(first, 0, max(last - 1, 0)), part


def linear(grid: StaggeredGrid, q: np.ndarray, across: int, x: np.ndarray) -> np.ndarray:
    """The values at places [n, axis] of a field q [z, y, x], with a ghost layer, on faces across an axis; or in centres
    (-1), where no ghost value beyond a boundary is used.
    """
    beyond = across >= 0
    (i, a), (j, b), (k, c) = (between(grid, n, x[:, n], faces=n == across, beyond=beyond) for n in range(3))

    def along(y: int, z: int) -> np.ndarray:
        return _mean(q[k + 1 + z, j + 1 + y, i + 1], q[k + 1 + z, j + 1 + y, i + 2], a)

    low, high = (_mean(along(0, z), along(1, z), b) for z in (0, 1))
    return _mean(low, high, c)


def _mean(low: np.ndarray, high: np.ndarray, share: np.ndarray) -> np.ndarray:
    result: np.ndarray = (1.0 - share) * low + share * high
    return result


def contained(grid: StaggeredGrid, axis: int, x: np.ndarray, opened: tuple[bool, bool]) -> np.ndarray:
    """Places along an axis after a move, where they may be: NaN beyond a side that is `opened`, the low or the high one.
    """
    low, high = grid.faces(axis)[[0, -1]]
    if grid.periodic[axis]:
        length = high - low
        x = np.where(x < low, x + length, np.where(x >= high, x - length, x))
        return np.where((x >= low) & (x < high), x, low)
    mirrored = np.clip(np.where(x < low, low - (x - low), np.where(x > high, high - (x - high), x)), low, high)
    return np.where((x < low) & opened[0] | (x > high) & opened[1], np.nan, mirrored)


def carried(
    grid: StaggeredGrid, velocity: Sequence[np.ndarray], position: np.ndarray, before: np.ndarray, dt: float, ratio: float
) -> tuple[np.ndarray, np.ndarray]:
    """Places [n, axis] after a step of dt, `ratio` times the last one, among walls and periodic sides, and the velocity
    before it at them; `before` is that of the last step, NaN where there was none. The `velocity` [z, y, x] has a ghost
    layer.
    """
    here = np.stack([linear(grid, q, axis, position) for axis, q in enumerate(velocity)], axis=1)
    past = np.where(np.isnan(before), here, before)
    moved = position + (dt * (1 + ratio / 2) * here - dt * (ratio / 2) * past)
    columns = (contained(grid, axis, moved[:, axis], (False, False)) for axis in range(3))
    return np.stack([*columns], axis=1), here
