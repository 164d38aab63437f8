"""Moving formulas: only the box of their cells at rest is moved."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.geometry import Pointwise, Vector
from taskflow.runtime.regions import triple
from taskflow.systems.bodies.solids import Solids, pieces


@dataclass(frozen=True)
class Bounded(Pointwise):
    """A shape that lies in a box."""

    shape: Pointwise
    box: tuple[Vector, Vector]

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        return self.box

    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return self.shape.contains(x, y, z)

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return self.shape.distance(x, y, z)


def bounded(shape: Pointwise, grid: StaggeredGrid) -> Pointwise:
    """Return the shape with the box around its cells and adjacent ones, unbounded along directions in which it spans
    the domain. A shape without cells is returned unchanged.
    """
    solids, marked = Solids(grid, (shape,)), [np.zeros(n, bool) for n in grid.cells]
    for piece in pieces(grid.box):
        mask = solids.mask(piece)
        for axis in range(3):
            others = tuple(2 - other for other in range(3) if other != axis)
            marked[axis][piece.lo[axis] : piece.hi[axis]] |= mask.any(axis=others)
    if not marked[0].any():
        return shape
    low, high = [], []
    for axis, cells in enumerate(marked):
        first, last = int(np.argmax(cells)), int(cells.size - np.argmax(cells[::-1]))
        whole, faces, width = first == 0 and last == cells.size, grid.faces(axis), grid.widths(axis)
        low.append(-math.inf if whole else float(faces[first] - width[first]))
        high.append(math.inf if whole else float(faces[last] + width[last - 1]))
    return Bounded(shape, (triple(low), triple(high)))
