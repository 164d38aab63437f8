"""What kernels know of immersed bodies: found by each block for its own cells, once, before a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from taskflow.flow.grid import AXES
from taskflow.flow.obstacles import cuts
from taskflow.flow.obstacles.flags import ITSELF, moved
from taskflow.regions import Box, Location
from taskflow.simulation.bodies.masks import Masks
from taskflow.simulation.bodies.solids import PIECE

FACES: tuple[Location, ...] = ("fx", "fy", "fz")


@dataclass(frozen=True, eq=False)
class ImmersedMasks(Masks):
    """The flags of cells and faces of immersed bodies, and how far away surfaces are: see `ImmersedObstacles`."""

    piece: ClassVar[int] = PIECE // 4

    def flags(self, box: Box) -> dict[str, np.ndarray]:
        """What each role holds in the cells of a box."""
        found, around = self._none(box), box.grow(1)
        on_faces = [self.solids.numbers_around(box, at) for at in FACES]
        in_cells = self.solids.numbers_around(box)
        for part in self.solids.touched(box):
            view = part.grow(1).slices(around.lo)
            for name, values in self._cut(part, [numbers[view] for numbers in on_faces], in_cells[view]).items():
                found[name][part.slices(box.lo)] = values
        return found

    def _cut(self, part: Box, on_faces: list[np.ndarray], in_cells: np.ndarray) -> dict[str, np.ndarray]:
        """The roles in a part, from the shapes that have its points and those of one layer around it."""
        closed = [numbers != 0 for numbers in on_faces]
        found = {"solid": cuts.solid_bits(closed, self._on_walls(part))}
        for name, at, numbers in zip(AXES, FACES, on_faces, strict=True):
            found[f"stick_{name}"] = self._stick(part, at, numbers)
            if "owner_x" in self.roles:
                found[f"owner_{name}"] = cuts.owners(self._bodies(numbers))
        shut = (found["solid"] & ITSELF) > 0
        if "T_faces" in self.roles:
            found["T_faces"] = cuts.heat_bits(closed, shut, np.isfinite(self._held(in_cells)))
        if "scalar_faces" in self.roles:
            found["scalar_faces"] = cuts.heat_bits(closed, shut, np.zeros_like(closed[0]))
        if "bond_T" in self.roles:
            found |= self._bonds(part, in_cells)
        return {name: values for name, values in found.items() if name in self.roles}

    def _stick(self, part: Box, at: Location, numbers: np.ndarray) -> np.ndarray:
        """The sum over neighbours inside of (1 / share - 1) / spacing^2."""
        found = np.zeros(part.shape[::-1])
        for axis, side, cut in cuts.cuts(numbers != 0):
            share = self._shares(part, cut, at, axis, side)
            found[cut] += cuts.stick(share, self.solids.grid.spacing[axis])
        return found

    def _bonds(self, part: Box, numbers: np.ndarray) -> dict[str, np.ndarray]:
        """Of cells beside bodies with temperatures: what these weigh, with and without them; whose they are."""
        bond, warm = np.zeros(part.shape[::-1]), np.zeros(part.shape[::-1])
        held = self._held(numbers)
        warm_bodies = np.where(np.isfinite(held), self._bodies(numbers), np.uint8(0))
        for axis, side, cut in cuts.cuts(np.isfinite(held)):
            each = cuts.bond(self._shares(part, cut, "c", axis, side), self.solids.grid.spacing[axis])
            bond[cut] += each
            warm[cut] += each * moved(held, (axis, side))[cut]
        return {"bond_T": bond, "warm_T": warm, "owner_T": cuts.owners(warm_bodies)}

    def _shares(self, part: Box, cut: np.ndarray, at: Location, axis: int, side: int) -> np.ndarray:
        """Of the points that a mask of the part's cells has: how far the surface to this side is, over the spacing."""
        ends = np.stack(np.nonzero(cut)[::-1], axis=1) + np.array(part.lo)
        ends[:, axis] += side
        ends %= np.array(self.solids.grid.cells)  # beyond periodic sides alone can they lie outside
        return self.solids.shares(ends, at, axis, side)

    def _on_walls(self, part: Box) -> list[np.ndarray]:
        """For each axis: which low faces of the cells of a part, and of one layer around it, lie on walls."""
        found, wide, grid = [], part.grow(1), self.solids.grid
        for axis, periodic in enumerate(grid.periodic):
            index = np.arange(wide.lo[axis], wide.hi[axis])
            walls = np.isin(index, (0, grid.cells[axis])) & (not periodic)
            shape = [1, 1, 1]
            shape[2 - axis] = -1
            found.append(np.broadcast_to(walls.reshape(shape), wide.shape[::-1]))
        return found
