"""Index transforms between charts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from taskflow.runtime.regions.box import Box, Triple, triple


@dataclass(frozen=True, slots=True)
class Turn:
    """Cells of one chart as cells of another. Along direction a of the first runs direction b = |axes[a]| - 1 of the
    second, and cell c[a] is cell c[a] + shift[b] of it where axes[a] > 0, cell shift[b] - c[a] where axes[a] < 0.

    `axes` are signed as those of a CGNS Transform: (-2, 3, 1).
    """

    axes: Triple
    shift: Triple

    def __call__(self, cells: Box) -> Box:
        """The images of a box of cells."""
        return self._image(cells, lambda at, lo, hi: (at - hi + 1, at - lo + 1))

    def vertices(self, box: Box) -> Box:
        """The images of a box of vertices; vertex (i, j, k) is the low corner of cell (i, j, k)."""
        return self._image(box, lambda at, lo, hi: (at - hi + 2, at - lo + 2))

    def _image(self, box: Box, reverse: Callable[[int, int, int], tuple[int, int]]) -> Box:
        lo, hi = [0, 0, 0], [0, 0, 0]
        for a, axis in enumerate(self.axes):
            b = abs(axis) - 1
            at, first, last = self.shift[b], box.lo[a], box.hi[a]
            lo[b], hi[b] = (first + at, last + at) if axis > 0 else reverse(at, first, last)
        return Box(triple(lo), triple(hi))

    @property
    def inverse(self) -> Turn:
        axes, shift = [0, 0, 0], [0, 0, 0]
        for a, axis in enumerate(self.axes):
            b = abs(axis) - 1
            axes[b] = a + 1 if axis > 0 else -a - 1
            shift[a] = -self.shift[b] if axis > 0 else self.shift[b]
        return Turn(triple(axes), triple(shift))

    def oriented(self, values: np.ndarray) -> np.ndarray:
        """Values [..., k, j, i] of images, in the order of what they are images of."""
        lead = values.ndim - 3
        target = [abs(axis) - 1 for axis in self.axes]
        order = [lead + 2 - target[a] for a in (2, 1, 0)]
        turned = values.transpose(*range(lead), *order)
        return np.flip(turned, tuple(lead + 2 - a for a in range(3) if self.axes[a] < 0))


def determinant(axes: Triple) -> int:
    """1 where the signed axes are a rotation, -1 where they are a reflection, 0 where they are neither."""
    matrix = np.zeros((3, 3), int)
    for a, axis in enumerate(axes):
        if not 1 <= abs(axis) <= 3:
            return 0
        matrix[abs(axis) - 1, a] = 1 if axis > 0 else -1
    return round(float(np.linalg.det(matrix)))


def rotations() -> list[Triple]:
    """The signed axes of all 24 rotations, the identity first."""
    signed = product(permutations((1, 2, 3)), product((1, -1), repeat=3))
    axes = [triple(n * sign for n, sign in zip(order, signs, strict=True)) for order, signs in signed]
    return [candidate for candidate in axes if determinant(candidate) == 1]
