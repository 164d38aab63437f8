"""The shapes that the tables of a case describe."""

from __future__ import annotations

import math
from pathlib import Path

from taskflow.errors import BadInput
from taskflow.geometry import Cuboid, Cylinder, Implicit, Shape, Sphere, read_heights, read_surface
from taskflow.simulation.case import Case, Obstacle

ORIGIN = (0.0, 0.0, 0.0)


def shapes(case: Case) -> tuple[Shape, ...]:
    """The bodies of a case, read from their files. Raises BadInput where one cannot be."""
    found = []
    for number, obstacle in enumerate(case.obstacles, start=1):
        try:
            found.append(shape(obstacle, case))
        except BadInput as error:
            raise BadInput(f"obstacles[{number}]: {error}") from None
    return tuple(found)


def shape(obstacle: Obstacle, case: Case) -> Shape:
    """The shape of an obstacle; a height map without an extent covers the domain."""
    o = obstacle
    match o.type:
        case "box":
            return Cuboid(o.low or ORIGIN, o.high or ORIGIN)
        case "sphere":
            return Sphere(o.centre or ORIGIN, o.radius or 0.0)
        case "cylinder":
            return Cylinder(o.centre or ORIGIN, o.radius or 0.0, "xyz".index(o.axis or "z"), o.length or math.inf)
        case "implicit":
            assert o.inside is not None
            return Implicit(o.inside)
        case "surface":
            return read_surface(Path(o.file or ""), o.scale or 1.0, o.shift or ORIGIN)
    (x, y, _), (length_x, length_y, _) = case.grid.origin, case.grid.lengths
    extent = o.extent or (x, x + length_x, y, y + length_y)
    return read_heights(Path(o.file or ""), extent, o.variable, o.interpolation == "nearest")
