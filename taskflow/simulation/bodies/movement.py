"""The geometry of bodies that move, in the fields of one block, step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from taskflow.flow.bodies.moving import KEPT, OTHER
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, hull
from taskflow.simulation.bodies.masks import Patch
from taskflow.simulation.bodies.moving import Moving, MovingMasks
from taskflow.simulation.bodies.placing import changed_poses, poses


class Movement:
    """The geometry in the fields of one block: written at the beginning, and before each step where bodies move."""

    def __init__(self, moving: Moving, shard: Shard) -> None:
        self.moving, self.shard, self.time = moving, shard, 0.0
        self._changed: tuple[list[Box], ...] = ()  # by the geometries that fields still hold

    def begin(self, time: float) -> None:
        """Write the geometry of a time into all fields."""
        moving, shard = self.moving, self.shard
        nowhere = {role: np.zeros((1, 1, 1), np.uint8) for role in moving.roles}
        shard.write_parts(moving.roles, [(shard.cells, nowhere)])
        if moving.placement is not None:
            shard.run(replace(moving.placement, other=()), **poses(moving, time))
            return
        masks = moving.masks(time)
        patches = ((part, {**values, **_others(values)}) for part, values in masks.parts(shard.cells))
        shard.write_parts(moving.roles, patches)
        self.time, self._changed = time, (moving.reach(time),) * 2

    def advance(self, time: float) -> dict[str, float]:
        """Write the geometry at the end of a step that leads to a time, for the step to take over; or the scalars with
        which a `PlacedStep` does so itself.
        """
        moving, shard = self.moving, self.shard
        if moving.placement is not None:
            return changed_poses(moving, time)
        masks = moving.masks(time)
        reach = moving.reach(time)
        changed = merged([*reach, *chain(*self._changed)])
        boxes = [cells for box in changed if (cells := box & shard.cells)]
        roles = [f"{role}{OTHER}" if role in KEPT else role for role in masks.roles]
        shard.write_parts(roles, self._patches(masks, boxes))
        self.time, self._changed = time, (reach, self._changed[0])
        return {}

    def _patches(self, masks: MovingMasks, boxes: Sequence[Box]) -> Iterator[Patch]:
        for box in boxes:
            arrays = {role: np.zeros(box.shape[::-1]) for role in masks.roles}
            for part, values in masks.parts(box):
                view = part.slices(box.lo)
                for role, value in values.items():
                    arrays[role][view] = value
            yield box, {f"{role}{OTHER}" if role in KEPT else role: value for role, value in arrays.items()}


def _others(values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {f"{role}{OTHER}": value for role, value in values.items() if role in KEPT}


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
