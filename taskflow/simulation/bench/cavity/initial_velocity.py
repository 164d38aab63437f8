"""Initial velocities that are products of waves along x, y and z, made where the blocks live.

A host would need minutes for as many cells as its GPUs hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.navier_stokes import VELOCITY
from taskflow.machine import Shard
from taskflow.regions import Box
from taskflow.simulation.expression import Expression
from taskflow.simulation.initial.initial import PIECE, pieces


@dataclass(frozen=True)
class Product:
    """A field: the product of formulas in x, in y and in z."""

    x: str
    y: str
    z: str

    def __str__(self) -> str:
        return "*".join(f"({factor})" for factor in (self.x, self.y, self.z))

    def factors(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> list[np.ndarray]:
        """Its values along each direction, in the shape of the coordinates given."""
        return [
            Expression(formula)(*(coordinates if axis == n else np.zeros(()) for n in range(3)))
            for axis, (formula, coordinates) in enumerate(zip((self.x, self.y, self.z), (x, y, z), strict=True))
        ]


@dataclass(frozen=True)
class InitialVelocity:
    """The velocity at time 0, by component."""

    grid: StaggeredGrid
    velocity: Mapping[str, Product]

    def fill(self, shard: Shard) -> None:
        """Write this block's cells."""
        for piece in pieces(shard, PIECE):
            shard.write({name: self.values(name, piece, shard) for name in self.velocity}, piece)

    def values(self, name: str, cells: Box, shard: Shard) -> np.ndarray:
        """The values [z, y, x] of a component in these cells, in the memory of the shard's device."""
        real, xp = shard.region.fields[name].dtype, shard.device.xp
        factors = self.velocity[name].factors(*self.grid.points(VELOCITY[name], cells))
        return prod(xp.asarray(factor, real) for factor in factors)
