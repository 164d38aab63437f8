"""Initial fields: expressions are evaluated by each block for its cells, functions once by the client."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.navier_stokes import VELOCITY
from taskflow.machine import Shard
from taskflow.output import load_initial
from taskflow.regions import Box
from taskflow.simulation.expression import Expression


@dataclass(frozen=True)
class InitialFields:
    """The fields at time 0, by name: an expression, or None where the values are kept in the store `saved`."""

    grid: StaggeredGrid
    profiles: dict[str, Expression | None]
    saved: Path

    def fill(self, shard: Shard) -> None:
        """Write this block's cells of every field."""
        for name in self.profiles:
            shard.write({name: self.values(name, shard.cells)})

    def values(self, name: str, cells: Box) -> np.ndarray:
        """The values [z, y, x] of a field at its location in these cells, in double precision."""
        profile = self.profiles[name]
        if profile is None:
            return load_initial(self.saved, name, cells)
        return np.broadcast_to(profile(*self.grid.points(VELOCITY.get(name, "c"), cells)), cells.shape[::-1])
