"""The bodies of a case: their shapes on the grid, those whose forces are followed, and the flags of their cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from taskflow.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies import Body, ImmersedObstacles, Obstacles
from taskflow.geometry import Cuboid, Cylinder, Implicit, Shape, Sphere, read_heights, read_surface
from taskflow.runtime.regions import Box, hull, triple
from taskflow.simulation.bodies.masks import ImmersedMasks, Masks
from taskflow.simulation.bodies.solids import Solids
from taskflow.simulation.case import Case
from taskflow.simulation.case.grid import GridTable
from taskflow.simulation.case.obstacles import ShapeTable

ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Bodies:
    """The obstacles of a case on its grid. Raises BadInput where a file of theirs cannot be read."""

    case: Case
    grid: StaggeredGrid

    @cached_property
    def solids(self) -> Solids:
        """Their shapes."""
        return Solids(self.grid, shapes(self.case))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of those whose forces are followed."""
        return tuple(dict.fromkeys(obstacle.name for obstacle in self.case.obstacles if obstacle.name))

    @cached_property
    def followed(self) -> tuple[Body, ...]:
        """The bodies with names."""
        return tuple(self._body(name) for name in self.names)

    @cached_property
    def near(self) -> Box:
        """The cells around all of them, with those beside: others know nothing of bodies."""
        return self._beside(hull(self.solids.boxes), 2 if self._immersed else 1)

    def masks(self, roles: tuple[str, ...]) -> Masks:
        """The masks that fill the fields of these roles."""
        numbers = {name: n for n, name in enumerate(self.names, start=1)}
        owners = tuple(numbers.get(obstacle.name or "", 0) for obstacle in self.case.obstacles)
        temperatures = (obstacle.temperature for obstacle in self.case.obstacles)
        kind = ImmersedMasks if self._immersed else Masks
        return kind(self.solids, roles, owners, tuple(np.nan if T is None else T for T in temperatures))

    def obstacles(self, forced: int) -> Obstacles:
        """The bodies as the model knows them; `forced` is how often a projection forces the velocity in them."""
        if not self._immersed:
            return Obstacles(self.followed, forced)
        held = any(obstacle.temperature is not None for obstacle in self.case.obstacles)
        return ImmersedObstacles(self.followed, forced, near=self.near, held=held)

    @property
    def _immersed(self) -> bool:
        return self.case.bodies.treatment == "immersed"

    def _body(self, name: str) -> Body:
        parts = [n for n, obstacle in enumerate(self.case.obstacles) if obstacle.name == name]
        around = hull(self.solids.boxes[n] for n in parts)
        points = (self.case.obstacles[n].moment_about for n in parts)
        about = next((point for point in points if point is not None), None) or self._middle(around)
        x, y, z = (a - b for a, b in zip(about, self.grid.origin, strict=True))
        heated = any(self.case.obstacles[n].temperature is not None for n in parts)
        return Body(name, self._beside(around), (x, y, z), heated)

    def _middle(self, cells: Box) -> tuple[float, float, float]:
        x, y, z = (float(self.grid.faces(axis)[[cells.lo[axis], cells.hi[axis]]].mean()) for axis in range(3))
        return x, y, z

    def _beside(self, cells: Box, layers: int = 1) -> Box:
        """Some cells, and those that are so many layers away at most."""
        grown, domain = cells.grow(layers), self.grid.box
        ends = zip(self.grid.periodic, grown.lo, grown.hi, domain.hi, strict=True)
        round_trip = [periodic and (lo < 0 or hi > n) for periodic, lo, hi, n in ends]
        lo = triple(0 if all_of_it else n for all_of_it, n in zip(round_trip, grown.lo, strict=True))
        hi = triple(n if all_of_it else m for all_of_it, n, m in zip(round_trip, domain.hi, grown.hi, strict=True))
        return Box(lo, hi) & domain


def shapes(case: Case) -> tuple[Shape, ...]:
    """The bodies of a case, read from their files. Raises BadInput where one cannot be."""
    read = []
    for number, obstacle in enumerate(case.obstacles, start=1):
        try:
            read.append(shape(obstacle.type, obstacle, case.grid))
        except BadInput as error:
            raise BadInput(f"obstacles[{number}]: {error}") from None
    return tuple(read)


def shape(kind: str, table: ShapeTable, grid: GridTable) -> Shape:
    """The shape of a kind that a table describes; a height map without an extent covers the domain. Raises BadInput
    where its file cannot be read.
    """
    match kind:
        case "box":
            return Cuboid(table.low or ORIGIN, table.high or ORIGIN)
        case "sphere":
            return Sphere(table.centre or ORIGIN, table.radius or 0.0)
        case "cylinder":
            axis = "xyz".index(table.axis or "z")
            return Cylinder(table.centre or ORIGIN, table.radius or 0.0, axis, table.length or math.inf)
        case "implicit":
            assert table.inside is not None
            return Implicit(table.inside)
        case "surface":
            return read_surface(Path(table.file or ""), table.scale or 1.0, table.shift or ORIGIN)
    (x, y, _), (length_x, length_y, _) = grid.origin, grid.lengths
    extent = table.extent or (x, x + length_x, y, y + length_y)
    return read_heights(Path(table.file or ""), extent, table.variable, table.interpolation == "nearest")
