"""Values at points, linear between the eight places around each at which a field has values."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from taskflow.flow.grid import StaggeredGrid
from taskflow.runtime.regions import Location


@dataclass(frozen=True, eq=False)
class Corners:
    """The `cells` [point, corner, axis] around points and their `weights` [point, corner]: the value at a point is the
    weighted sum over its corners.
    """

    cells: np.ndarray
    weights: np.ndarray


def corners(grid: StaggeredGrid, location: Location, points: np.ndarray) -> Corners:
    """Return the corners for a field at `location` and the `points` [point, axis] of the domain.

    Beyond the last place before a boundary the value is the one there; periodic directions go round.
    """
    sides = [_sides(grid, location, axis, points[:, axis]) for axis in range(3)]
    cells, weights = [], []
    for ends in product((0, 1), repeat=3):
        chosen = [sides[axis][end] for axis, end in enumerate(ends)]
        cells.append(np.stack([cell for cell, _ in chosen], axis=1))
        weights.append(chosen[0][1] * chosen[1][1] * chosen[2][1])
    return Corners(np.stack(cells, axis=1), np.stack(weights, axis=1))


Side = tuple[np.ndarray, np.ndarray]  # cells, and their weights


def _sides(grid: StaggeredGrid, location: Location, axis: int, x: np.ndarray) -> tuple[Side, Side]:
    """Return the cells below and above each place x along an axis, with their weights."""
    places = grid.coordinates(location, axis)
    numbers = np.arange(len(places))
    if grid.periodic[axis]:
        length = grid.lengths[axis]
        places = np.concatenate(([places[-1] - length], places, [places[0] + length]))
        numbers = np.concatenate((numbers[-1:], numbers, numbers[:1]))
    if len(places) == 1:
        return (np.zeros(len(x), int), np.ones(len(x))), (np.zeros(len(x), int), np.zeros(len(x)))
    below = np.clip(np.searchsorted(places, x, "right") - 1, 0, len(places) - 2)
    above = np.clip((x - places[below]) / (places[below + 1] - places[below]), 0.0, 1.0)
    return (numbers[below], 1.0 - above), (numbers[below + 1], above)
