"""Moving bodies: their shapes at a time, their flags and velocities, and the motion allowed in a step.

Everything is a function of time: each block computes the flags of its cells, on the host, before each step, over
the boxes around the moving bodies at both ends of the step. Other cells keep their flags.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from taskflow.cases.formulas.motion import RigidMotion
from taskflow.common.caching import cached_property
from taskflow.common.errors import RunFailed
from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies import cuts
from taskflow.flow.bodies.flags import moved
from taskflow.flow.bodies.forces import PUSH
from taskflow.flow.bodies.moving import BODY, OTHER, WARMED
from taskflow.flow.bodies.placement import Placement
from taskflow.flow.grid import FACES, Point
from taskflow.geometry import Shape, corners, placed
from taskflow.runtime.regions import Box, periodic_images
from taskflow.systems.bodies.images import continued, over_sides, shifts
from taskflow.systems.bodies.immersed_masks import ImmersedMasks, Surfaces
from taskflow.systems.bodies.masks import LAYERS, Numbers
from taskflow.systems.bodies.solids import Solids

FARTHEST = 0.5  # spacings that a surface moves in a step
AROUND = 5.0  # largest |u| + |w| next to a bluff body over its speed: 2.4 at a cylinder in an ideal flow, more at edges
SWEPT = 0.5  # rise of the advective rate in a step by cells that a surface cuts or uncovers, over the rate of its speed
REACH = 4  # layers around closed faces on which a step with bodies differs from one without
MOMENTS = np.linspace(0.0, 1.0, 9)  # of a step, at which positions of surfaces are sampled
SHORTER = 60  # halvings of a step


@dataclass(frozen=True, eq=False)
class MovingBodies:
    """Shapes at rest on a grid, by number, and the motions of moving ones, None for others. `roles` are the fields to
    fill, `owners` and `temperatures` as in `Masks`. With a `placement` blocks only pass it the poses. Picklable.
    """

    grid: StaggeredGrid
    shapes: tuple[Shape, ...]
    motions: tuple[RigidMotion | None, ...]
    viscosity: float
    diffusivity: float = 0.0
    roles: tuple[str, ...] = ()
    owners: tuple[int, ...] = ()
    temperatures: tuple[float, ...] = ()
    placement: Placement | None = None

    @property
    def written(self) -> tuple[str, ...]:
        """The roles of the geometry of one time."""
        return tuple(role for role in self.roles if not role.endswith(OTHER) and role not in {**PUSH, **WARMED})

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers, from 1, of the shapes that move."""
        return tuple(n for n, motion in enumerate(self.motions, start=1) if motion is not None)

    def change(self, values: Mapping[str, Any]) -> None:
        """Replace expressions of the motions, by their keys."""
        for motion in {id(motion): motion for motion in self.motions if motion is not None}.values():
            motion.change(values)
        _solids.cache_clear()

    def solids(self, time: float) -> Solids:
        """Return the shapes at a time. Raises BadInput if a motion is not finite."""
        return _solids(self, time)

    def masks(self, time: float) -> MovingMasks:
        """Return the masks that fill fields with the geometry at a time."""
        spread = self.viscosity, self.diffusivity
        bodies = self.owners, self.temperatures, self.motions, self._middles
        return MovingMasks(self.solids(time), self.written, *bodies, time, *spread)

    def solid(self, time: float, cells: Box) -> np.ndarray:
        """Return 1 in cells [z, y, x] whose centre is in a body at a time, 0 in others."""
        return self.solids(time).mask(cells).astype(np.float64)

    def fastest(self, time: float) -> np.ndarray:
        """Return the largest |u|, |v|, |w| of all points of moving bodies, at a time."""
        speeds = [
            np.abs(motion.velocity_at(time, motion.pose(time).forth(points))).max(axis=0)
            for motion, points in self._moving
        ]
        return np.max(speeds, axis=0)

    def surge(self, before: float, now: float) -> float:
        """Return the possible rise of the advective rate next to bodies in a step: by the change of their velocity, and
        by cells that surfaces cut or uncover.
        """
        rises = []
        for motion, near, arm in self._arms:
            old, new = ((*motion.velocity(time), motion.turning(time)) for time in (before, now))
            change = sum(n * abs(b - a) for n, a, b in zip((*near, arm), old, new, strict=True))
            rises.append(AROUND * change + SWEPT * sum(n * abs(b) for n, b in zip((*near, arm), new, strict=True)))
        return max(rises)

    @cached_property
    def _arms(self) -> list[tuple[RigidMotion, list[float], float]]:
        """The motions, inverse spacings, and for each the largest distance from its axis over spacings across it."""
        near, arms = [1 / self.grid.narrowest(axis) for axis in range(3)], []
        for motion, points in self._moving:
            across = [axis for axis in range(3) if axis != motion.axis]
            away = np.linalg.norm((points - motion.centre)[:, across], axis=1)
            arms.append((motion, near, float(away.max()) * sum(near[axis] for axis in across)))
        return arms

    def spacings(self, before: float, now: float) -> float:
        """Return the largest distance that a surface moves between two times, in narrowest spacings."""
        ways = [motion.ways(before + (now - before) * MOMENTS, points) for motion, points in self._moving]
        narrowest = np.array([self.grid.narrowest(axis) for axis in range(3)])
        return max(float((np.abs(way) / narrowest).max()) for way in ways)

    def longest(self, time: float, dt: float) -> float:
        """Return the length of a step from a time: dt, halved until no surface moves too far."""
        return longest_step(self.spacings, FARTHEST, time, dt)

    def reach(self, time: float) -> list[Box]:
        """Return the cells in the domain that moving bodies may change at a time, as boxes that may overlap."""
        return [box for number in self.numbers for box in self.reach_of(number, time)]

    def reach_of(self, number: int, time: float) -> list[Box]:
        """Return the cells that one body may change at a time."""
        around = self.solids(time).boxes[number - 1]
        if not around:
            return []
        images = periodic_images(around.grow(REACH), self.grid.box, self.grid.periodic)
        return [cells for piece, _ in images if (cells := piece & self.grid.box)]

    @cached_property
    def _middles(self) -> tuple[np.ndarray, ...]:
        """The centres of the boxes around the shapes at rest; along an unbounded direction, the centre of rotation."""
        middles = []
        for shape, motion in zip(self.shapes, self.motions, strict=True):
            ends, centre = np.array(shape.bounds), np.array(motion.centre if motion else (0.0, 0.0, 0.0))
            middles.append(np.where(np.isfinite(ends).all(axis=0), ends, centre).mean(axis=0))
        return tuple(middles)

    @cached_property
    def _moving(self) -> list[tuple[RigidMotion, np.ndarray]]:
        """The motions, each with the corners around its shape at rest; of the domain for an unbounded shape."""
        moving = []
        low, length = np.array(self.grid.origin), np.array(self.grid.lengths)
        for shape, motion in zip(self.shapes, self.motions, strict=True):
            if motion is not None:
                ends = np.array(shape.bounds)
                ends = np.where(np.isfinite(ends), ends, np.array([low, low + length]))
                moving.append((motion, corners(*ends.tolist())))
        return moving

    def placed(self, shape: Shape, motion: RigidMotion, time: float) -> Shape:
        """Return a shape at a time, with its periodic images."""
        alone = placed(shape, motion.pose(time))
        images = shifts(alone, self.grid)
        return placed(shape, motion.pose(time), images) if any(map(any, images)) else alone


def longest_step(moved: Callable[[float, float], float], farthest: float, time: float, dt: float) -> float:
    """Return dt, halved until surfaces have `moved` at most `farthest` between `time` and the end of the step."""
    for _ in range(SHORTER):
        if moved(time, time + dt) <= farthest:
            return dt
        dt /= 2
    words = f"at time {time:g} a body jumps: steps of {dt:g} are too long for it"
    raise RunFailed(f"{words}; give a motion that does not")


@lru_cache(maxsize=8)
def _solids(moving: MovingBodies, time: float) -> Solids:
    """See `MovingBodies.solids`. Cached: flags, reach and meetings of a step use the same shapes."""
    shapes = tuple(
        continued(shape, moving.grid) if motion is None else moving.placed(shape, motion, time)
        for shape, motion in zip(moving.shapes, moving.motions, strict=True)
    )
    return Solids(moving.grid, shapes, frozenset({*moving.numbers, *over_sides(moving.shapes, moving.grid)}))


@dataclass(frozen=True, eq=False)
class MovingMasks(ImmersedMasks):
    """The flags of immersed bodies at a time, and their velocity on closed and cut faces."""

    motions: tuple[RigidMotion | None, ...]
    middles: tuple[np.ndarray, ...]
    time: float
    viscosity: float
    diffusivity: float
    reach = REACH

    def _numbers(self, piece: Box, at: Point) -> np.ndarray:
        """See `ImmersedMasks`. Forces are the momentum removed in a step, so faces on a surface need not be closed."""
        return self.solids.numbers_around(piece, at, self.reach)

    def _cut(self, part: Box, wide: Numbers) -> dict[str, np.ndarray]:
        """See `ImmersedMasks`. A face belongs to the body with a face at most `REACH` steps away."""
        inner = slice(REACH - LAYERS, LAYERS - REACH or None)
        masks = super()._cut(part, {at: values[inner, inner, inner] for at, values in wide.items()})
        if "owner_x" in self.roles:
            masks |= {f"owner_{at[1]}": cuts.owners(self._bodies(wide[at]), REACH) for at in FACES}
        return masks | self._velocities(part, wide)

    def _friction(
        self, beside: Surfaces, part: Box, numbers: np.ndarray, at: Point, way: tuple[int, int]
    ) -> np.ndarray:
        """See `ImmersedMasks._friction`. An approaching surface drags the velocity between it and a face: at the face
        it changes by the speed of the surface times (u_b - u) / (s h). Convection includes its value at s = 1. The
        remainder is an implicit friction, like viscosity.
        """
        friction = super()._friction(beside, part, numbers, at, way)
        return friction + self._carried(beside, part, numbers, at, way) / self.viscosity if self.viscosity else friction

    def _conductance(self, beside: Surfaces, part: Box, numbers: np.ndarray, way: tuple[int, int]) -> np.ndarray:
        """See `ImmersedMasks._conductance`, and `_friction`."""
        conductance = super()._conductance(beside, part, numbers, way)
        if not self.diffusivity:
            return conductance
        return conductance + self._carried(beside, part, numbers, "c", way) / self.diffusivity

    def _conductances(self, part: Box, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """See `ImmersedMasks._conductances`. Cells in bodies with a temperature have it in `warm_T`."""
        masks, temperature = super()._conductances(part, numbers), self._temperature(moved(numbers))
        return {**masks, "warm_T": np.where(np.isfinite(temperature), temperature, masks["warm_T"])}

    def _heat_bits(self, closed: list[np.ndarray], shut: np.ndarray, isothermal: np.ndarray) -> np.ndarray:
        return cuts.moving_heat_bits(closed, shut, isothermal)

    def _carried(self, beside: Surfaces, part: Box, numbers: np.ndarray, at: Point, way: tuple[int, int]) -> np.ndarray:
        """Return the drag rate by approaching surfaces in excess of convection, at adjacent points."""
        (axis, side), rates = way, np.zeros(beside.share.shape)
        owners = moved(numbers, way).reshape(-1)[beside.where]
        for number in np.unique(owners).tolist():
            if self.motions[number - 1] is not None:
                speed = self._speed(number, axis, part, at)
                nearing = np.maximum(-side * np.broadcast_to(speed, part.shape[::-1]).reshape(-1)[beside.where], 0.0)
                rate = nearing * (1 / np.maximum(beside.share, cuts.LEAST) - 1) / beside.step
                rates = rates + np.where(owners == number, rate, 0.0)
        return rates

    def _velocities(self, part: Box, wide: Numbers) -> dict[str, np.ndarray]:
        masks = {}
        for axis, (role, at) in enumerate(zip(BODY, FACES, strict=True)):
            around = wide[at]
            for _ in range(REACH - 1):
                around = moved(around)
            owners, speed = cuts.owners(around), np.zeros(part.shape[::-1])
            for number in np.unique(owners).tolist():
                if number and self.motions[number - 1] is not None:
                    speed = np.where(owners == number, self._speed(number, axis, part, at), speed)
            masks[role] = speed
        return masks

    def _speed(self, number: int, axis: int, cells: Box, at: Point) -> np.ndarray:
        """Return the velocity along an axis of a moving body [z, y, x], or of its nearest periodic image, at a location
        in cells. It depends only on the coordinates along the other axes, bitwise: its divergence is 0 in every
        cell.
        """
        motion, grid = self.motions[number - 1], self.solids.grid
        assert motion is not None
        pose, turning = motion.pose(self.time), motion.rotation(self.time)
        middle = pose.forth(self.middles[number - 1])
        speed = np.full((1, 1, 1), motion.velocity(self.time)[axis])
        for other, sign in (((axis + 2) % 3, 1.0), ((axis + 1) % 3, -1.0)):
            rate = sign * turning[3 - axis - other]
            if rate:
                away = grid.coordinates(at, other, cells.lo[other], cells.hi[other]) - middle[other]
                if grid.periodic[other]:
                    away = away - grid.lengths[other] * np.floor(away / grid.lengths[other] + 0.5)
                shape = [1, 1, 1]
                shape[2 - other] = -1
                speed = speed + (rate * (away + (middle[other] - pose.middle[other]))).reshape(shape)
        return speed
