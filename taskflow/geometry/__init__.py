"""Shapes of bodies and body-fitted grids: boxes, spheres, cylinders, formulas, and surfaces and heights from files.

It knows points and files, and charts in `grids`. It does not know the flow around bodies.
"""

from taskflow.geometry.solids.distance import SurfaceDistance
from taskflow.geometry.solids.heights import read_heights
from taskflow.geometry.solids.placed import Placed, Pose, corners, placed
from taskflow.geometry.solids.shapes import (
    Composition,
    Coordinates,
    Cuboid,
    Cylinder,
    Distance,
    ImplicitShape,
    Pointwise,
    Range,
    Shape,
    Sphere,
    Vector,
    range_over,
)
from taskflow.geometry.solids.surface import ClosedSurface, read_surface
