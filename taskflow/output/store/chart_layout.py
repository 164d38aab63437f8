"""Layout of a store of charts, fixed before anything is written: vertices, sides, and the cells of each block."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from taskflow.output.disk.disk import CHARTS
from taskflow.output.store.layout import ArrayLayout, RecordsLayout
from taskflow.output.store.rigid_motion import POSE
from taskflow.runtime.regions import Box, Patch, Triple, triple

CELLS = ("k", "j", "i")  # dimensions of cells and of vertices
VERTICES = ("k_vertex", "j_vertex", "i_vertex")


def ranges(dims: tuple[str, str, str], box: Box) -> dict[str, slice]:
    """Return the ranges of a box of cells or vertices along their dimensions, `CELLS` or `VERTICES`."""
    return {dim: slice(lo, hi) for dim, lo, hi in zip(dims, box.lo[::-1], box.hi[::-1], strict=True)}


@dataclass(frozen=True, kw_only=True, eq=False)
class ChartsLayout(RecordsLayout):
    """Charts, the fields in their cells, and the blocks that write them.

    `vertices`: of each chart, [xyz, k, j, i] in double precision. `corners`: the first cell of each in the index space.
    `sides`: patches of each side of the grid by its name. `first`, for the layout of a part of a grid: for each chart
    the number of the whole chart, and the first cell in it.
    """

    vertices: tuple[np.ndarray, ...]
    corners: tuple[Triple, ...]
    sides: Mapping[str, tuple[Patch, ...]] = field(default_factory=dict)
    first: tuple[tuple[int, Triple], ...] = ()

    @property
    def moves(self) -> bool:
        """True if vertices differ between records, as given by columns: see `taskflow.output.store.rigid_motion`."""
        return set(POSE) <= set(self.columns)

    @property
    def charts(self) -> tuple[Box, ...]:
        cells = (triple(n - 1 for n in vertices.shape[:0:-1]) for vertices in self.vertices)
        return tuple(Box.of(n).shift(corner) for n, corner in zip(cells, self.corners, strict=True))

    @property
    def arrays(self) -> dict[str, ArrayLayout]:
        """Array of each field in each chart, such as "charts/0/p"."""
        shapes = [triple(chart.shape[::-1]) for chart in self.charts]
        return {
            f"{CHARTS}/{number}/{name}": self.array(name, CELLS, shape, number)
            for number, shape in enumerate(shapes) for name in self.fields
        }  # fmt: skip

    def patches(self, chart: int) -> dict[str, list[Patch]]:
        own = {name: [patch for patch in patches if patch.chart == chart] for name, patches in self.sides.items()}
        return {name: patches for name, patches in own.items() if patches}
