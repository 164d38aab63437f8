"""Levels of multigrid: meshes of one domain, each with about half as many cells per direction as the previous one."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.flow.grid.metrics import AXES, BEYOND, NOWHERE, Counts, Flags, Grid, Stretched, Vector, beyond_ends
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import LookupTable, LookupTables

WALL, OPEN = 1.0, -1.0
ISOTROPIC = 1.35  # largest ratio to the shortest side along which cells are coarsened


@dataclass(frozen=True)
class Mesh:
    """Level as read by kernels: cells, spacing, and the ghost values of p at each face.

    `mirror_low` and `mirror_high`: ghost value over inner value, 1 at a wall, -1 if p = 0 on the face. Derived: `first`
    and `last`, the indices of the outermost cells, unreachable in periodic directions, `weight` = 1 / spacing^2, or 0
    along a periodic direction of one cell, `diagonal` = 2 sum(weight), and `relaxation` = 1 / diagonal.
    """

    cells: Counts
    spacing: Vector
    mirror_low: Vector
    mirror_high: Vector
    periodic: Flags
    first: Counts = field(init=False)
    last: Counts = field(init=False)
    weight: Vector = field(init=False)
    diagonal: float = field(init=False)
    relaxation: float = field(init=False)

    def __post_init__(self) -> None:
        weight = tuple(
            0.0 if n == 1 and (closed or low == high == WALL) else 1 / h**2
            for n, h, closed, low, high in zip(
                self.cells, self.spacing, self.periodic, self.mirror_low, self.mirror_high, strict=True
            )
        )
        diagonal = 2 * sum(weight)
        derived = {
            "first": tuple(-NOWHERE if closed else 0 for closed in self.periodic),
            "last": tuple(NOWHERE if closed else n - 1 for n, closed in zip(self.cells, self.periodic, strict=True)),
            "weight": weight,
            "diagonal": diagonal,
            "relaxation": 1 / diagonal if diagonal else 0.0,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    @property
    def box(self) -> Box:
        return Box.of(self.cells)

    @property
    def singular(self) -> bool:
        """True if p = 0 on no face, so that p is determined up to a constant."""
        return OPEN not in (*self.mirror_low, *self.mirror_high)

    def closed(self, sides: Collection[str]) -> Self:
        """Return this mesh with walls on some sides, x_min to z_max."""
        ends = ("min", self.mirror_low), ("max", self.mirror_high)
        low, high = (triple(WALL if f"{a}_{end}" in sides else m for a, m in zip("xyz", mirror, strict=True))
                     for end, mirror in ends)  # fmt: skip
        return replace(self, mirror_low=low, mirror_high=high)

    @property
    def widths(self) -> tuple[Sequence[float], Sequence[float]]:
        """Widths of the narrowest and of the widest cells along each direction."""
        return self.spacing, self.spacing

    @property
    def halved(self) -> tuple[int, ...]:
        """Directions to coarsen: those with several cells that are not much longer than the shortest.

        Long cells are kept until the others have grown, because point smoothers leave errors along directions of weak
        coupling. The criterion is a direction's share of the coupling in the cell where it is smallest: widest along
        the direction, narrowest across it.
        """
        several = [axis for axis in range(3) if self.cells[axis] > 1]
        narrowest, widest = self.widths
        across = {
            axis: sum((widest[axis] / narrowest[other]) ** 2 for other in several if other != axis) for axis in several
        }
        least = min(across.values(), default=0.0)
        return tuple(axis for axis in several if 1 + across[axis] <= ISOTROPIC**2 * (1 + least))

    @property
    def fewer(self) -> Counts:
        """Cells of the next level: ceil(n / 2) along `halved` directions."""
        return triple(-(-n // 2) if axis in self.halved else n for axis, n in enumerate(self.cells))

    @property
    def coarser(self) -> Mesh:
        """Next level: ceil(n / 2) cells along `halved` directions, over the same domain.

        Its cells are uniform for any n. If n is odd they are slightly shorter than two cells of this level and do not
        match them. Every level thus has the same operator, without a narrow last cell that couples strongly to one
        neighbour.
        """
        spacing = triple(h * n / m for h, n, m in zip(self.spacing, self.cells, self.fewer, strict=True))
        return Mesh(self.fewer, spacing, self.mirror_low, self.mirror_high, self.periodic)


@dataclass(frozen=True)
class StretchedMesh(Mesh):
    """Level with `edges` of cells along x, y and z. `spacing` is the mean width.

    `per_cell`: 1 / width of a cell. `per_face`: 1 / distance between the centres on both sides of its low face, or 0 if
    `weight` is 0. `share`: width over mean width.
    """

    defines: ClassVar[tuple[str, ...]] = ("STRETCHEDMESH",)
    edges: LookupTables
    per_cell: LookupTables
    per_face: LookupTables
    share: LookupTables

    @classmethod
    def between(cls, edges: Sequence[np.ndarray], low: Vector, high: Vector, periodic: Flags) -> StretchedMesh:
        """Return the mesh with these edges and mirrored or periodic ghost cells."""
        spacing = triple(float(along[-1] - along[0]) / (len(along) - 1) for along in edges)
        plain = Mesh(triple(len(along) - 1 for along in edges), spacing, low, high, periodic)
        tables: dict[str, list[LookupTable]] = {"edges": [], "per_cell": [], "per_face": [], "share": []}
        for along, mean, weight, closed in zip(edges, spacing, plain.weight, periodic, strict=True):
            widths = beyond_ends(np.diff(along), BEYOND + 1, BEYOND + 1, mirrored=not closed)
            per_face = (2.0 if weight else 0.0) / (widths[:-1] + widths[1:])
            cells = {"per_cell": 1 / widths[1:-1], "per_face": per_face[:-1], "share": widths[1:-1] / mean}
            tables["edges"].append(LookupTable(0, tuple(along.tolist())))
            for name, values in cells.items():
                tables[name].append(LookupTable(-BEYOND, tuple(values.tolist())))
        members: dict[str, Any] = {name: tuple(along) for name, along in tables.items()}
        return cls(plain.cells, plain.spacing, low, high, periodic, **members)

    @property
    def widths(self) -> tuple[Sequence[float], Sequence[float]]:
        widths = [np.diff(edges.values) for edges in self.edges]
        return [float(along.min()) for along in widths], [float(along.max()) for along in widths]

    @property
    def coarser(self) -> StretchedMesh:
        """Next level. Where its edge lies inside a cell of this level, the cell is divided in proportion."""
        edges = [
            np.interp(np.arange(m + 1) * (n / m), np.arange(n + 1), along.values)
            for along, n, m in zip(self.edges, self.cells, self.fewer, strict=True)
        ]
        return StretchedMesh.between(edges, self.mirror_low, self.mirror_high, self.periodic)


def mesh(grid: Grid, dirichlet: Collection[str] = ()) -> Mesh:
    """Return the finest level, with p = 0 on the faces `dirichlet`. Raises BadInput for one on a periodic face."""
    periodic = triple(not (low and high) for low, high in zip(grid.low, grid.high, strict=True))
    low, high = [WALL] * 3, [WALL] * 3
    for face in dirichlet:
        if periodic[AXES[face[0]]]:
            raise BadInput(f"multigrid: dirichlet = {face} is a face of a periodic direction; give faces of others")
        (high if face.endswith("max") else low)[AXES[face[0]]] = OPEN
    if isinstance(grid, Stretched):
        return StretchedMesh.between([grid.edges(axis) for axis in range(3)], triple(low), triple(high), periodic)
    return Mesh(grid.cells, grid.spacing, triple(low), triple(high), periodic)
