"""Shapes of bodies, and those that a formula describes; regions that are made of several."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from taskflow.runtime.regions import triple

Vector = tuple[float, float, float]
Steps = float | np.ndarray
HALVINGS = 50


class Shape(Protocol):
    """A part of space. Points on a surface that faces down an axis are inside, those on one that faces up are not."""

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        """The lowest and the highest corner of a box around it; infinite where nothing is known."""

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return a mask [z, y, x] of the points inside, on the lattice of increasing coordinates x, y and z."""

    def entry(self, points: np.ndarray, axis: int, step: Steps) -> np.ndarray:
        """Return how far on the way from each of the points [n, xyz], `step` along an axis, it enters the shape, as a
        share of the step: 1 where the way does not end inside, 0 where it begins there. Steps of all points have one
        sign.
        """


class Distance(Protocol):
    """How far points are from the surface of something."""

    @abstractmethod
    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return how far points are from the surface, positive inside; the coordinates broadcast."""


class Pointwise(Shape, Distance):
    """A shape that tells of single points whether they are inside."""

    @abstractmethod
    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return which points are inside; the coordinates broadcast."""

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        inside = self.contains(x[None, None, :], y[None, :, None], z[:, None, None])
        return np.broadcast_to(inside, (z.size, y.size, x.size))

    def entry(self, points: np.ndarray, axis: int, step: Steps) -> np.ndarray:
        """Find an entry by bisection, any one where there are several."""
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
    def bounds(self) -> tuple[Vector, Vector]:
        return self.low, self.high

    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        in_x, in_y, in_z = (
            (low <= at) & (at < high) for at, low, high in zip((x, y, z), self.low, self.high, strict=True)
        )
        return in_z & in_y & in_x

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        ends = zip((x, y, z), self.low, self.high, strict=True)
        return _within([np.maximum(low - at, at - high) for at, low, high in ends])

    def entry(self, points: np.ndarray, axis: int, step: Steps) -> np.ndarray:
        """Return the share at which the way meets the face across the axis."""
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

    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        dx, dy, dz = (at - c for at, c in zip((x, y, z), self.centre, strict=True))
        return dz**2 + dy**2 + dx**2 < self.radius**2

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        dx, dy, dz = (at - c for at, c in zip((x, y, z), self.centre, strict=True))
        return self.radius - np.sqrt(dz**2 + dy**2 + dx**2)


@dataclass(frozen=True)
class Cylinder(Pointwise):
    """Points closer to its axis (0, 1, 2 for x, y, z) through the centre than the radius; without a length endless."""

    centre: Vector
    radius: float
    axis: int
    length: float = math.inf

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        reach = [self.length / 2 if axis == self.axis else self.radius for axis in range(3)]
        ends = [(c - r, c + r) for c, r in zip(self.centre, reach, strict=True)]
        return triple(low for low, _ in ends), triple(high for _, high in ends)

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
        """Return minus the function: it has the sign of the distance, and is 0 on the surface."""
        return -np.asarray(self.function(x, y, z))


@dataclass(frozen=True)
class Composition:
    """A region of shapes, one after the other: each with True adds its inside to the region, each with False takes it
    away. `begun` is what there is before the first: the largest distance if that is everything, minus that if it is
    nothing.
    """

    parts: tuple[tuple[Distance, bool], ...]
    begun: float

    def __call__(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the distance to the boundary of the region, positive inside; beside corners where shapes meet what is
        less, with the right sign. The coordinates broadcast.
        """
        distance, most = np.full(np.broadcast_shapes(x.shape, y.shape, z.shape), self.begun), abs(self.begun)
        for shape, adds in self.parts:
            own = np.clip(shape.distance(x, y, z), -most, most)
            distance = np.maximum(distance, own) if adds else np.minimum(distance, -own)
        return distance


def _within(beyond: list[np.ndarray]) -> np.ndarray:
    """Return the distance to a body whose faces are across each other, from how far beyond the nearest face of each
    direction points are, negative where they are not.
    """
    outside = np.sqrt(sum(np.maximum(along, 0.0) ** 2 for along in beyond))
    nearest = beyond[0]
    for along in beyond[1:]:
        nearest = np.maximum(nearest, along)
    return -(outside + np.minimum(nearest, 0.0))
