"""Levels of multigrid: uniform meshes of one domain, each with about half as many cells as the one before."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from taskflow.errors import BadInput
from taskflow.flow.grid import AXES, Counts, Grid, Vector
from taskflow.regions import Box, triple

BEYOND = 2**30  # no cell has this index, nor its negative
WALL, OPEN = 1.0, -1.0
ISOTROPIC = 1.35  # how much longer than along their shortest side cells may be where they are coarsened


@dataclass(frozen=True)
class Mesh:
    """What kernels know of a level: its cells, their spacing, and what p is beyond each face.

    `low` and `high` are what a cell beyond a face shows over the value of the cell inside: 1 at a wall, -1 where p = 0
    on the face. Derived: `first` and `last` are the indices of the cells beside faces, out of reach where the direction
    is periodic; `weight` = 1 / spacing^2, 0 across a periodic direction of one cell, which is its own neighbour;
    `diagonal` = 2 (sum of the weights) and `relaxation`, one over it.
    """

    cells: Counts
    spacing: Vector
    low: Vector
    high: Vector
    periodic: tuple[bool, bool, bool]
    first: Counts = field(init=False)
    last: Counts = field(init=False)
    weight: Vector = field(init=False)
    diagonal: float = field(init=False)
    relaxation: float = field(init=False)

    def __post_init__(self) -> None:
        weight = tuple(
            0.0 if n == 1 and (closed or low == high == WALL) else 1 / h**2
            for n, h, closed, low, high in zip(
                self.cells, self.spacing, self.periodic, self.low, self.high, strict=True
            )
        )
        diagonal = 2 * sum(weight)
        derived = {
            "first": tuple(-BEYOND if closed else 0 for closed in self.periodic),
            "last": tuple(BEYOND if closed else n - 1 for n, closed in zip(self.cells, self.periodic, strict=True)),
            "weight": weight,
            "diagonal": diagonal,
            "relaxation": 1 / diagonal if diagonal else 0.0,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def box(self) -> Box:
        """All cells."""
        return Box.of(self.cells)

    @property
    def singular(self) -> bool:
        """Whether p is given on no face: it is found up to a constant."""
        return OPEN not in (*self.low, *self.high)

    @property
    def halved(self) -> tuple[int, ...]:
        """The directions along which the next level is coarser: where several cells are not much longer than the
        shortest.

        Long cells stay until the others have grown: point smoothers leave errors that vary along the directions of
        weak coupling.
        """
        several = [axis for axis in range(3) if self.cells[axis] > 1]
        shortest = min((self.spacing[axis] for axis in several), default=0.0)
        return tuple(axis for axis in several if self.spacing[axis] <= ISOTROPIC * shortest)

    @property
    def coarser(self) -> Mesh:
        """The next level: ceil(n / 2) cells along `halved` directions, over the same domain.

        Its cells are uniform for any n, odd ones too: then they are a little shorter than two cells of this level, and
        do not match them. So every level has the same operator, and no narrow cell at its end that couples strongly to
        one neighbour.
        """
        cells = triple(-(-n // 2) if axis in self.halved else n for axis, n in enumerate(self.cells))
        x, y, z = (h * n / m for h, n, m in zip(self.spacing, self.cells, cells, strict=True))
        return Mesh(cells, (x, y, z), self.low, self.high, self.periodic)


def mesh(grid: Grid, outflow: Collection[str] = ()) -> Mesh:
    """The finest level. `outflow` are the faces (x_min to z_max) on which p = 0; the others have walls, or are
    periodic.

    Raises BadInput for an outflow where the grid is periodic.
    """
    periodic = tuple(not (low and high) for low, high in zip(grid.low, grid.high, strict=True))
    low, high = [WALL] * 3, [WALL] * 3
    for face in outflow:
        if periodic[AXES[face[0]]]:
            raise BadInput(f"multigrid: outflow = {face} is a face of a periodic direction; give faces of others")
        (high if face.endswith("max") else low)[AXES[face[0]]] = OPEN
    x, y, z = periodic
    return Mesh(grid.cells, grid.spacing, (low[0], low[1], low[2]), (high[0], high[1], high[2]), (x, y, z))
