"""Bodies across periodic sides: their images continue on the other side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from taskflow.flow import StaggeredGrid
from taskflow.geometry import Pose, Shape, Vector, placed
from taskflow.runtime.regions import triple

STILL = Pose((0.0, 0.0, 0.0))
CLOSE = 1e-9  # of the extent of the domain: a shape that crosses a side by less ends on it


def is_over(shape: Shape, grid: StaggeredGrid) -> tuple[bool, bool, bool]:
    """Return for each direction True if it is periodic and a shape crosses a side of the domain."""
    return triple(any(shift[axis] for shift in shifts(shape, grid, CLOSE)) for axis in range(3))


def over_sides(shapes: Sequence[Shape], grid: StaggeredGrid) -> frozenset[int]:
    """Return the numbers, from 1, of the shapes at rest that cross periodic sides."""
    return frozenset(n for n, shape in enumerate(shapes, start=1) if any(is_over(shape, grid)))


def continued(shape: Shape, grid: StaggeredGrid) -> Shape:
    """Return a shape at rest, with its images if it crosses periodic sides."""
    images = shifts(shape, grid, CLOSE)
    return placed(shape, STILL, images) if len(images) > 1 else shape


def shifts(shape: Shape, grid: StaggeredGrid, close: float = 0.0) -> tuple[Vector, ...]:
    """Return the shifts of a shape and of its images that reach into the domain.

    A shape as wide as the domain has no images along that direction, unless it is round there: such bodies span the
    domain, or are part of a larger surface.
    """
    along = []
    for axis, (low, high) in enumerate(zip(*shape.bounds, strict=True)):
        start, length, wide = grid.origin[axis], grid.lengths[axis], high - low
        if not grid.periodic[axis] or not math.isfinite(wide) or (wide >= length and not shape.is_round(axis)):
            along.append([0.0])
            continue
        low, high = low + close * length, high - close * length
        first, last = math.floor((start - high) / length) + 1, math.ceil((start - low) / length)
        along.append([n * length for n in range(first, last + 1)])
    return tuple(map(triple, product(*along)))
