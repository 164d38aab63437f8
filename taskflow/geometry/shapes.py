"""Shapes that a formula describes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

Vector = tuple[float, float, float]
EVERYWHERE = (-math.inf, math.inf)


class Shape(Protocol):
    """A part of space. Points on a surface that faces down an axis are inside, those on one that faces up are not."""

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """The lowest and the highest corner of a box around it; infinite where nothing is known."""

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Which points of the lattice of coordinates x, y and z, each increasing, are inside: a mask [z, y, x]."""


@dataclass(frozen=True)
class Cuboid(Shape):
    """low <= (x, y, z) < high"""

    low: Vector
    high: Vector

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        return self.low, self.high

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        in_x, in_y, in_z = (
            (low <= at) & (at < high) for at, low, high in zip((x, y, z), self.low, self.high, strict=True)
        )
        return in_z[:, None, None] & in_y[:, None] & in_x


@dataclass(frozen=True)
class Sphere(Shape):
    """Points closer to the centre than the radius."""

    centre: Vector
    radius: float

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        return _box(tuple((c - self.radius, c + self.radius) for c in self.centre))

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        dx, dy, dz = (at - c for at, c in zip((x, y, z), self.centre, strict=True))
        return dz[:, None, None] ** 2 + dy[:, None] ** 2 + dx**2 < self.radius**2


@dataclass(frozen=True)
class Cylinder(Shape):
    """Points closer to its axis (0, 1, 2 for x, y, z) through the centre than the radius; without a length endless."""

    centre: Vector
    radius: float
    axis: int
    length: float = math.inf

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        reach = [self.length / 2 if axis == self.axis else self.radius for axis in range(3)]
        return _box(tuple((c - r, c + r) for c, r in zip(self.centre, reach, strict=True)))

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        away = [at - c for at, c in zip((x, y, z), self.centre, strict=True)]
        along, half = away[self.axis], self.length / 2
        away[self.axis] = np.zeros_like(along)
        within = [np.ones(at.shape, bool) for at in away]
        within[self.axis] = (-half <= along) & (along < half)
        near = away[2][:, None, None] ** 2 + away[1][:, None] ** 2 + away[0] ** 2 < self.radius**2
        return near & within[2][:, None, None] & within[1][:, None] & within[0]


@dataclass(frozen=True)
class Implicit(Shape):
    """Points where a function of x, y and z is negative."""

    function: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        return _box((EVERYWHERE,) * 3)

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        values = self.function(x[None, None, :], y[None, :, None], z[:, None, None])
        return np.broadcast_to(values < 0, (z.size, y.size, x.size))


def _box(intervals: tuple[tuple[float, float], ...]) -> tuple[Vector, Vector]:
    (x0, x1), (y0, y1), (z0, z1) = intervals
    return (x0, y0, z0), (x1, y1, z1)
