"""Initial fields: expressions are evaluated by each block for its cells, functions once by the client."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.errors import BadInput
from taskflow.flow import StaggeredGrid
from taskflow.flow.navier_stokes import VELOCITY
from taskflow.machine import Shard
from taskflow.output import load_initial
from taskflow.regions import Box
from taskflow.simulation.case import Case
from taskflow.simulation.expression import Expression

PIECE = 1 << 24  # cells that are evaluated at a time
SAMPLES = 64  # points per direction at which formulas are tried


@dataclass(frozen=True)
class InitialFields:
    """The fields at time 0, by name: an expression, or None where the values are kept in the store `saved`."""

    grid: StaggeredGrid
    profiles: dict[str, Expression | None]
    saved: Path

    def fill(self, shard: Shard) -> None:
        """Write this block's cells of every field, some planes at a time: a host may have less memory than its GPUs."""
        thickest = max(block.shape[2] for block in shard.partition.blocks)  # of all blocks, which write equally often
        planes = max(1, PIECE // max(block.volume // block.shape[2] for block in shard.partition.blocks))
        for name in self.profiles:
            for start in range(0, thickest, planes):
                piece = shard.cells & shard.cells.layer(2, 0, start, start + planes)
                shard.write({name: self.values(name, piece)}, piece)

    def values(self, name: str, cells: Box) -> np.ndarray:
        """The values [z, y, x] of a field at its location in these cells, in double precision."""
        profile = self.profiles[name]
        if profile is None:
            return load_initial(self.saved, name, cells)
        return np.broadcast_to(profile(*self.grid.points(VELOCITY.get(name, "c"), cells)), cells.shape[::-1])


def profiles(case: Case) -> dict[str, Any]:
    """The initial fields by name: expressions and functions of x, y, z."""
    found: dict[str, Any] = dict(zip(VELOCITY, case.initial.velocity, strict=True))
    if case.heat:
        found["T"] = case.initial.temperature or Expression(case.heat.reference)
    return found


def largest(case: Case, grid: StaggeredGrid) -> dict[str, float]:
    """The largest absolute value of each initial field that is a formula, at some points, corners included; of a
    velocity that keeps a mean at least this.

    Raises BadInput where one is not finite: blocks would find that when it is too late.
    """
    found = {}
    for name, profile in profiles(case).items():
        if isinstance(profile, Expression):
            points = [_few(p) for p in grid.points(VELOCITY.get(name, "c"), grid.box)]
            try:
                found[name] = float(np.abs(profile(*points)).max())
            except BadInput as error:
                key = "velocity" if name in VELOCITY else "temperature"
                raise BadInput(f"initial.{key}: {error}") from None
    if case.body.bulk_velocity is not None:
        for name, mean in zip(VELOCITY, case.body.bulk_velocity.means, strict=True):
            if name in found:
                found[name] = max(found[name], abs(mean or 0.0))
    return found


def _few(coordinates: np.ndarray) -> np.ndarray:
    """Up to SAMPLES of the coordinates along an axis, the first and the last among them."""
    chosen = np.linspace(0, coordinates.size - 1, min(coordinates.size, SAMPLES)).round().astype(int)
    return coordinates.take(chosen, axis=int(np.argmax(coordinates.shape)))
