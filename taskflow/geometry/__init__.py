"""Shapes of bodies: which points lie inside. Boxes, spheres, cylinders, formulas; surfaces and heights from files.

It knows points and files; in `grids` charts, too. It does not know what flows around them.
"""

from taskflow.geometry.distance import SurfaceDistance
from taskflow.geometry.heights import read_heights
from taskflow.geometry.placed import Placed, Pose, corners, placed
from taskflow.geometry.shapes import (
    Composition,
    Cuboid,
    Cylinder,
    Distance,
    ImplicitShape,
    Pointwise,
    Shape,
    Sphere,
    Vector,
)
from taskflow.geometry.surface import ClosedSurface, read_surface
from taskflow.geometry.volume import volume_of
