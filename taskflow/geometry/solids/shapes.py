"""Shapes of bodies: interface, shapes given by formulas, and compositions."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from taskflow.runtime.regions import triple

Vector = tuple[float, float, float]
Coordinates = tuple[np.ndarray, np.ndarray, np.ndarray]
Range = tuple[np.ndarray, np.ndarray]  # the least and the largest value
Steps = float | np.ndarray
Measured = tuple[float, np.ndarray]  # volume and centre
HALVINGS = 50


class Shape(Protocol):
    """Part of space. Points on a surface that faces down an axis are inside, points on one that faces up are not."""

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """Lowest and highest corner of a bounding box, infinite if unknown."""

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return a mask [z, y, x] of the points inside, on the lattice of increasing coordinates x, y and z."""

    def entry(self, points: np.ndarray, axis: int, step: Steps) -> np.ndarray:
        """Return the fraction of `step` along an axis at which the path from each point [n, xyz] enters the shape.

        1 if the path does not end inside, 0 if it starts inside. Steps of all points have the same sign.
        """

    def measured(self, low: np.ndarray, high: np.ndarray) -> Measured | None:
        """Return the volume in the box between two corners, and its centre, or None if no formula applies."""
        return None

    def is_round(self, axis: int) -> bool:
        """Return True if both ends along an axis are round, as of a ball, or of a cylinder across its axis."""
        return False

    def cut(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return along which axes the box between two corners cuts the bounding box."""
        return np.asarray((self.bounds[0] < low) | (self.bounds[1] > high))


@runtime_checkable
class Ranged(Protocol):
    """Function of the place whose values in a box have known bounds."""

    @abstractmethod
    def range_over(self, low: Coordinates, high: Coordinates) -> Range:
        """Return bounds of the values in boxes between corners, nan where nothing is known."""


def range_over(function: object, low: Coordinates, high: Coordinates) -> Range:
    """Return bounds of a function in boxes between corners, nan where nothing is known."""
    return function.range_over(low, high) if isinstance(function, Ranged) else (np.array(math.nan),) * 2


class Distance(Protocol):
    """Distance of points from a surface."""

    @abstractmethod
    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the distance of points from the surface, positive inside. The coordinates broadcast."""

    def range_over(self, low: Coordinates, high: Coordinates) -> Range:
        """Return bounds in boxes between corners: a distance changes at most by the way from the middle."""
        value = self.distance(*((a + b) / 2 for a, b in zip(low, high, strict=True)))
        reach = np.sqrt(sum(((b - a) / 2) ** 2 for a, b in zip(low, high, strict=True)))
        return value - reach, value + reach


class Pointwise(Shape, Distance):
    """Shape that can test single points."""

    @abstractmethod
    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return True for points inside. The coordinates broadcast."""

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        inside = self.contains(x[None, None, :], y[None, :, None], z[:, None, None])
        return np.broadcast_to(inside, (z.size, y.size, x.size))

    def entry(self, points: np.ndarray, axis: int, step: Steps) -> np.ndarray:
        """Find an entry by bisection, any of them if several exist."""
        ways = [points[:, n] for n in range(3)]

        def within(share: np.ndarray | float) -> np.ndarray:
            return self.contains(*(at + share * step if n == axis else at for n, at in enumerate(ways)))

        low, high = np.zeros(len(points)), np.ones(len(points))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            beyond = within(middle)
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
        return np.where(within(1.0), np.where(within(0.0), 0.0, high), 1.0)


@dataclass(frozen=True)
class Cuboid(Pointwise):
    """low <= (x, y, z) < high"""

    low: Vector
    high: Vector

    @property
    def centre(self) -> Vector:
        return triple((low + high) / 2 for low, high in zip(self.low, self.high, strict=True))

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        return self.low, self.high

    def measured(self, low: np.ndarray, high: np.ndarray) -> Measured:
        first, last = np.maximum(self.low, low), np.minimum(self.high, high)
        return float(np.maximum(last - first, 0.0).prod()), (first + last) / 2

    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        in_x, in_y, in_z = (
            (low <= at) & (at < high) for at, low, high in zip((x, y, z), self.low, self.high, strict=True)
        )
        return in_z & in_y & in_x

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        ends = zip((x, y, z), self.low, self.high, strict=True)
        return _within([np.maximum(low - at, at - high) for at, low, high in ends])

    def entry(self, points: np.ndarray, axis: int, step: Steps) -> np.ndarray:
        """Return the fraction at which the path meets the face across the axis."""
        x, y, z = (points[:, n] + (step if n == axis else 0.0) for n in range(3))
        at = self.low[axis] if np.max(step) > 0 else self.high[axis]
        return np.where(self.contains(x, y, z), np.clip((at - points[:, axis]) / step, 0.0, 1.0), 1.0)


@dataclass(frozen=True)
class Sphere(Pointwise):
    """Points closer to the centre than the radius."""

    centre: Vector
    radius: float

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        return triple(c - self.radius for c in self.centre), triple(c + self.radius for c in self.centre)

    def measured(self, low: np.ndarray, high: np.ndarray) -> Measured | None:
        return None if self.cut(low, high).any() else (4 / 3 * math.pi * self.radius**3, np.array(self.centre))

    def is_round(self, axis: int) -> bool:
        return True

    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        dx, dy, dz = (at - c for at, c in zip((x, y, z), self.centre, strict=True))
        return dz**2 + dy**2 + dx**2 < self.radius**2

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        dx, dy, dz = (at - c for at, c in zip((x, y, z), self.centre, strict=True))
        return self.radius - np.sqrt(dz**2 + dy**2 + dx**2)


@dataclass(frozen=True)
class Cylinder(Pointwise):
    """Points closer than the radius to the axis (0, 1, 2 for x, y, z) through the centre, infinite without a length."""

    centre: Vector
    radius: float
    axis: int
    length: float = math.inf

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        reach = [self.length / 2 if axis == self.axis else self.radius for axis in range(3)]
        ends = [(c - r, c + r) for c, r in zip(self.centre, reach, strict=True)]
        return triple(low for low, _ in ends), triple(high for _, high in ends)

    def measured(self, low: np.ndarray, high: np.ndarray) -> Measured | None:
        """Return the volume and the centre, unless the box cuts the round sides."""
        first, last = np.maximum(self.bounds[0], low), np.minimum(self.bounds[1], high)
        whole = float(math.pi * self.radius**2 * max(last[self.axis] - first[self.axis], 0.0))
        return None if np.delete(self.cut(low, high), self.axis).any() else (whole, (first + last) / 2)

    def is_round(self, axis: int) -> bool:
        return axis != self.axis

    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        away = [at - c for at, c in zip((x, y, z), self.centre, strict=True)]
        along, half = away.pop(self.axis), self.length / 2
        return (away[1] ** 2 + away[0] ** 2 < self.radius**2) & (-half <= along) & (along < half)

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        away = [at - c for at, c in zip((x, y, z), self.centre, strict=True)]
        along = away.pop(self.axis)
        return _within([np.sqrt(away[1] ** 2 + away[0] ** 2) - self.radius, np.abs(along) - self.length / 2])


@dataclass(frozen=True)
class ImplicitShape(Pointwise):
    """Points where a function of x, y and z is negative."""

    function: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        return (-math.inf,) * 3, (math.inf,) * 3

    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return np.asarray(self.function(x, y, z)) < 0

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return minus the function: 0 on the surface, with the sign of the distance."""
        return -np.asarray(self.function(x, y, z))

    def range_over(self, low: Coordinates, high: Coordinates) -> Range:
        least, most = range_over(self.function, low, high)
        return -most, -least


@dataclass(frozen=True)
class Composition:
    """Region built from shapes in order: each adds its inside (True) or removes it (False).

    `initial` is the distance at the start: the largest one if the region starts as all space, minus that if empty.
    """

    parts: tuple[tuple[Distance, bool], ...]
    initial: float

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the distance to the boundary of the region, positive inside. The coordinates broadcast.

        Near corners where shapes meet it is an underestimate with the correct sign.
        """
        distance, most = np.full(np.broadcast_shapes(x.shape, y.shape, z.shape), self.initial), abs(self.initial)
        for shape, adds in self.parts:
            own = np.clip(shape.distance(x, y, z), -most, most)
            distance = np.maximum(distance, own) if adds else np.minimum(distance, -own)
        return distance

    def range_over(self, low: Coordinates, high: Coordinates) -> Range:
        """Return bounds of the distance in boxes between corners, nan where nothing is known."""
        least = highest = np.array(self.initial)
        for shape, adds in self.parts:
            ends = shape.range_over(low, high)
            combine, (first, last) = (np.maximum, ends) if adds else (np.minimum, (-ends[1], -ends[0]))
            least, highest = combine(least, first), combine(highest, last)
        return least, highest


def _within(beyond: list[np.ndarray]) -> np.ndarray:
    """Return the distance to a body, given distances outside the nearest face of each direction, negative inside.

    The faces of different directions are perpendicular.
    """
    outside = np.sqrt(sum(np.maximum(along, 0.0) ** 2 for along in beyond))
    nearest = beyond[0]
    for along in beyond[1:]:
        nearest = np.maximum(nearest, along)
    return -(outside + np.minimum(nearest, 0.0))
