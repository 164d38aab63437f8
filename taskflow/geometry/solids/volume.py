"""Volumes of shapes by formulas."""

from __future__ import annotations

import math

import numpy as np

from taskflow.geometry.solids.shapes import Cuboid, Cylinder, Shape, Sphere
from taskflow.geometry.solids.surface import ClosedSurface

Measured = tuple[float, np.ndarray]


def volume_of(shape: Shape, low: np.ndarray, high: np.ndarray) -> Measured | None:
    """Return the volume of a shape in the box between two corners, and its centre, or None if no formula applies.

    That is the case for round bodies and surfaces cut by the box, surfaces in several parts, formulas and height maps.
    """
    ends = np.array(shape.bounds)
    cut = (ends[0] < low) | (ends[1] > high)
    first, last = np.maximum(ends[0], low), np.minimum(ends[1], high)
    extent = np.maximum(last - first, 0.0)
    if isinstance(shape, Cuboid):
        return float(extent.prod()), (first + last) / 2
    if isinstance(shape, Sphere):
        return None if cut.any() else (4 / 3 * math.pi * shape.radius**3, np.array(shape.centre))
    if isinstance(shape, Cylinder):
        across = np.arange(3) != shape.axis
        whole = float(math.pi * shape.radius**2 * extent[shape.axis])
        return None if cut[across].any() else (whole, (first + last) / 2)
    if isinstance(shape, ClosedSurface) and not cut.any() and len(shape.parts) == 1:
        return abs(shape.volume), shape.centre
    return None
