"""The bodies of a case on charts: their shapes, the fields of their surfaces, and the owners of cells."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from taskflow.cases import Case
from taskflow.cases.formulas.motion import RigidMotion
from taskflow.common.caching import cached_property
from taskflow.common.errors import named
from taskflow.common.hexahedra import centres
from taskflow.flow.bodies.cut_cells import WALL, CutCells
from taskflow.flow.bodies.wall_motion import RigidVelocity, wall_motion
from taskflow.flow.grid import Vector
from taskflow.geometry import Cylinder, Placed, Shape, Sphere, corners
from taskflow.geometry.solids.shapes import Pointwise
from taskflow.runtime.regions import Box, triple
from taskflow.systems.artificial_compressibility.domain import GHOST, ChartDomain
from taskflow.systems.bodies.shapes import shape

APERTURE, WALLS, FLUID, OWNER = "aperture", "wall", "fluid", "owner"
SURFACES = (APERTURE, WALLS, FLUID, OWNER)
LAYER = (1, 1, 1)


@dataclass(frozen=True, eq=False)
class ChartBodies:
    """The obstacles of a case in the cells of a domain, at rest and by their motions."""

    case: Case
    domain: ChartDomain

    def at(self, time: float) -> PlacedBodies:
        """Return the bodies at a time."""
        return _placed(self, time if self.moving else 0.0)

    @cached_property
    def motions(self) -> tuple[RigidMotion | None, ...]:
        """The motion of each obstacle, None if at rest. Obstacles of one name move together."""
        return tuple(self.moving.get(str(obstacle.name)) for obstacle in self.case.obstacles)

    @cached_property
    def moving(self) -> dict[str, RigidMotion]:
        """The motions of bodies, by name."""
        return {
            str(obstacle.name): obstacle.motion.rigid(f"obstacles[{number}].motion")
            for number, obstacle in enumerate(self.case.obstacles, start=1)
            if obstacle.motion
        }

    @cached_property
    def at_rest(self) -> tuple[Pointwise, ...]:
        """The shapes as given."""
        read: list[Pointwise] = []
        for number, obstacle in enumerate(self.case.obstacles, start=1):
            with named(f"obstacles[{number}]"):
                made: Shape = shape(obstacle.type, obstacle, self.case.grid, f"obstacles[{number}].inside")
            assert isinstance(made, Pointwise), "others are refused"
            read.append(made)
        return tuple(read)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of bodies with measured forces."""
        return tuple(dict.fromkeys(obstacle.name for obstacle in self.case.obstacles if obstacle.name))

    @cached_property
    def points(self) -> dict[str, Vector]:
        """The reference point of the moment of each named body: by default the middle of the box around it in the grid.
        """
        low, high = self.ends
        points, shapes = {}, self.at(0.0).shapes
        for name in self.names:
            of = [n for n, obstacle in enumerate(self.case.obstacles) if obstacle.name == name]
            given = [self.case.obstacles[n].moment_about for n in of if self.case.obstacles[n].moment_about is not None]
            ends = np.array([shapes[n].bounds for n in of])
            middle = (np.clip(ends[:, 0].min(axis=0), low, high) + np.clip(ends[:, 1].max(axis=0), low, high)) / 2
            points[name] = next((point for point in given if point), triple(middle.tolist()))
        return points

    @property
    def surface_points(self) -> list[np.ndarray]:
        """Points [n, xyz] of the shapes at rest that move as far as any point of their surfaces: corners of the boxes
        around them, of the grid along unbounded directions. A round shape that turns about its axis keeps its surface,
        so that its centre is the point.
        """
        points = []
        for one, motion in zip(self.at_rest, self.motions, strict=True):
            if isinstance(one, Sphere) or (isinstance(one, Cylinder) and motion and motion.axis == one.axis):
                points.append(np.array([one.centre]))
            else:
                points.append(corners(*np.where(np.isfinite(one.bounds), one.bounds, self.ends).tolist()))
        return points

    @cached_property
    def ends(self) -> np.ndarray:
        """The lowest and the highest coordinates of the grid."""
        points = np.concatenate([chart.vertices.reshape(3, -1) for chart in self.domain.grid.charts], axis=1)
        return np.stack([points.min(axis=1), points.max(axis=1)])


@lru_cache(maxsize=8)
def _placed(bodies: ChartBodies, time: float) -> PlacedBodies:
    """See `ChartBodies.at`. Cached: all boxes of a block use the same shapes."""
    return PlacedBodies(bodies, time)


@dataclass(frozen=True, eq=False)
class PlacedBodies:
    """Bodies at a `time`, with their images beyond periodic sides. Lengths of fields are in the `unit` of the model."""

    given: ChartBodies
    time: float

    @cached_property
    def shapes(self) -> tuple[Pointwise, ...]:
        """The shapes at the time."""
        moving = zip(self.given.at_rest, self.given.motions, strict=True)
        return tuple(Placed(one, motion.pose(self.time)) if motion else one for one, motion in moving)

    @cached_property
    def _images(self) -> tuple[tuple[Vector, ...], ...]:
        """The displacements of each shape that continue it beyond periodic sides, if it is bounded along them: to the
        image nearest to the middle of the grid, and to its neighbours.
        """
        seams = self.given.domain.grid.seams
        periods = sorted({tuple(abs(x) for x in seam.translation) for seam in seams if any(seam.translation)})
        found, ends = [], self.given.ends
        for one in self.shapes:
            low, high = one.bounds
            bounded = [all(math.isfinite(low[a]) and math.isfinite(high[a]) for a in range(3) if p[a]) for p in periods]
            ways = np.reshape([p for p, within in zip(periods, bounded, strict=True) if within], (-1, 3))
            away = (np.where(np.isfinite([low, high]), [low, high], ends) - ends).mean(axis=0)
            nearest = -np.rint(ways @ away / (ways**2).sum(axis=1))
            moves = ((nearest + n) @ ways for n in product((0, 1, -1), repeat=len(ways)))
            found.append(tuple(triple(move.tolist()) for move in moves) if len(ways) else ((0.0, 0.0, 0.0),))
        return tuple(found)

    def number(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the number, from 1, of the last obstacle at points; 0 for none."""
        numbers = np.zeros(np.shape(x), np.uint16)
        for n in range(1, len(self.shapes) + 1):
            numbers[self.contains(n, x, y, z)] = n
        return numbers

    def contains(self, number: int, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return True at points in an obstacle, numbered from 1, or in one of its images."""
        one, images = self.shapes[number - 1], self._images[number - 1]
        within = (one.contains(x - dx, y - dy, z - dz) for dx, dy, dz in images)
        return np.logical_or.reduce([*within])

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return True at points in bodies."""
        return self.number(x, y, z) != 0

    def solid(self, box: Box) -> np.ndarray:
        """Return the mask [z, y, x] of the cells of a box with their centre in a body."""
        return self.inside(*centres(self.given.domain.at_rest(box)))

    def fields(self, box: Box, names: Collection[str], unit: float) -> dict[str, np.ndarray]:
        """Return some of the fields of surfaces in the cells of a box, ghost cells included."""
        chart = self.given.domain.boxes[self.given.domain.chart_of(box)]
        wide = box.expand(LAYER, LAYER) & chart.grow(GHOST)
        cells, inner = CutCells.of(self.given.domain.at_rest(wide), self.inside), box & chart
        values: dict[str, np.ndarray] = {}
        if APERTURE in names:
            values[APERTURE] = np.moveaxis(np.moveaxis(cells.open, 2, 0)[:, *box.slices(wide.lo)], 0, 2)
        if FLUID in names:
            values[FLUID] = cells.fluid[box.slices(wide.lo)]
        if WALLS in names:
            values[WALLS] = np.zeros((*box.shape[:0:-1], WALL, box.shape[0]))
            if inner:
                z, y, _, x = inner.expand(LAYER, LAYER).slices(wide.lo)
                part = cells.part((z, y, x))
                walls = np.moveaxis(part.walls(), 2, 0)
                self._move(part, walls, inner)
                walls[:3] /= unit**2
                walls[3] /= unit
                walls[11:14] /= unit
                walls[17] /= unit**2
                np.moveaxis(values[WALLS], 2, 0)[:, *inner.slices(box.lo)] = walls
        if OWNER in names:
            values[OWNER] = self._owners(box)
        return values

    def _move(self, cells: CutCells, walls: np.ndarray, inner: Box) -> None:
        """Add the velocities of moving surfaces to the walls [value, z, y, x] of the cells of a box."""
        owner = self._owners(inner)
        for name, motion in self.given.moving.items():
            own = owner == 1 + self.given.names.index(name)
            walls[14:, own] = wall_motion(cells, walls, rigid_velocity(motion, self.time))[:, own]

    def _owners(self, box: Box) -> np.ndarray:
        """Return the number of the named body in or next to each cell, from 1, or 0."""
        wide = box.expand(LAYER, LAYER) & self.given.domain.boxes[self.given.domain.chart_of(box)].grow(GHOST)
        corners = self.number(*self.given.domain.at_rest(wide))
        for axis in range(3):
            corners = np.maximum(np.delete(corners, 0, axis), np.delete(corners, -1, axis))
        numbers = corners.copy()
        for axis in range(3):
            after, before = np.swapaxes(numbers, 0, axis), np.swapaxes(corners, 0, axis)
            after[1:] = np.maximum(after[1:], before[:-1])
            after[:-1] = np.maximum(after[:-1], before[1:])
        of = [0, *(1 + self.given.names.index(o.name) if o.name else 0 for o in self.given.case.obstacles)]
        return np.array(of, np.uint8)[numbers[box.slices(wide.lo)]]


def rigid_velocity(motion: RigidMotion, time: float) -> RigidVelocity:
    """Return the velocity of a body at a time."""
    return RigidVelocity(np.array(motion.velocity(time)), motion.rotation(time), np.array(motion.pose(time).middle))
