"""Shapes moved as rigid bodies: rotated about an axis through a point, and displaced."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.geometry.solids.shapes import Coordinates, Pointwise, Shape, Steps, Vector
from taskflow.geometry.solids.surface import ClosedSurface
from taskflow.runtime.regions import triple


@dataclass(frozen=True)
class Pose:
    """Position of a rigid body: X moves to  centre + R (X - centre) + displacement.

    R is the rotation by `angle` radians about `axis` (0, 1, 2 for x, y, z).
    """

    displacement: Vector
    angle: float = 0.0
    axis: int = 2
    centre: Vector = (0.0, 0.0, 0.0)

    @property
    def middle(self) -> Vector:
        """Position of the centre of rotation."""
        return triple(c + d for c, d in zip(self.centre, self.displacement, strict=True))

    def forth(self, points: np.ndarray) -> np.ndarray:
        """Return the current positions of points [..., xyz] of the body at rest."""
        return np.stack(self.moved(*np.moveaxis(points, -1, 0)), axis=-1)

    def directions(self, vectors: np.ndarray) -> np.ndarray:
        """Return the current directions of vectors [..., xyz] of the body at rest."""
        return np.stack(self._turned([*np.moveaxis(vectors, -1, 0)], self.angle), axis=-1)

    def moved(self, x: Any, y: Any, z: Any) -> tuple[Any, Any, Any]:
        """Return the current coordinates, numbers or arrays, of points of the body at rest."""
        at = [coordinate - centre for coordinate, centre in zip((x, y, z), self.centre, strict=True)]
        away = self._turned(at, self.angle)
        return triple(component + middle for component, middle in zip(away, self.middle, strict=True))

    def _turned(self, at: list[Any], angle: float) -> list[Any]:
        (a, b), cos, sin = self.across, math.cos(angle), math.sin(angle)
        at[a], at[b] = cos * at[a] - sin * at[b], sin * at[a] + cos * at[b]
        return at

    def back(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Coordinates:
        """Return the coordinates in the body at rest of points currently at x, y, z, which broadcast."""
        if not self.angle:
            return x - self.displacement[0], y - self.displacement[1], z - self.displacement[2]
        at = [coordinate - middle for coordinate, middle in zip((x, y, z), self.middle, strict=True)]
        return triple(away + c for away, c in zip(self._turned(at, -self.angle), self.centre, strict=True))

    @property
    def across(self) -> tuple[int, int]:
        """The other two axes, in the order in which the rotation leads from the first to the second."""
        return (self.axis + 1) % 3, (self.axis + 2) % 3


@dataclass(frozen=True, eq=False)
class Placed(Pointwise):
    """Shape given by a formula, in a pose, with its images by `shifts`."""

    shape: Pointwise
    pose: Pose
    shifts: tuple[Vector, ...] = ((0.0, 0.0, 0.0),)

    @cached_property
    def bounds(self) -> tuple[Vector, Vector]:
        low, high = self.shape.bounds
        if not self.pose.angle:
            ends = np.array([low, high]) + np.array(self.pose.displacement)
        else:
            with np.errstate(invalid="ignore"):  # infinite extents across the rotation axis stay infinite
                ends = self.pose.forth(corners(low, high))
            endless = ~np.isfinite(ends).all(axis=0)
            ends[0, endless], ends[1, endless] = -math.inf, math.inf
        images = ends[None] + np.array(self.shifts)[:, None]
        return triple(images.min(axis=(0, 1)).tolist()), triple(images.max(axis=(0, 1)).tolist())

    def is_round(self, axis: int) -> bool:
        return all(self.shape.is_round(n) for n in range(3))

    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        inside = [self.shape.contains(*self._within(shift, x, y, z)) for shift in self.shifts]
        return np.asarray(np.any(np.broadcast_arrays(*inside), axis=0) if len(inside) > 1 else inside[0])

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        distances = [self.shape.distance(*self._within(shift, x, y, z)) for shift in self.shifts]
        return np.asarray(np.max(np.broadcast_arrays(*distances), axis=0))

    def entry(self, points: np.ndarray, axis: int, step: Steps) -> np.ndarray:
        """Return the first entry into the shape or one of its images, by the shape's own rule if it is not rotated."""
        if self.pose.angle:
            return super().entry(points, axis, step)
        moves = (np.array(self.pose.displacement) + np.array(shift) for shift in self.shifts)
        return np.asarray(np.min([self.shape.entry(points - move, axis, step) for move in moves], axis=0))

    def _within(self, shift: Vector, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Coordinates:
        return self.pose.back(x - shift[0], y - shift[1], z - shift[2]) if any(shift) else self.pose.back(x, y, z)


def corners(low: Sequence[float], high: Sequence[float]) -> np.ndarray:
    """Return the eight corners [n, xyz] of the box between two points."""
    return np.array(list(product(*zip(low, high, strict=True))))


def placed(shape: Shape, pose: Pose, shifts: tuple[Vector, ...] = ((0.0, 0.0, 0.0),)) -> Shape:
    """Return a shape in a pose, with its images by `shifts`. Raises TypeError if it is neither triangulated nor a
    formula.
    """
    if isinstance(shape, ClosedSurface):
        triangles = pose.forth(shape.triangles)
        return ClosedSurface(np.concatenate([triangles + np.array(shift) for shift in shifts]))
    if not isinstance(shape, Pointwise):
        raise TypeError(f"{type(shape).__name__} cannot be moved")
    return Placed(shape, pose, shifts)
