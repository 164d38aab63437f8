"""The paths of moving bodies inside charts: their collisions, and the distances of their surfaces in a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from taskflow.cases.formulas.motion import RigidMotion
from taskflow.flow.boundaries.condition import Side
from taskflow.geometry.grids import faces
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box
from taskflow.systems.artificial_compressibility.bodies import ChartBodies, rigid_velocity
from taskflow.systems.artificial_compressibility.domain import GHOST
from taskflow.systems.bodies import BodyPaths
from taskflow.systems.bodies.moving import FARTHEST, MOMENTS

APART = GHOST  # layers of vertices around a body that are free of other bodies and of sides that it moves across
EXAMINED = 40_000_000  # vertices, at all moments of a path together
FEWEST, MOST = 8, 200  # moments of a path
ALONG = 1e-9  # of a speed: motion along a side


@dataclass(frozen=True, eq=False)
class ChartGeometry:
    """The geometry of bodies for records. Motions are not set by the user. Picklable."""

    bodies: ChartBodies
    motions: ClassVar[tuple[None, ...]] = ()

    def change(self, values: Mapping[str, Any]) -> None:
        """Do nothing, as no motion is set by the user."""

    def solid(self, time: float, cells: Box) -> np.ndarray:
        """Return 1 in cells [z, y, x] whose centre is in a body at a time, 0 in others."""
        return self.bodies.at(time).solid(cells).astype(np.float64)


@dataclass(frozen=True, eq=False)
class ChartPaths(BodyPaths):
    """Bodies, and the sides of their grid. `MetricFields` writes the surfaces before each step."""

    farthest: ClassVar[float] = FARTHEST * (1 + 1e-9)  # beyond rounding
    unit: ClassVar[str] = "thicknesses of the thinnest cell"

    bodies: ChartBodies
    sides: tuple[Side, ...]

    @property
    def geometry(self) -> ChartGeometry:
        return ChartGeometry(self.bodies)

    @property
    def paths(self) -> Iterable[RigidMotion]:
        return self.bodies.moving.values()

    def movement(self, shard: Shard) -> None:
        """None, as no other geometry is written."""

    def path(self, start: float, end: float | None) -> tuple[float, ...]:
        """Moments of a run, fewer on a large grid. Only the first one if the end is unknown."""
        vertices = sum(chart.vertices[0].size for chart in self.bodies.domain.grid.charts)
        count = min(MOST, max(FEWEST, EXAMINED // vertices))
        return tuple(np.linspace(start, end, count + 1).tolist()) if end and end > start else (start,)

    def moved(self, before: float, now: float) -> float:
        """Return the largest distance of a surface from its earlier position up to a later time, in thicknesses of the
        thinnest cell.
        """
        times = before + (now - before) * MOMENTS
        moving = zip(self.bodies.motions, self.bodies.surface_points, strict=True)
        squares = [(motion.ways(times, points) ** 2).sum(axis=-1).max() for motion, points in moving if motion]
        return float(max(squares)) ** 0.5 / self.bodies.domain.thickness[0]

    def meeting(self, time: float) -> str | None:
        placed, domain = self.bodies.at(time), self.bodies.domain
        grid, layers = domain.grid, (APART, APART, 0 if domain.planar else APART)
        inner = tuple(slice(count, -count or None) for count in reversed(layers))
        labels = [obstacle.name or f"obstacles[{n}]" for n, obstacle in enumerate(self.bodies.case.obstacles, start=1)]
        for number, (motion, label) in enumerate(zip(self.bodies.motions, labels, strict=True), start=1):
            if motion is None:
                continue
            at = f'obstacles[{number}].motion: at time {time:g} "{label}"'
            near, found = [], False
            for chart, box in zip(grid.charts, domain.boxes, strict=True):
                around = placed.contains(number, *domain.at_rest(box.expand(layers, layers)))  # also beyond seams
                own = around[inner]
                if motion.angle.varies and (own != placed.shapes[number - 1].contains(*chart.vertices)).any():
                    return f"{at} turns across a periodic side; give it a place without an image, or no angle"
                near.append(_around(around)[inner])
                found = found or bool(own.any())
                for other, name in enumerate(labels, start=1):
                    if name != label and (near[-1] & placed.contains(other, *chart.vertices)).any():
                        return f'{at} comes nearer than {APART} cells to "{name}"; leave more between them'
            if not found:
                return f"{at} is outside of the grid; end its way before that"
            velocity = rigid_velocity(motion, time)
            for side in self.sides:
                for patch in grid.sides[side.name]:
                    if not near[patch.chart][patch.vertices.slices((0, 0, 0))].any():
                        continue
                    if side.kind.permeable:
                        return f"{at} comes nearer than {APART} cells to {side.name}, which lets fluid through"
                    middles, areas = faces(grid, patch)
                    speeds = velocity.at(middles)
                    across, size = (speeds * areas).sum(axis=0), np.sqrt((speeds**2).sum(0) * (areas**2).sum(0))
                    if (np.abs(across) > ALONG * size).any():
                        words = "moves across it; leave more between them"
                        return f"{at} comes nearer than {APART} cells to {side.name} and {words}"
        return None


def _around(inside: np.ndarray) -> np.ndarray:
    """Mark vertices [z, y, x] at most `APART` layers from marked ones."""
    for axis in range(3):
        for _ in range(APART):
            row = np.moveaxis(inside.copy(), axis, 0)
            before = row.copy()
            row[1:] |= before[:-1]
            row[:-1] |= before[1:]
            inside = np.moveaxis(row, 0, axis)
    return inside
