"""Bodies that move: their shapes at a time, their flags and velocities, and how far a step may bring them.

Everything follows from the time: each block finds the flags of its own cells, on the host, before each step, over the
boxes around the bodies that move, where they were and where they get; elsewhere stays what was found once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from taskflow.errors import BadInput, RunFailed
from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies import cuts
from taskflow.flow.bodies.flags import moved
from taskflow.flow.bodies.moving import BODY, KEPT, OTHER, PUSH
from taskflow.flow.grid import FACES, Point
from taskflow.geometry import Shape, Vector, placed
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, hull, periodic_images
from taskflow.simulation.bodies.masks import LAYERS, ImmersedMasks, Numbers, Patch, Surfaces
from taskflow.simulation.motion import RigidMotion
from taskflow.simulation.bodies.solids import Solids

FARTHEST = 0.5  # spacings that a surface moves in a step
REACH = 4  # layers around closed faces on which a step with bodies differs from one without
MOMENTS = 8  # within a step, at which it is looked how far a surface has come
SHORTER = 60  # halvings of a step


@dataclass(frozen=True, eq=False)
class Moving:
    """Shapes at rest on a grid, by their numbers, and the motions of those that move, None for others. `roles` are the
    fields to be filled; `owners` and `temperatures` as in `Masks`. Picklable.
    """

    grid: StaggeredGrid
    shapes: tuple[Shape, ...]
    motions: tuple[RigidMotion | None, ...]
    viscosity: float
    roles: tuple[str, ...] = ()
    owners: tuple[int, ...] = ()
    temperatures: tuple[float, ...] = ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers, from 1, of the shapes that move."""
        return tuple(n for n, motion in enumerate(self.motions, start=1) if motion is not None)

    def solids(self, time: float) -> Solids:
        """The shapes where they are at a time. Raises BadInput where a motion is not finite."""
        shapes = tuple(
            shape if motion is None else self._placed(shape, motion, time)
            for shape, motion in zip(self.shapes, self.motions, strict=True)
        )
        return Solids(self.grid, shapes, continued=frozenset(self.numbers))

    def masks(self, time: float) -> MovingMasks:
        """The masks that fill fields with the geometry of a time."""
        roles = tuple(role for role in self.roles if not role.endswith(OTHER) and role not in PUSH)
        return MovingMasks(self.solids(time), roles, self.owners, self.temperatures, self.motions, time, self.viscosity)

    def solid(self, time: float, cells: Box) -> np.ndarray:
        """1 in cells [z, y, x] whose centre is in a body at a time, 0 in others."""
        return self.solids(time).mask(cells).astype(np.float64)

    def fastest(self, time: float) -> np.ndarray:
        """The largest |u|, |v|, |w| of all points of bodies that move, at a time."""
        speeds = [
            np.abs(motion.velocity_at(time, motion.place(time).forth(corners))).max(axis=0)
            for motion, corners in self._moving
        ]
        return np.max(speeds, axis=0)

    def spacings(self, before: float, now: float) -> float:
        """How far a surface gets from where it was at a time, until a later one, in spacings of the narrowest cells."""
        most, narrowest = 0.0, np.array([self.grid.narrowest(axis) for axis in range(3)])
        for motion, corners in self._moving:
            start = motion.place(before).forth(corners)
            for part in range(1, MOMENTS + 1):
                away = motion.place(before + (now - before) * part / MOMENTS).forth(corners) - start
                most = max(most, float((np.abs(away) / narrowest).max()))
        return most

    def longest(self, time: float, dt: float) -> float:
        """The length of a step from a time, dt or as many times half of it as no surface moves too far in."""
        for _ in range(SHORTER):
            if self.spacings(time, time + dt) <= FARTHEST:
                return dt
            dt /= 2
        raise RunFailed(f"at time {time:g} a body jumps: steps of {dt:g} are too long for it; give a motion that does not")

    def reach(self, time: float) -> list[Box]:
        """The cells in the domain that bodies that move may change at a time, as boxes that may overlap."""
        solids, found = self.solids(time), []
        for number in self.numbers:
            around = solids.boxes[number - 1]
            if around:
                images = periodic_images(around.grow(REACH), self.grid.box, self.grid.periodic)
                found += [cells for piece, _ in images if (cells := piece & self.grid.box)]
        return found

    @cached_property
    def _moving(self) -> list[tuple[RigidMotion, np.ndarray]]:
        """The motions, each with the corners of the box around its shape at rest; where this is endless, of the domain.
        """
        found = []
        low, length = np.array(self.grid.origin), np.array(self.grid.lengths)
        for shape, motion in zip(self.shapes, self.motions, strict=True):
            if motion is not None:
                ends = np.array(shape.bounds)
                ends = np.where(np.isfinite(ends), ends, np.array([low, low + length]))
                found.append((motion, np.array(list(product(*ends.T.tolist())))))
        return found

    def _placed(self, shape: Shape, motion: RigidMotion, time: float) -> Shape:
        """A shape where it is at a time, with its images beyond periodic sides."""
        place = motion.place(time)
        (low, high), shifts = placed(shape, place).bounds, []
        for axis, periodic in enumerate(self.grid.periodic):
            start, length = self.grid.origin[axis], self.grid.lengths[axis]
            if periodic and np.isfinite([low[axis], high[axis]]).all() and high[axis] - low[axis] < length:
                first, last = int(np.floor((start - high[axis]) / length)) + 1, int(np.ceil((start - low[axis]) / length))
                shifts.append([n * length for n in range(first, last + 1)])
            else:
                shifts.append([0.0])
        images: tuple[Vector, ...] = tuple((x, y, z) for x, y, z in product(*shifts))
        return placed(shape, place, images or ((0.0, 0.0, 0.0),))


@dataclass(frozen=True, eq=False)
class MovingMasks(ImmersedMasks):
    """The flags of immersed bodies at a time, and their velocity on closed faces and cut ones."""

    motions: tuple[RigidMotion | None, ...]
    time: float
    viscosity: float
    reach = REACH

    def _cut(self, part: Box, wide: Numbers) -> dict[str, np.ndarray]:
        """See `ImmersedMasks`. A face belongs to the body that has one of `REACH` steps or less away."""
        inner = slice(REACH - LAYERS, LAYERS - REACH or None)
        masks = super()._cut(part, {at: values[inner, inner, inner] for at, values in wide.items()})
        for at in FACES if "owner_x" in self.roles else ():
            owners = self._bodies(wide[at])
            for _ in range(REACH):
                owners = cuts.owners(owners)
            masks[f"owner_{at[1]}"] = owners
        return masks | self._velocities(part, wide)

    def _stick(self, beside: Surfaces, part: Box, numbers: np.ndarray, at: Point, way: tuple[int, int]) -> np.ndarray:
        """See `ImmersedMasks._stick`. A surface that comes near carries the velocity between it and a face along: at the
        face it changes by the speed of the surface times (u_b - u) / (s h), of which convection knows what it would be
        at s = 1. The rest is an implicit friction, as that of viscosity.
        """
        stick, (axis, side) = super()._stick(beside, part, numbers, at, way), way
        if not self.viscosity:
            return stick
        owners = moved(numbers, way).reshape(-1)[beside.where]
        for number in np.unique(owners).tolist():
            motion = self.motions[number - 1]
            if motion is not None:
                speed = rigid(motion, self.time, axis, part, self.solids.grid, at)
                nearing = np.maximum(-side * np.broadcast_to(speed, part.shape[::-1]).reshape(-1)[beside.where], 0.0)
                rate = nearing * (1 / np.maximum(beside.share, cuts.LEAST) - 1) / beside.step
                stick = stick + np.where(owners == number, rate / self.viscosity, 0.0)
        return stick

    def _velocities(self, part: Box, wide: Numbers) -> dict[str, np.ndarray]:
        grid, masks = self.solids.grid, {}
        for axis, (role, at) in enumerate(zip(BODY, FACES, strict=True)):
            around = wide[at]
            for _ in range(REACH - 1):
                around = moved(around)
            owners, speed = cuts.owners(around), np.zeros(part.shape[::-1])
            for number in np.unique(owners).tolist():
                motion = self.motions[number - 1] if number else None
                if motion is not None:
                    speed = np.where(owners == number, rigid(motion, self.time, axis, part, grid, at), speed)
            masks[role] = speed
        return masks


def rigid(
    motion: RigidMotion, time: float, axis: int, cells: Box, grid: StaggeredGrid, at: Point
) -> np.ndarray:
    """The velocity along an axis of a rigid body [z, y, x], at a location in cells; of the images of the body beyond
    periodic sides the nearest. It depends on the place along the other axes alone, to the last bit: so its divergence
    is 0 in every cell.
    """
    middle, turning = motion.place(time).middle, motion.rotation(time)
    speed = np.full((1, 1, 1), motion.velocity(time)[axis])
    for other, sign in (((axis + 2) % 3, 1.0), ((axis + 1) % 3, -1.0)):
        rate = sign * turning[3 - axis - other]
        if rate:
            away = grid.coordinates(at, other, cells.lo[other], cells.hi[other]) - middle[other]
            if grid.periodic[other]:
                away = away - grid.lengths[other] * np.round(away / grid.lengths[other])
            shape = [1, 1, 1]
            shape[2 - other] = -1
            speed = speed + (rate * away).reshape(shape)
    return speed


class Movement:
    """The geometry in the fields of one block: written at the beginning, and before each step where bodies move."""

    def __init__(self, moving: Moving, shard: Shard) -> None:
        self.moving, self.shard, self.time = moving, shard, 0.0
        self._changed: tuple[list[Box], ...] = ()  # by the geometries that fields still hold

    def begin(self, time: float) -> None:
        """Write the geometry of a time into all fields."""
        moving, shard, masks = self.moving, self.shard, self.moving.masks(time)
        nowhere = {role: np.zeros((1, 1, 1), np.uint8) for role in moving.roles}
        shard.write_parts(moving.roles, [(shard.cells, nowhere)])
        patches = ((part, {**values, **_others(values)}) for part, values in masks.parts(shard.cells))
        shard.write_parts(moving.roles, patches)
        self.time, self._changed = time, (moving.reach(time),) * 2

    def advance(self, time: float) -> None:
        """Write the geometry at the end of a step that leads to a time, for the step to take over."""
        moving, shard, masks = self.moving, self.shard, self.moving.masks(time)
        reach = moving.reach(time)
        boxes = [box for box in merged([*reach, *(box for boxes in self._changed for box in boxes)]) if box & shard.cells]
        changed = [f"{role}{OTHER}" if role in KEPT else role for role in masks.roles]
        shard.write_parts(changed, self._patches(masks, [box & shard.cells for box in boxes]))
        self.time, self._changed = time, (reach, self._changed[0])

    def _patches(self, masks: MovingMasks, boxes: Sequence[Box]) -> Iterator[Patch]:
        for box in boxes:
            found = {role: np.zeros(box.shape[::-1]) for role in masks.roles}
            for part, values in masks.parts(box):
                view = part.slices(box.lo)
                for role, each in values.items():
                    found[role][view] = each
            yield box, {f"{role}{OTHER}" if role in KEPT else role: each for role, each in found.items()}


def _others(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{role}{OTHER}": each for role, each in values.items() if role in KEPT}


def merged(boxes: Sequence[Box]) -> list[Box]:
    """Disjoint boxes that have all cells of some: those that overlap become one around both."""
    apart: list[Box] = []
    for box in boxes:
        whole = box
        while overlapping := [other for other in apart if other & whole]:
            whole = hull([whole, *overlapping])
            apart = [other for other in apart if other not in overlapping]
        apart.append(whole)
    return apart


def travelled(moving: Moving, times: np.ndarray) -> list[Box]:
    """The cells that bodies may change at some times, as disjoint boxes. Raises BadInput where nothing is known."""
    if not times.size:
        raise BadInput("motion: the times of the run are not known; give time.end")
    return merged([box for time in times.tolist() for box in moving.reach(time)])
