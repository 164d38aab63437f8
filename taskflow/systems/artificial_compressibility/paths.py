"""The paths of moving bodies inside charts: their collisions, and the distances of their surfaces in a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.common.errors import BadInput, Lost, RunFailed
from taskflow.flow.boundaries.condition import Side
from taskflow.geometry.grids import faces
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box
from taskflow.systems.artificial_compressibility.bodies import ChartBodies, rigid_velocity
from taskflow.systems.bodies.moving import FARTHEST, MOMENTS, SHORTER
from taskflow.systems.bodies.paths import MOMENTS as OF_EXPRESSIONS

APART = 2  # layers of vertices around a body that are free of other bodies and of sides that it moves across
EXAMINED = 40_000_000  # vertices, at all moments of a path together
FEWEST, MOST = 8, 200  # moments of a path
ALONG = 1e-9  # of a speed: motion along a side
LONGEST = FARTHEST * (1 + 1e-9)  # beyond rounding


@dataclass(frozen=True, eq=False)
class ChartPaths:
    """Bodies, and the sides of their grid. Picklable. `MetricFields` writes the surfaces before each step."""

    bodies: ChartBodies
    sides: tuple[Side, ...]

    @property
    def moving(self) -> ChartPaths:
        return self

    @property
    def motions(self) -> tuple[None, ...]:
        """No motion is set by the user."""
        return ()

    def change(self, values: Mapping[str, Any]) -> None:
        """Do nothing, as no motion is set by the user."""

    def movement(self, shard: Shard) -> None:
        """None, as no other geometry is written."""

    def solid(self, time: float, cells: Box) -> np.ndarray:
        """Return 1 in cells [z, y, x] whose centre is in a body at a time, 0 in others."""
        return self.bodies.at(time).solid(cells).astype(np.float64)

    def path(self, end: float | None) -> tuple[float, ...]:
        """Moments of a run, fewer on a large grid. Only the first one if the end is unknown."""
        vertices = sum(chart.vertices[0].size for chart in self.bodies.domain.grid.charts)
        count = min(MOST, max(FEWEST, EXAMINED // vertices))
        return tuple(end * n / count for n in range(count + 1)) if end else (0.0,)

    def check(self, start: float, end: float, path: tuple[float, ...], step: float | None) -> None:
        """Raise BadInput if an expression jumps or is not finite between two times, if a body meets something at a
        moment of its path, or if its surface moves too far in the given step.
        """
        for motion in self.bodies.moving.values():
            motion.check(np.linspace(start, end, OF_EXPRESSIONS + 1) if end > start else np.full(1, start))
        for time in path:
            if (meeting := self.meeting(time)) is not None:
                raise BadInput(meeting)
            if step is not None and (cells := self._cells_moved(time, time + step)) > LONGEST:
                raise BadInput(
                    f"time.step = {step:g}: at time {time:g} the surface of a body moves {cells:.3g} thicknesses of the"
                    f" thinnest cell in it, of which {FARTHEST:g} are allowed; give one of"
                    f" {self.longest(time, step):.3g} or less, or time.cfl in its place"
                )

    def longest(self, time: float, dt: float) -> float:
        """Return the length of a step from a time: dt, halved until no surface moves too far."""
        for _ in range(SHORTER):
            if self._cells_moved(time, time + dt) <= LONGEST:
                return dt
            dt /= 2
        words = f"at time {time:g} a body jumps: steps of {dt:g} are too long for it"
        raise RunFailed(f"{words}; give a motion that does not")

    def _cells_moved(self, before: float, now: float) -> float:
        """Return the largest distance of a surface from its earlier position up to a later time, in thicknesses of the
        thinnest cell.
        """
        times = before + (now - before) * MOMENTS
        moving = zip(self.bodies.motions, self.bodies.surface_points, strict=True)
        squares = [(motion.ways(times, points) ** 2).sum(axis=-1).max() for motion, points in moving if motion]
        return float(max(squares)) ** 0.5 / self.bodies.domain.thickness[0]

    def meeting(self, time: float) -> str | None:
        """Return a collision at a time, as text with the remedy, or None."""
        bodies, grid = self.bodies.at(time), self.bodies.domain.grid
        labels = [obstacle.name or f"obstacles[{n}]" for n, obstacle in enumerate(bodies.case.obstacles, start=1)]
        for number, (motion, label) in enumerate(zip(bodies.motions, labels, strict=True), start=1):
            if motion is None:
                continue
            at = f'obstacles[{number}].motion: at time {time:g} "{label}"'
            near = []
            for chart in grid.charts:
                own = bodies.contains(number, *chart.vertices)
                if motion.angle.varies and (own != bodies.shapes[number - 1].contains(*chart.vertices)).any():
                    return f"{at} turns across a periodic side; give it a place without an image, or no angle"
                near.append(_around(own))
                for other, name in enumerate(labels, start=1):
                    if name != label and (near[-1] & bodies.contains(other, *chart.vertices)).any():
                        return f'{at} comes nearer than {APART} cells to "{name}"; leave more between them'
            if not any(cells.any() for cells in near):
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

    @contextmanager
    def followed(self, time: float) -> Iterator[None]:
        """Check the paths at a time after the body of the context, while the device computes. If the body fails without
        the loss of a worker, a collision is the cause.
        """
        try:
            yield
        except Lost:
            raise
        except RunFailed:
            self._follow(time)
            raise
        self._follow(time)

    def _follow(self, time: float) -> None:
        if (meeting := self.meeting(time)) is not None:
            raise RunFailed(meeting)


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
