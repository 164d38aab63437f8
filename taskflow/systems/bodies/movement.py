"""The geometry of moving bodies in the fields of one block, step by step: written by the host, or placed by kernels
from poses for spheres, cylinders and boxes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from taskflow.cases.formulas.motion import RigidMotion
from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies.moving import KEPT, OTHER
from taskflow.flow.bodies.placement import MOST_SHAPES, POSE, POSES, BodyShapes, OneShape, Placement
from taskflow.flow.grid import FACES
from taskflow.geometry import Cuboid, Cylinder, Shape, Sphere
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, hull, triple
from taskflow.runtime.tasks import LookupTable, LookupTables
from taskflow.systems.bodies.images import STILL
from taskflow.systems.bodies.masks import Patch
from taskflow.systems.bodies.moving import MovingBodies, MovingMasks

BEYOND = 8  # cells outside of the domain that have places: two steps and three widths away from those within
NOWHERE = (0.0, 0.0, 0.0)
KINDS = (Sphere, Cylinder, Cuboid)  # placed by kernels, in the order of their numbers there


def placement(moving: MovingBodies, near: Box) -> Placement | None:
    """Return the program that finds the geometry of bodies in the cells `near` them, or None: if a shape is of another
    kind, if bodies are too many, if one is nearly as wide as the domain along a periodic direction, and with eddies.
    """
    roles = moving.written
    known = len(moving.shapes) <= MOST_SHAPES and "edges" not in roles
    if not known or not all(map(_can_be_placed, moving.shapes, moving.motions, [moving.grid] * len(moving.shapes))):
        return None
    other = tuple((role, f"{role}{OTHER}") for role in roles if role in KEPT)
    return Placement(_shapes(moving), near, moving.viscosity, moving.diffusivity, roles, other)


def poses(moving: MovingBodies, time: float) -> dict[str, float]:
    """Return the scalars of a placement, by name."""
    numbers = {f"{POSES}.{n}": 0.0 for n in range(POSE * MOST_SHAPES)}
    return numbers | {name: value for n in range(len(moving.shapes)) for name, value in _pose(moving, n, time)}


def _pose(moving: MovingBodies, n: int, time: float) -> Iterator[tuple[str, float]]:
    """Yield the scalars of a shape: see `place_faces`. Places are relative to the origin, for single precision."""
    shape, motion = moving.shapes[n], moving.motions[n]
    assert isinstance(shape, KINDS)
    pose = motion.pose(time) if motion else STILL
    middle = pose.moved(*shape.centre)
    velocity, turning = (motion.velocity_there(time, *middle), motion.turning(time)) if motion else (NOWHERE, 0.0)
    place = (at - origin for at, origin in zip(middle, moving.grid.origin, strict=True))
    numbers = *place, math.cos(pose.angle), math.sin(pose.angle), *velocity, turning
    for number, value in enumerate(numbers, start=POSE * n):
        yield f"{POSES}.{number}", value


def _can_be_placed(shape: Shape, motion: RigidMotion | None, grid: StaggeredGrid) -> bool:
    """Return True if kernels support a shape, and only its nearest image matters."""
    if not isinstance(shape, KINDS):
        return False
    half = [(high - low) / 2 for low, high in zip(*shape.bounds, strict=True)]
    turns = motion is not None and motion.angle.source != 0.0
    across = [n for n in range(3) if turns and motion is not None and n != motion.axis]
    for axis in (axis for axis in range(3) if grid.periodic[axis]):
        reach = math.hypot(*(half[n] for n in across)) if axis in across else half[axis]
        length = grid.lengths[axis]
        if reach >= length / 2 and axis not in across and not shape.is_round(axis):
            continue  # it is endless
        if reach > length / 2 - 2 * float(grid.widths(axis).max()):
            return False
    return True


def _shapes(moving: MovingBodies) -> BodyShapes:
    grid, numbers = moving.grid, []
    for shape, motion, owner, temperature in zip(
        moving.shapes, moving.motions, moving.owners, moving.temperatures, strict=True
    ):
        assert isinstance(shape, KINDS)
        kind, axis = KINDS.index(type(shape)), shape.axis if isinstance(shape, Cylinder) else 0
        radius = 0.0 if isinstance(shape, Cuboid) else shape.radius
        isothermal = math.isfinite(temperature)
        ends = (np.array(shape.bounds) - np.array(shape.centre)).ravel().tolist()
        turns = motion.axis if motion else 2
        heat = isothermal, temperature if isothermal else 0.0
        numbers += [kind, axis, radius, *ends, turns, owner, *heat, motion is not None]
    rows = [(axis, -BEYOND, n + BEYOND) for axis, n in enumerate(grid.cells)]
    faces = _tables([grid.coordinates(FACES[row[0]], *row) - grid.origin[row[0]] for row in rows])
    centres = _tables([grid.coordinates("c", *row) - grid.origin[row[0]] for row in rows])
    widths, gaps = (_tables([size("c", *row) for row in rows]) for size in (grid.extents, grid.distances))
    table, kind_of = LookupTable(0, tuple(map(float, numbers))), OneShape if len(moving.shapes) == 1 else BodyShapes
    return kind_of(len(moving.shapes), table, grid.cells, grid.periodic, grid.lengths, faces, centres, widths, gaps)


def _tables(values: list[np.ndarray]) -> LookupTables:
    return triple(LookupTable(-BEYOND, tuple(row.tolist())) for row in values)


class Movement:
    """The geometry in the fields of one block: written at the start, and before each step if bodies move."""

    def __init__(self, moving: MovingBodies, shard: Shard) -> None:
        self.moving, self.shard = moving, shard
        self._changed: tuple[list[Box], ...] = ()  # by the geometries that fields still hold

    def begin(self, time: float) -> None:
        """Write the geometry at a time into all fields."""
        moving, shard = self.moving, self.shard
        nowhere = {role: np.zeros((1, 1, 1), np.uint8) for role in moving.roles}
        shard.write_parts(moving.roles, [(shard.cells, nowhere)])
        if moving.placement is not None:
            shard.run(replace(moving.placement, other=()), **poses(moving, time))
            return
        masks = moving.masks(time)
        others = {role: f"{role}{OTHER}" for role in masks.roles if role in KEPT}
        patches = (
            (part, values | {other: values[role] for role, other in others.items()})
            for part, values in masks.parts(shard.cells)
        )
        shard.write_parts(moving.roles, patches)
        self._changed = (moving.reach(time),) * 2

    def advance(self, time: float) -> dict[str, float]:
        """Write the geometry at the end of a step, or return the scalars with which a `PlacedStep` computes it."""
        moving, shard = self.moving, self.shard
        if moving.placement is not None:
            return {name: value for n in moving.numbers for name, value in _pose(moving, n - 1, time)}
        masks = moving.masks(time)
        reach = moving.reach(time)
        boxes = [cells for box in merged([*reach, *chain(*self._changed)]) if (cells := box & shard.cells)]
        roles = [f"{role}{OTHER}" if role in KEPT else role for role in masks.roles]
        shard.write_parts(roles, self._patches(masks, boxes))
        self._changed = reach, self._changed[0]
        return {}

    def _patches(self, masks: MovingMasks, boxes: Sequence[Box]) -> Iterator[Patch]:
        for box in boxes:
            arrays = {role: np.zeros(box.shape[::-1]) for role in masks.roles}
            for part, values in masks.parts(box):
                view = part.slices(box.lo)
                for role, value in values.items():
                    arrays[role][view] = value
            yield box, {f"{role}{OTHER}" if role in KEPT else role: value for role, value in arrays.items()}


def merged(boxes: Sequence[Box]) -> list[Box]:
    """Return disjoint boxes that cover some: overlapping ones become their bounding box."""
    apart: list[Box] = []
    for box in boxes:
        whole = box
        while overlapping := [other for other in apart if other & whole]:
            whole = hull([whole, *overlapping])
            apart = [other for other in apart if other not in overlapping]
        apart.append(whole)
    return apart
