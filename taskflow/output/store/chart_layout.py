"""Layout of a store of charts, fixed before anything is written: vertices, sides, and the pieces of each block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd

import numpy as np

from taskflow.output.disk.disk import CHARTS
from taskflow.output.store.layout import ArrayLayout, RecordsLayout
from taskflow.output.store.rigid_motion import POSE
from taskflow.runtime.regions import Box, Patch, Triple, complete, triple

CELLS = ("k", "j", "i")  # dimensions of cells and of vertices
VERTICES = ("k_vertex", "j_vertex", "i_vertex")


@dataclass(frozen=True, slots=True)
class Piece:
    """Cells of a chart on one block, relative to the first cell of the chart."""

    chart: int
    cells: Box


def ranges(dims: tuple[str, str, str], box: Box) -> dict[str, slice]:
    """Return the ranges of a box of cells or vertices along their dimensions, `CELLS` or `VERTICES`."""
    return {dim: slice(lo, hi) for dim, lo, hi in zip(dims, box.lo[::-1], box.hi[::-1], strict=True)}


@dataclass(frozen=True, kw_only=True, eq=False)
class ChartsLayout(RecordsLayout):
    """Charts, the fields in their cells, and the blocks that write them.

    `vertices`: of each chart, [xyz, k, j, i] in double precision. `pieces`: of each block, together all cells of all
    charts once. `sides`: patches of each side of the grid by its name. `first`, for the layout of a part of a grid: for
    each chart the number of the whole chart, and the first cell in it. Raises ValueError if the pieces are not the
    cells of the charts, or `slots` is below 1.
    """

    vertices: tuple[np.ndarray, ...]
    pieces: tuple[tuple[Piece, ...], ...]
    sides: Mapping[str, tuple[Patch, ...]] = field(default_factory=dict)
    first: tuple[tuple[int, Triple], ...] = ()

    @property
    def moves(self) -> bool:
        """True if vertices differ between records, as given by columns: see `taskflow.output.store.rigid_motion`."""
        return set(POSE) <= set(self.columns)

    def __post_init__(self) -> None:
        super().__post_init__()
        for number, cells in enumerate(self.cells):
            boxes = self._boxes(number)
            if not complete(boxes, [Box.of(cells)]):
                raise ValueError(f"the pieces {boxes} are not the {cells} cells of chart {number}, each once")

    @property
    def cells(self) -> tuple[Triple, ...]:
        """Number of cells of each chart along i, j and k."""
        return tuple(triple(n - 1 for n in vertices.shape[:0:-1]) for vertices in self.vertices)

    @property
    def arrays(self) -> dict[str, ArrayLayout]:
        """Array of each field in each chart, such as "charts/0/p".

        Shards belong to the coarsest regular grid on which every piece of the chart starts. An uncut chart is one
        shard.
        """
        arrays = {}
        for number, cells in enumerate(self.cells):
            shard = triple(gcd(*(box.lo[a] for box in self._boxes(number))) or cells[a] for a in (2, 1, 0))
            for name in self.fields:
                arrays[f"{CHARTS}/{number}/{name}"] = ArrayLayout(name, CELLS, triple(cells[::-1]), shard)
        return arrays

    def patches(self, chart: int) -> dict[str, list[Patch]]:
        """Return the patches on a chart of each of its sides, by name."""
        own = {name: [patch for patch in patches if patch.chart == chart] for name, patches in self.sides.items()}
        return {name: patches for name, patches in own.items() if patches}

    def _boxes(self, chart: int) -> list[Box]:
        return [piece.cells for block in self.pieces for piece in block if piece.chart == chart]


def shares(charts: Sequence[Box], cells: Sequence[Box]) -> list[tuple[Piece, Box]]:
    """Return the intersections of boxes of `cells` with charts, or layers of charts, all in one index space.

    Each is given as a piece of the chart or layer, and as a box in that space.
    """
    return [
        (Piece(number, common.shift(triple(-low for low in chart.lo))), common)
        for number, chart in enumerate(charts) for box in cells if chart.meets(box) for common in [chart & box]
    ]  # fmt: skip


def pieces_of(charts: Sequence[Box], blocks: Iterable[Sequence[Box]]) -> tuple[tuple[Piece, ...], ...]:
    """Return the pieces of these charts, or layers of charts, on the blocks of a partition (`Partition.pieces`)."""
    return tuple(tuple(piece for piece, _ in shares(charts, block)) for block in blocks)
