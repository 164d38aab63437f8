"""Bodies over periodic sides: they continue on the other side, by their images."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

from taskflow.flow import StaggeredGrid
from taskflow.geometry import Cylinder, Placed, Pose, Shape, Sphere, Vector, placed
from taskflow.runtime.regions import triple

STILL = Pose((0.0, 0.0, 0.0))
CLOSE = 1e-9  # of the extent of the domain: what reaches no further beyond a side ends on it


def is_over(shape: Shape, grid: StaggeredGrid) -> tuple[bool, bool, bool]:
    """Mark the periodic directions along which a shape reaches over a side of the domain."""
    return triple(any(shift[axis] for shift in shifts(shape, grid, CLOSE)) for axis in range(3))


def over_sides(shapes: Sequence[Shape], grid: StaggeredGrid) -> frozenset[int]:
    """Return the numbers, from 1, of the shapes at rest that continue beyond periodic sides."""
    return frozenset(n for n, shape in enumerate(shapes, start=1) if any(is_over(shape, grid)))


def continued(shape: Shape, grid: StaggeredGrid) -> Shape:
    """Return a shape at rest, together with its images where it is over periodic sides."""
    images = shifts(shape, grid, CLOSE)
    return placed(shape, STILL, images) if len(images) > 1 else shape


def shifts(shape: Shape, grid: StaggeredGrid, close: float = 0.0) -> tuple[Vector, ...]:
    """Return by how much a shape and those of its images are shifted that reach into the domain.

    Along directions in which it is as wide as the domain it has no images, unless it is round there: such bodies reach
    from side to side, or are more of a surface than the domain has.
    """
    along = []
    for axis, (low, high) in enumerate(zip(*shape.bounds, strict=True)):
        start, length, wide = grid.origin[axis], grid.lengths[axis], high - low
        if not grid.periodic[axis] or not math.isfinite(wide) or (wide >= length and not _is_round(shape, axis)):
            along.append([0.0])
            continue
        low, high = low + close * length, high - close * length
        first, last = math.floor((start - high) / length) + 1, math.ceil((start - low) / length)
        along.append([n * length for n in range(first, last + 1)])
    return tuple(map(triple, product(*along)))


def _is_round(shape: Shape, axis: int) -> bool:
    if isinstance(shape, Placed):
        return isinstance(shape.shape, Sphere)
    return isinstance(shape, Sphere) or (isinstance(shape, Cylinder) and axis != shape.axis)
