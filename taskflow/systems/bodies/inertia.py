"""The force on the fluid that is stored in a body, and its inertia where the body moves: it belongs to no fluid.

What the scheme takes from the fluid on the faces of a body (`taskflow.flow.bodies.forces`) is the force on it less the
change of the momentum that is stored inside, where the velocity is u_b, and plus what drives that: a force on all
fluid, and the lift of a temperature. Both are exact: of a rigid body of the density of the fluid, in its true shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases.formulas.motion import RigidMotion
from taskflow.flow import StaggeredGrid
from taskflow.geometry import Pose, Shape, corners, placed, volume_of

FINER = 8  # points per narrowest cell and direction
PLANES = 1 << 22  # points in one go


@dataclass(frozen=True, eq=False)
class RigidMass:
    """Volume, centre of volume, and second moments [xyz, xyz] about it, of a body at rest."""

    volume: float
    centre: np.ndarray
    moments: np.ndarray

    @classmethod
    def of(cls, shapes: Sequence[Shape], grid: StaggeredGrid) -> RigidMass:
        """The mass of shapes at rest together, from points that are several in each direction of the narrowest cell;
        volume and centre of a single shape by its formula, where it has one.
        """
        x, y, z = (_points(shapes, grid, axis) for axis in range(3))
        weight, volume = float(np.prod([at[1] - at[0] for at in (x, y, z)])), 0.0
        first, second = np.zeros(3), np.zeros((3, 3))
        planes = max(1, PLANES // max(1, x.size * y.size))
        for start in range(0, z.size, planes):
            part = slice(start, start + planes)
            inside = np.any([shape.inside(x, y, z[part]) for shape in shapes], axis=0)
            weights = inside * weight
            along = [weights.sum(axis=(0, 1)), weights.sum(axis=(0, 2)), weights.sum(axis=(1, 2))]
            places = x, y, z[part]
            volume += float(weights.sum())
            first += [float(w @ at) for w, at in zip(along, places, strict=True)]
            second += np.diag([float(w @ at**2) for w, at in zip(along, places, strict=True)])
            across = weights.sum(axis=0), weights.sum(axis=1), weights.sum(axis=2)
            for (a, b), w in zip(((0, 1), (0, 2), (1, 2)), across, strict=True):
                second[a, b] += float(places[b] @ w @ places[a])
                second[b, a] = second[a, b]
        if not volume:
            return WEIGHTLESS
        centre = first / volume
        moments = second - volume * np.outer(centre, centre)
        known = volume_of(shapes[0], *_room(shapes[0], grid)) if len(shapes) == 1 else None
        exact, middle = known or (volume, centre)
        return cls(exact, middle, exact / volume * moments)

    def change(
        self, motion: RigidMotion, before: float, now: float, about: np.ndarray, driven: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """The rate at which the momentum of the stored fluid changes from one time to another, less the acceleration by
        which it is `driven`, and the moment of that about a point, given where it is at the later one. Per density.
        """
        dt, pose = now - before, motion.pose(now)
        accelerated = np.subtract(motion.velocity(now), motion.velocity(before)) / dt - driven
        rotation, old = motion.rotation(now), motion.rotation(before)
        turned = _crossing((rotation + old) / 2)
        gain = _crossing((rotation - old) / dt) + turned @ turned  # of a velocity, along what is away
        axes = pose.directions(np.eye(3)).T
        moments = axes @ self.moments @ axes.T
        middle, pivot = pose.forth(self.centre), np.array(pose.middle)
        force = self.volume * (accelerated + gain @ (middle - pivot))
        own = _vector(moments @ gain.T)  # about the middle
        return force, own + np.cross(middle - about, force)


WEIGHTLESS = RigidMass(0.0, np.zeros(3), np.zeros((3, 3)))


def _points(shapes: Sequence[Shape], grid: StaggeredGrid, axis: int) -> np.ndarray:
    """Points along an axis that are equally far from each other, over the extent of some shapes; where that is more
    than the domain at both ends, over this.
    """
    start, stop = grid.origin[axis], grid.origin[axis] + grid.lengths[axis]
    low, high = (end(shape.bounds[n][axis] for shape in shapes) for n, end in enumerate((min, max)))
    low, high = (start, stop) if low <= start and high >= stop else (low, high)
    count = max(2, int(np.ceil(FINER * (high - low) / grid.narrowest(axis))))
    return np.asarray(low + (high - low) / count * (np.arange(count) + 0.5))


def _room(shape: Shape, grid: StaggeredGrid) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the domain along directions in which a shape is wider at both, infinite ones along others."""
    low, high = np.array(grid.origin), np.add(grid.origin, grid.lengths)
    wide = (np.array(shape.bounds[0]) <= low) & (np.array(shape.bounds[1]) >= high)
    return np.where(wide, low, -np.inf), np.where(wide, high, np.inf)


def _crossing(vector: np.ndarray) -> np.ndarray:
    """The matrix of the product of a vector with another."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _vector(tensor: np.ndarray) -> np.ndarray:
    """sum over points of r x a, from the sum of r a^T."""
    return np.array([tensor[1, 2] - tensor[2, 1], tensor[2, 0] - tensor[0, 2], tensor[0, 1] - tensor[1, 0]])


def _lifted(measured: dict[str, Any], known: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """The acceleration by lift of what is stored in a body: the mean over its faces where that was measured; and what
    else was.
    """
    if "stored" not in measured:
        return known, measured
    lift, volume = np.array(measured["stored"]).reshape(2, 3)
    others = {name: value for name, value in measured.items() if name != "stored"}
    return np.where(volume > 0, lift / np.where(volume > 0, volume, 1.0), 0.0), others


@dataclass(frozen=True, eq=False)
class BodyForce:
    """A body at rest whose forces are followed: the point about which its moment is taken, the acceleration by the lift
    of its temperature, its volume and the centre of that. Picklable.
    """

    about: np.ndarray
    lift: np.ndarray
    volume: float
    centre: np.ndarray

    def completed(self, measured: dict[str, Any], time: float, dt: float, driven: Sequence[float]) -> dict[str, Any]:
        """The numbers measured of it in the step of length dt to a time, less what drives the fluid that is stored in
        it, of all fluid the one that is `driven` so.
        """
        lift, measured = _lifted(measured, self.lift)
        if not dt:
            return measured
        weight = self.volume * (lift + driven)
        moment = np.array(measured["moment"]) - np.cross(self.centre - self.about, weight)
        return {**measured, "force": (np.array(measured["force"]) - weight).tolist(), "moment": moment.tolist()}


@dataclass(frozen=True, eq=False)
class MovingBody:
    """A body that moves whose forces are followed: the point about which its moment is taken, at rest, the acceleration
    by the lift of its temperature, its mass at rest, and what it is made of. Picklable.
    """

    about: np.ndarray
    lift: np.ndarray
    mass: RigidMass
    grid: StaggeredGrid
    shapes: tuple[Shape, ...]
    motion: RigidMotion

    def speed(self, time: float) -> float:
        """The largest speed of the corners of the boxes around its parts at a time, where these are not endless."""
        pose, most = self.motion.pose(time), 0.0
        for shape in self.shapes:
            ends = np.array(shape.bounds)
            ends = np.where(np.isfinite(ends), ends, np.array(self.motion.centre))
            points = pose.forth(corners(*ends.tolist()))
            most = max(most, float(np.linalg.norm(self.motion.velocity_at(time, points), axis=1).max()))
        return most

    def completed(self, measured: dict[str, Any], time: float, dt: float, driven: Sequence[float]) -> dict[str, Any]:
        """The numbers measured of it in the step of length dt to a time, with the inertia of what is stored in it, of
        all fluid the one that is `driven` so, and the moment about the point where that is now. None is told while it
        lies across a periodic side.
        """
        lift, measured = _lifted(measured, self.lift)
        if not dt:
            return measured
        acceleration, force = lift + driven, np.array(measured["force"])
        pose = self.motion.pose(time)
        about = pose.forth(self.about)
        gained, turned = self.mass.change(self.motion, time - dt, time, about, acceleration)
        numbers = {**measured, "force": (force + gained).tolist()}
        image = self._image(pose)
        if image is None:
            return {name: value for name, value in numbers.items() if name != "moment"}
        away = about + image - self.about
        return {**numbers, "moment": (np.array(measured["moment"]) - np.cross(away, force) + turned).tolist()}

    def _image(self, pose: Pose) -> np.ndarray | None:
        """By how much the body's image in the domain is away from itself; None where it lies across a periodic side."""
        ends = np.array([placed(shape, pose).bounds for shape in self.shapes])
        low, high, shift = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0), np.zeros(3)
        for axis, periodic in enumerate(self.grid.periodic):
            start, length = self.grid.origin[axis], self.grid.lengths[axis]
            if not periodic or high[axis] - low[axis] >= length:
                continue
            shift[axis] = -length * np.floor((low[axis] - start) / length)
            if high[axis] + shift[axis] > start + length:
                return None
        return shift
