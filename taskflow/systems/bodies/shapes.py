"""The shapes of tables: of the obstacles of a case, and of others with the same keys."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taskflow.cases import Case
from taskflow.cases.tables.grid import GridTable
from taskflow.cases.tables.obstacles import ShapeTable
from taskflow.common.errors import named
from taskflow.geometry import (
    Coordinates,
    Cuboid,
    Cylinder,
    ImplicitShape,
    Range,
    Shape,
    Sphere,
    range_over,
    read_heights,
    read_surface,
)

ORIGIN = (0.0, 0.0, 0.0)


def shapes(case: Case) -> tuple[Shape, ...]:
    """Return the bodies of a case, read from their files. Raises BadInput if one is invalid."""
    read = []
    for number, obstacle in enumerate(case.obstacles, start=1):
        with named(f"obstacles[{number}]"):
            read.append(shape(obstacle.type, obstacle, case.grid, f"obstacles[{number}].inside"))
    return tuple(read)


@dataclass(frozen=True)
class InsideFormula:
    """The formula of an implicit shape, with its key for errors, because it is evaluated long after reading."""

    formula: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    key: str

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        with named(self.key):
            return self.formula(x, y, z)

    def range_over(self, low: Coordinates, high: Coordinates) -> Range:
        """Return bounds of the formula in boxes between corners, nan where nothing is known."""
        return range_over(self.formula, low, high)


def shape(kind: str, table: ShapeTable, grid: GridTable, inside: str = "inside") -> Shape:
    """Return the shape of a table. Height maps without an extent cover the domain. Errors name `inside` or the file."""
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
            return ImplicitShape(InsideFormula(table.inside, inside))
        case "surface":
            return read_surface(Path(table.file or ""), table.scale or 1.0, table.shift or ORIGIN)
    (x, y, _), (length_x, length_y, _) = grid.origin, grid.lengths
    extent = table.extent or (x, x + length_x, y, y + length_y)
    return read_heights(Path(table.file or ""), extent, table.variable, table.interpolation == "nearest")
