"""Fields that no program writes: metrics of cells, kinds of sides, velocities on them, corners of cells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from taskflow.flow.grid.curvilinear import VALUES, metrics
from taskflow.flow.models.artificial_compressibility.sides import SIDES, Side
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, Field
from taskflow.simulation.build.artificial_compressibility.boundaries import patch_of, velocities
from taskflow.simulation.build.artificial_compressibility.domain import ChartDomain
from taskflow.simulation.case.charts.sides import ChartSide

KINDS, METRICS, CORNERS, VELOCITY = "sides", "metrics", ("x", "y", "z"), ("u_s", "v_s", "w_s")


@dataclass(frozen=True, eq=False)
class ChartConstants:
    """These fields of a model with such `sides`, whose tables by name say how fast those are that vary. Picklable."""

    domain: ChartDomain
    sides: tuple[Side, ...]
    tables: Mapping[str, ChartSide]
    fields: tuple[Field, ...]

    def fill(self, shard: Shard) -> None:
        """Write those of a block, in all cells that it has memory for."""
        names = [field.name for field in self.fields]
        shard.write_parts(names, ((box, self.values(box)) for box in _memory(shard)))

    def begin(self, shard: Shard) -> dict[str, float]:
        """Those of time 0 are written by `fill`."""
        return {}

    def advance(self, shard: Shard, time: float, dt: float) -> dict[str, float]:
        """Write the velocities of sides at the end of a step from `time` to time + dt, where they change."""
        if self.changes:
            boxes = ((box, self.velocities(box, time + dt)) for box in _memory(shard))
            shard.write_parts(list(VELOCITY), boxes)
        return {}

    @property
    def changes(self) -> bool:
        """Whether a velocity on a side changes in time."""
        return any(table.changes for table in self.tables.values())

    def values(self, box: Box) -> dict[str, np.ndarray]:
        """All of them in the cells of a box."""
        values: dict[str, np.ndarray] = {}
        x, y, z = self.domain.vertices(box)
        for field in self.fields:
            if field.name == METRICS:
                values[METRICS] = metrics((x, y, z))
            elif field.name in CORNERS:
                values[field.name] = (x, y, z)[CORNERS.index(field.name)][:-1, :-1, :-1]
            else:
                values[field.name] = np.zeros(box.shape[::-1], field.dtype)
        for side in self.sides:
            for patch in side.patches:
                if common := patch.ghosts & box:
                    values[KINDS][common.slices(box.lo)] = SIDES[side.kind]
        return values | (self.velocities(box, 0.0) if VELOCITY[0] in values else {})

    def velocities(self, box: Box, time: float) -> dict[str, np.ndarray]:
        """Those of sides that vary, in the ghost cells next to them."""
        dtype = next(field.dtype for field in self.fields if field.name == VELOCITY[0])
        values = {name: np.zeros(box.shape[::-1], dtype) for name in VELOCITY}
        for ghosts, velocity in self._moving(time):
            if common := ghosts & box:
                for name, component in zip(VELOCITY, velocity, strict=True):
                    values[name][common.slices(box.lo)] = component[common.slices(ghosts.lo)]
        return values

    def _moving(self, time: float) -> Iterator[tuple[Box, np.ndarray]]:
        """The ghost cells next to patches that vary, and the velocities there."""
        for side in self.sides:
            if side.varying:
                for border, velocity in velocities(side.name, self.tables[side.name], self.domain.grid, time):
                    yield patch_of(border).ghosts, velocity


def _memory(shard: Shard) -> list[Box]:
    """The boxes of cells that a block has memory for."""
    partition = shard.partition
    return [partition.memory[piece] for piece in partition.pieces_of(shard.block)]


def constant_fields(dtype: str, *, uniform: bool, corners: bool, varying: bool) -> tuple[Field, ...]:
    """The fields: kinds of sides; metrics of cells that are not uniform; corners where moments are measured."""
    names = (*(CORNERS if corners else ()), *(VELOCITY if varying else ()))
    fields = [Field(KINDS, "u1", constant=True), *(Field(name, dtype, constant=True) for name in names)]
    return tuple(fields) if uniform else (*fields, Field(METRICS, dtype, values=VALUES, constant=True))
