"""The force on the fluid stored in a body, and its inertia if the body moves: it is not a force of the flow.

The scheme removes momentum from the fluid on the faces of a body (`taskflow.flow.bodies.forces`). This equals the force
on the body, less the rate of change of the momentum stored inside, where the velocity is u_b, plus the forces that
drive it: a force on all fluid, and the lift of a temperature. Both are exact for a rigid body with the density of the
fluid, in its true shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases.formulas.motion import RigidMotion
from taskflow.flow import StaggeredGrid
from taskflow.geometry import Pose, Shape, corners, placed

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
        """Return the mass of shapes at rest together, from several points per narrowest cell in each direction. Volume
        and centre of a single shape are taken from its formula, if it has one.
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
        known = shapes[0].measured(*_room(shapes[0], grid)) if len(shapes) == 1 else None
        exact, middle = known or (volume, centre)
        return cls(exact, middle, exact / volume * moments)

    def change(
        self, motion: RigidMotion, before: float, now: float, about: np.ndarray, driven: np.ndarray | float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the rate of change of the momentum of the stored fluid between two times, less its `driven`
        acceleration, and the moment of this force about a point, given at the later time. Per density.
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
    """Return equidistant points along an axis, over the extent of shapes, or of the domain if they exceed it."""
    start, stop = grid.origin[axis], grid.origin[axis] + grid.lengths[axis]
    low, high = (end(shape.bounds[n][axis] for shape in shapes) for n, end in enumerate((min, max)))
    low, high = (start, stop) if low <= start and high >= stop else (low, high)
    count = max(2, int(np.ceil(FINER * (high - low) / grid.narrowest(axis))))
    return np.asarray(low + (high - low) / count * (np.arange(count) + 0.5))


def _room(shape: Shape, grid: StaggeredGrid) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the domain along directions in which a shape exceeds both, infinite ones along others."""
    low, high = np.array(grid.origin), np.add(grid.origin, grid.lengths)
    wide = (np.array(shape.bounds[0]) <= low) & (np.array(shape.bounds[1]) >= high)
    return np.where(wide, low, -np.inf), np.where(wide, high, np.inf)


def _crossing(vector: np.ndarray) -> np.ndarray:
    """Return the matrix of the vector product with a vector."""
    x, y, z = vector
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def _vector(tensor: np.ndarray) -> np.ndarray:
    """Return the sum over points of r x a, from the sum of r a^T."""
    return np.array([tensor[1, 2] - tensor[2, 1], tensor[2, 0] - tensor[0, 2], tensor[0, 1] - tensor[1, 0]])


def _lifted(measured: dict[str, Any], known: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """Return the acceleration by lift of a body's fluid, over its faces if measured, and the other numbers."""
    if "stored" not in measured:
        return known, measured
    lift, volume = np.array(measured["stored"]).reshape(2, 3)
    others = {name: value for name, value in measured.items() if name != "stored"}
    return np.where(volume > 0, lift / np.where(volume > 0, volume, 1.0), 0.0), others


@dataclass(frozen=True, eq=False)
class BodyForce:
    """Forces on a body at rest: point of the moment, lift of its temperature, volume and its centre. Picklable."""

    about: np.ndarray
    lift: np.ndarray
    volume: float
    centre: np.ndarray

    def place(self, time: float) -> np.ndarray:
        """Return its centre."""
        return self.centre

    def completed(self, measured: dict[str, Any], time: float, dt: float, driven: Sequence[float]) -> dict[str, Any]:
        """Return the numbers measured in a step to a time, less the forces on stored fluid. `driven`: of all fluid."""
        lift, measured = _lifted(measured, self.lift)
        if not dt:
            return measured
        weight = self.volume * (lift + driven)
        moment = np.array(measured["moment"]) - np.cross(self.centre - self.about, weight)
        return {**measured, "force": (np.array(measured["force"]) - weight).tolist(), "moment": moment.tolist()}


@dataclass(frozen=True, eq=False)
class MovingBody:
    """Forces on a moving body: point of the moment at rest, lift of its temperature, mass, and parts. Picklable."""

    about: np.ndarray
    lift: np.ndarray
    mass: RigidMass
    grid: StaggeredGrid
    shapes: tuple[Shape, ...]
    motion: RigidMotion

    def speed(self, time: float) -> float:
        """Return the largest speed of the corners of the bounded boxes around its parts at a time."""
        pose, most = self.motion.pose(time), 0.0
        for shape in self.shapes:
            ends = np.array(shape.bounds)
            ends = np.where(np.isfinite(ends), ends, np.array(self.motion.centre))
            points = pose.forth(corners(*ends.tolist()))
            most = max(most, float(np.linalg.norm(self.motion.velocity_at(time, points), axis=1).max()))
        return most

    def place(self, time: float) -> np.ndarray | None:
        """Return its centre at a time, or None while it crosses a periodic side."""
        pose = self.motion.pose(time)
        image = self._image(pose)
        return None if image is None else pose.forth(self.mass.centre) + image

    def completed(self, measured: dict[str, Any], time: float, dt: float, driven: Sequence[float]) -> dict[str, Any]:
        """Return the numbers measured in the step of length dt to a time, with the inertia of the stored fluid, and the
        moment about the present position of the reference point, omitted while the body crosses a periodic side.
        `driven` is the acceleration of all fluid.
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
        """Return the shift to the body's image in the domain, or None while it crosses a periodic side."""
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
