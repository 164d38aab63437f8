"""The modes in which the discrete Laplacian of a box is diagonal along x and y, and how they stand in memory."""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.flow.grid import Counts, Vector
from taskflow.regions import Box, Triple, cuts

PERIODIC, WALL, GIVEN = 0, 1, -1


@dataclass(frozen=True)
class Spectrum:
    """What kernels know of the modes.

    `low` and `high` are what the faces across x, y and z are: 0 periodic, 1 walls, -1 faces on which p = 0. Planes of
    `cells` become planes of `extended` values, twice as many along an axis with a wall at one end and p = 0 at the
    other, and those half as many complex numbers. `stretch` = (dz / dx)^2, (dz / dy)^2 and 1; `scale` = dz^2 over the
    values of a plane, by which number the transforms there and back multiply. Along z the planes are in `slabs` of
    `slab` planes, the last with what is left.
    """

    cells: Counts
    extended: Counts
    low: Counts
    high: Counts
    stretch: Vector
    scale: float
    slab: int
    slabs: int

    @classmethod
    def of(cls, cells: Counts, spacing: Vector, low: Counts, high: Counts, blocks: int) -> Spectrum:
        """That of cells of these sizes, in slabs for so many blocks."""
        x, y, z = (n if a == b else 2 * n for n, a, b in zip(cells, low, high, strict=True))
        dx, dy, dz = spacing
        slab = -(-cells[2] // blocks)
        stretch, scale = ((dz / dx) ** 2, (dz / dy) ** 2, 1.0), dz**2 / (x * y)
        return cls(cells, (x, y, z), low, high, stretch, scale, slab, -(-cells[2] // slab))

    @property
    def plain(self) -> bool:
        """Whether x and y are periodic: then each complex number is a mode."""
        return self.low[:2] == (PERIODIC, PERIODIC)

    @property
    def modes(self) -> Box:
        """The cells of the spectrum: along x the real and the imaginary parts, one after the other."""
        return Box.of((2 * (self.extended[0] // 2 + 1), self.extended[1], self.cells[2]))

    def fits(self, blocks: Triple) -> bool:
        """Whether so many blocks of the grid, cut as `Partition` does by default, are the slabs."""
        nx, ny, nz = blocks
        return nx == ny == 1 and cuts(self.cells[2], nz) == (*range(0, nz * self.slab, self.slab), self.cells[2])
