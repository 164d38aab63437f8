"""The flags of the cells around bodies: found by each block for its own cells, once, before a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from taskflow.flow.obstacles import flags
from taskflow.machine import Shard
from taskflow.regions import Box
from taskflow.simulation.bodies.solids import Solids, pieces

Patch = tuple[Box, dict[str, np.ndarray]]
"""Some cells, and what is known of them, by role."""


@dataclass(frozen=True, eq=False)
class Masks:
    """The fields of flags for the blocks of a run, and the temperature in bodies that have one.

    `owners` and `temperatures` are by shape: the number of the body that it is part of, 0 for none, and its
    temperature, or NaN.
    """

    solids: Solids
    roles: tuple[str, ...]
    owners: tuple[int, ...]
    temperatures: tuple[float, ...]

    def fill(self, shard: Shard) -> None:
        """Write the flags of this block, and over the initial temperature that of bodies."""
        nowhere = {role: np.zeros((1, 1, 1), np.uint8) for role in self.roles}
        shard.write_parts(self.roles, chain([(shard.cells, nowhere)], self.parts(shard.cells)))
        if "T_faces" in self.roles:
            shard.write_parts(["T"], self._warm_parts(shard))

    def parts(self, box: Box) -> Iterator[Patch]:
        """What the roles hold in parts of a box; they hold 0 elsewhere."""
        for piece in pieces(box):
            numbers, around = self.solids.numbers_around(piece), piece.grow(1)
            for part in self.solids.touched(piece):
                yield part, self._of(numbers[part.grow(1).slices(around.lo)])

    def _warm_parts(self, shard: Shard) -> Iterator[Patch]:
        for part in self.solids.touched(shard.cells):
            held = self._held(self.solids.numbers(part))
            yield part, {"T": np.where(np.isfinite(held), held, shard.read("T", part))}

    def _of(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        solid = numbers != 0
        masks = {"solid": flags.solid_bits(solid), "faces": flags.face_bits(solid)}
        if "edges" in self.roles:
            masks["edges"] = flags.edge_bits(solid)
        if "T_faces" in self.roles:
            held = np.isfinite(self._held(numbers))
            masks["T_faces"] = flags.heat_bits(solid, held)
        if "scalar_faces" in self.roles:
            masks["scalar_faces"] = flags.heat_bits(solid, np.zeros_like(solid))
        if "owner_x" in self.roles:
            bodies = self._bodies(numbers)
            masks |= {f"owner_{name}": flags.owners(bodies, axis) for axis, name in enumerate("xyz")}
        return masks

    def _held(self, numbers: np.ndarray) -> np.ndarray:
        """The temperature that shapes of these numbers have, or NaN."""
        return np.array([np.nan, *self.temperatures])[numbers]

    def _bodies(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers of the bodies that shapes of these numbers are part of."""
        return np.array([0, *self.owners], np.uint8)[numbers]
