"""The flags of the cells around bodies: found by each block for its own cells, once, before a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taskflow.flow.obstacles import flags
from taskflow.machine import Shard
from taskflow.regions import Box
from taskflow.simulation.bodies.solids import PIECE, Solids


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
    piece: ClassVar[int] = PIECE

    def fill(self, shard: Shard) -> None:
        """Write the flags of this block, and over the initial temperature that of bodies, some planes at a time."""
        blocks = shard.partition.blocks
        thickest = max(block.shape[2] for block in blocks)  # of all blocks, which write equally often
        planes = max(1, self.piece // max(block.volume // block.shape[2] for block in blocks))
        for start in range(0, thickest, planes):
            piece = shard.cells & shard.cells.layer(2, 0, start, start + planes)
            shard.write(self.flags(piece), piece)
            if "T_faces" in self.roles:
                shard.write({"T": self._warmed(shard.read("T", piece), piece)}, piece)

    def flags(self, box: Box) -> dict[str, np.ndarray]:
        """The flags of the cells of a box, by role."""
        found = self._none(box)
        numbers, around = self.solids.numbers_around(box), box.grow(1)
        for part in self.solids.touched(box):
            for name, values in self._of(numbers[part.grow(1).slices(around.lo)]).items():
                found[name][part.slices(box.lo)] = values
        return found

    def _none(self, box: Box) -> dict[str, np.ndarray]:
        return {name: np.zeros(box.shape[::-1], _dtype(name)) for name in self.roles}

    def _of(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        solid = numbers != 0
        found = {"solid": flags.solid_bits(solid), "faces": flags.face_bits(solid)}
        if "edges" in self.roles:
            found["edges"] = flags.edge_bits(solid)
        if "T_faces" in self.roles:
            held = np.isfinite(self._held(numbers))
            found["T_faces"] = flags.heat_bits(solid, held)
        if "scalar_faces" in self.roles:
            found["scalar_faces"] = flags.heat_bits(solid, np.zeros_like(solid))
        if "owner_x" in self.roles:
            bodies = self._bodies(numbers)
            found |= {f"owner_{name}": flags.owners(bodies, axis) for axis, name in enumerate("xyz")}
        return found

    def _warmed(self, temperature: np.ndarray, box: Box) -> np.ndarray:
        values = self._held(self.solids.numbers(box))
        return np.where(np.isfinite(values), values, temperature)

    def _held(self, numbers: np.ndarray) -> np.ndarray:
        """The temperature that shapes of these numbers have, or NaN."""
        return np.array([np.nan, *self.temperatures])[numbers]

    def _bodies(self, numbers: np.ndarray) -> np.ndarray:
        """The numbers of the bodies that shapes of these numbers are part of."""
        return np.array([0, *self.owners], np.uint8)[numbers]


def _dtype(role: str) -> str:
    if role.endswith("faces") or role == "edges":
        return "u2"
    return "u1" if role == "solid" or role.startswith("owner") else "f8"
