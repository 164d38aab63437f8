"""Shapes of bodies: which points lie inside. Boxes, spheres, cylinders, formulas; surfaces and heights from files."""

from taskflow.geometry.heights import read_heights
from taskflow.geometry.shapes import Cuboid, Cylinder, Implicit, Shape, Sphere
from taskflow.geometry.surface import Surface, read_surface

__all__ = ["Cuboid", "Cylinder", "Implicit", "Shape", "Sphere", "Surface", "read_heights", "read_surface"]
