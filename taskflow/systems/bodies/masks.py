"""The fields that flag bodies: computed by each block for its own cells, once, before a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, product

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.flow.bodies import flags
from taskflow.flow.boundaries.box_side import Boxes
from taskflow.flow.grid import FACES, Point
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, triple
from taskflow.systems.bodies.solids import PIECE, Solids, pieces

Patch = tuple[Box, dict[str, np.ndarray]]
"""Some cells, and their values by role."""
Numbers = dict[Point, np.ndarray]  # by the location of points in cells
LARGE = 4 * PIECE  # cells in one go: every shape is looked at in every piece that it reaches
LAYERS = 2  # around cells, of which the shapes are known
AROUND = LAYERS + 3  # cells beyond the domain that have places
POINTS: tuple[Point, ...] = (*FACES, "corner", "c")


@dataclass(frozen=True)
class BodyOpening:
    """An opening in the face of a body: the cells next to it, the direction (axis, side) from these to the body, the
    change of flags there, and the entering values by field.
    """

    cells: Boxes
    way: tuple[int, int]
    flagged: Callable[[Mapping[str, np.ndarray], np.ndarray, int, int], None]
    values: dict[str, float]

    @property
    def behind(self) -> Iterator[Box]:
        """Two layers of cells of the body, as many as limited differences read."""
        axis, side = self.way
        for box, depth in product(self.cells, (1, 2)):
            yield box.shift(triple(depth * side * (a == axis) for a in range(3)))


@dataclass(frozen=True, eq=False)
class Masks:
    """The flags for the blocks of a run, and the prescribed temperature of bodies.

    `owners` and `temperatures` are by shape: the number of its body, 0 for none, and its temperature, or NaN.
    """

    solids: Solids
    roles: tuple[str, ...]
    owners: tuple[int, ...]
    temperatures: tuple[float, ...]
    openings: tuple[BodyOpening, ...] = field(default=(), kw_only=True)

    def fill(self, shard: Shard) -> None:
        """Write the flags of this block, and the temperature of bodies over the initial one."""
        nowhere = {role: np.zeros((1, 1, 1), np.uint8) for role in self.roles}
        shard.write_parts(self.roles, chain([(shard.cells, nowhere)], self.parts(shard.cells)))
        if "T_faces" in self.roles:
            shard.write_parts(["T"], self._warm_parts(shard))
        for opening in self.openings:
            for name, value in opening.values.items():
                shard.write_parts([name], self._entering_parts(shard, opening, name, value))

    def parts(self, box: Box) -> Iterator[Patch]:
        """Yield the values of the roles in parts of a box; they are 0 elsewhere."""
        for piece in pieces(box):
            numbers, around = self.solids.numbers_around(piece), piece.grow(1)
            for part in self.solids.touched(piece):
                masks = self._of(numbers[part.grow(1).slices(around.lo)])
                for opening in self.openings:
                    opening.flagged(masks, marked(opening.cells, part.grow(1)), *opening.way)
                yield part, masks

    def _warm_parts(self, shard: Shard) -> Iterator[Patch]:
        for part in self.solids.touched(shard.cells):
            temperature = self._temperature(self._centres(part))
            yield part, {"T": np.where(np.isfinite(temperature), temperature, shard.read("T", part))}

    def _entering_parts(self, shard: Shard, opening: BodyOpening, name: str, value: float) -> Iterator[Patch]:
        for box in opening.behind:
            if part := box & shard.cells:
                yield part, {name: np.where(self.solids.numbers(part) != 0, value, shard.read(name, part))}

    def _centres(self, part: Box) -> np.ndarray:
        """Return the number of the shape at each cell centre."""
        return self.solids.numbers(part)

    def _of(self, numbers: np.ndarray) -> dict[str, np.ndarray]:
        solid = numbers != 0
        masks = {"solid": flags.solid_bits(solid), "faces": flags.face_bits(solid)}
        if "edges" in self.roles:
            masks["edges"] = flags.edge_bits(solid)
        if "T_faces" in self.roles:
            masks["T_faces"] = flags.heat_bits(solid, np.isfinite(self._temperature(numbers)))
        if "scalar_faces" in self.roles:
            masks["scalar_faces"] = flags.heat_bits(solid, np.zeros_like(solid))
        if "owner_x" in self.roles:
            bodies = self._bodies(numbers)
            masks |= {f"owner_{name}": flags.owners(bodies, axis) for axis, name in enumerate("xyz")}
        return masks

    def _temperature(self, numbers: np.ndarray) -> np.ndarray:
        return np.array([np.nan, *self.temperatures])[numbers]

    def _bodies(self, numbers: np.ndarray) -> np.ndarray:
        return np.array([0, *self.owners], np.uint8)[numbers]


def marked(boxes: Boxes, part: Box) -> np.ndarray:
    """Return whether cells of a part are in one of these boxes."""
    found = np.zeros(part.shape[::-1], bool)
    for own in filter(None, (box & part for box in boxes)):
        found[own.slices(part.lo)] = True
    return found


@lru_cache(maxsize=4)
def places(grid: StaggeredGrid) -> dict[tuple[Point, int], np.ndarray]:
    """Return the coordinates of points in all cells, and in `AROUND` more on both sides, by location and axis. Outside
    periodic sides they are the coordinates of the periodic cells.
    """
    coordinates: dict[tuple[Point, int], np.ndarray] = {}
    for at, axis in product(POINTS, range(3)):
        n = grid.cells[axis]
        x = grid.coordinates(at, axis, -AROUND, n + AROUND)
        coordinates[at, axis] = x[np.arange(-AROUND, n + AROUND) % n + AROUND] if grid.periodic[axis] else x
    return coordinates
