"""Removal of small parts of both phases, `two_phase.smallest`: their cells are given to the other phase."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from taskflow.cases.timing.intervals import Every
from taskflow.flow.measures.phases import Phase
from taskflow.flow.models.two_phase.two_phase import TwoPhase
from taskflow.runtime.machine import Shard
from taskflow.runtime.tasks import Program
from taskflow.systems.two_phase.droplets import Droplets

EVERY = Every(steps=10)
OTHERS: dict[Phase, float] = {1: 0.0, 2: 1.0}  # the share of phase 1 without a phase
COUNT, VOLUME = "removed_parts", "removed_volume"  # scalars: of both phases, since the start


@dataclass(frozen=True, eq=False)
class SmallParts:
    """Removes the connected parts of each phase that are smaller than `smallest` cells. The velocity is unchanged."""

    model: TwoPhase
    smallest: float
    bodies: bool = False

    @property
    def every(self) -> Every:
        return EVERY

    @property
    def program(self) -> Program:
        return self.model.after_removal

    def apply(self, shard: Shard) -> None:
        """Remove small parts of phase 1, then of phase 2. Collective."""
        grid = self.model.staggered
        for phase, other in OTHERS.items():
            labels, volumes = Droplets(grid, phase, self.bodies).parts(shard)
            small = {label: volume for label, volume in volumes.items() if volume < self.smallest * grid.volume}
            if not small:
                continue
            shard.write({"f": np.where(np.isin(labels, [*small]), other, shard.read("f"))})
            shard.run(self.program)
            before = removed(shard.scalars)
            shard.scalars.set({COUNT: before[COUNT] + len(small), VOLUME: before[VOLUME] + sum(small.values())})


def removed(scalars: Mapping[str, float]) -> dict[str, float]:
    """Return the number and the volume of all parts that were removed since the start."""
    return {name: scalars.get(name, 0.0) for name in (COUNT, VOLUME)}
