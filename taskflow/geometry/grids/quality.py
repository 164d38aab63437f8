"""Quality of a grid: smallest volumes, shapes of cells, irregular edges."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain

import numpy as np

from taskflow.common.hexahedra import cell_volumes
from taskflow.geometry.grids.multiblock.ghost_vertices import ghosted
from taskflow.geometry.grids.multiblock.grid import MultiBlockGrid, closure
from taskflow.geometry.grids.multiblock.merging import Lattice, together
from taskflow.runtime.regions import Triple, triple

ENDS = (slice(None, -1), slice(1, None))  # of edges along a direction


@dataclass(frozen=True, order=True)
class Extreme:
    """Value with its chart and cell, counted from 1."""

    value: float
    chart: int
    cell: Triple

    def __str__(self) -> str:
        return f"{self.value:.4g} (chart {self.chart}, cell {self.cell})"


@dataclass(frozen=True)
class Quality:
    """Extremes of a grid.

    `closure`: sum of the area vectors of a cell over the sum of their lengths. `aspect`: longest over shortest mean
    edge. `skewness`: deviation of the worst angle between edges from a right angle, over a right angle. `growth`:
    longer over shorter length of neighbouring cells, also across seams. Directions one cell thick are excluded from
    aspect and growth. `singular`: number of edges inside the grid, by the number of cells around them if it is not
    four.
    """

    volume: Extreme
    closure: Extreme
    aspect: Extreme
    skewness: Extreme
    growth: Extreme
    singular: dict[int, int]


def quality(grid: MultiBlockGrid) -> Quality:
    points = [chart.vertices for chart in grid.charts]
    return Quality(
        volume=min(_extreme(n, -cell_volumes(x), -1) for n, x in enumerate(points)),
        closure=max(_extreme(n, closure(x)) for n, x in enumerate(points)),
        aspect=max(_extreme(n, _aspect(x)) for n, x in enumerate(points)),
        skewness=max(_extreme(n, _skewness(x)) for n, x in enumerate(points)),
        growth=max(_extreme(n, _growth(x)) for n, x in enumerate(ghosted(grid, 1))),
        singular=singular(grid),
    )


def _extreme(chart: int, values: np.ndarray, sign: int = 1) -> Extreme:
    place = np.unravel_index(int(values.argmax()), values.shape)
    return Extreme(sign * float(values[place]), chart + 1, triple(int(n) + 1 for n in reversed(place)))


def _lengths(vertices: np.ndarray, axis: int) -> np.ndarray:
    """Return the mean length [k, j, i] of the four edges of a cell along a direction."""
    length = np.sqrt((np.diff(vertices, axis=3 - axis) ** 2).sum(axis=0))
    for across in (2 - a for a in range(3) if a != axis):
        rows = np.moveaxis(length, across, 0)
        length = np.moveaxis((rows[:-1] + rows[1:]) / 2, 0, across)
    return length


def _aspect(vertices: np.ndarray) -> np.ndarray:
    thick = [a for a in range(3) if vertices.shape[3 - a] > 2] or [0]
    lengths = [_lengths(vertices, axis) for axis in thick]
    return np.asarray(np.maximum.reduce(lengths) / np.minimum.reduce(lengths))


def _skewness(vertices: np.ndarray) -> np.ndarray:
    cosine = np.zeros(tuple(n - 1 for n in vertices.shape[1:]))
    units = [edges / np.sqrt((edges**2).sum(axis=0)) for edges in (np.diff(vertices, axis=a) for a in (3, 2, 1))]
    for corner in range(8):
        at = [
            unit[:, *(slice(None) if a == axis else ENDS[corner >> a & 1] for a in (2, 1, 0))]
            for axis, unit in enumerate(units)
        ]
        for a, b in ((0, 1), (0, 2), (1, 2)):
            cosine = np.maximum(cosine, np.abs((at[a] * at[b]).sum(axis=0)))
    return np.asarray(np.arcsin(np.minimum(cosine, 1.0)) / (np.pi / 2))


def _growth(vertices: np.ndarray) -> np.ndarray:
    """Return the largest ratio [k, j, i] of a cell's lengths to its neighbours, given vertices with a ghost layer."""
    cells = tuple(n - 3 for n in vertices.shape[1:])
    worst = np.ones(cells)
    for axis in (a for a in range(3) if cells[2 - a] > 1):
        inner = tuple(slice(None) if a == axis else slice(1, -1) for a in (2, 1, 0))
        rows = np.moveaxis(_lengths(vertices[:, *inner], axis), 2 - axis, 0)
        steps = np.maximum(rows[1:] / rows[:-1], rows[:-1] / rows[1:])
        worst = np.maximum(worst, np.moveaxis(np.maximum(steps[:-1], steps[1:]), 0, 2 - axis))
    return worst


def singular(grid: MultiBlockGrid) -> dict[int, int]:
    """Return the number of edges inside the grid, by the number of cells around them if it is not four."""
    lattice = Lattice(grid.charts, (0, 1, 2))
    pairs = [lattice.pairs(seam, axis) for seam in grid.seams for axis in seam.one.along]
    if not pairs:
        return {}
    first, second = (np.concatenate(side) for side in zip(*pairs, strict=True))
    used, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    label, _ = together(place[: first.size], place[first.size :], np.zeros((first.size, 3)), used.size)
    around = np.bincount(label, weights=_around(grid, lattice, used), minlength=used.size)
    bounded = np.zeros(used.size, bool)
    bounded[label[np.isin(used, _bounding(grid, lattice))]] = True
    inside = (label == np.arange(used.size)) & ~bounded
    return dict(sorted(Counter(around[inside & (around != 4)].astype(int).tolist()).items()))


def _around(grid: MultiBlockGrid, lattice: Lattice, used: np.ndarray) -> np.ndarray:
    """Return the number of cells of the edge's chart around each of these edges."""
    result = np.zeros(used.size)
    for (chart, axis), first in lattice.first.items():
        shape = lattice.shapes[chart, axis]
        mine = (used >= first) & (used < first + int(np.prod(shape)))
        places = np.unravel_index(used[mine] - first, tuple(reversed(shape)))
        cells = np.ones(int(mine.sum()), int)
        for across in (a for a in range(3) if a != axis):
            at = places[2 - across]
            cells *= 2 - (at == 0) - (at == grid.charts[chart].cells[across])
        result[mine] = cells
    return result


def _bounding(grid: MultiBlockGrid, lattice: Lattice) -> np.ndarray:
    """Return the numbers of the edges on sides."""
    parts: list[np.ndarray] = []
    for patch in chain.from_iterable(grid.sides.values()):
        for axis in patch.along:
            low = patch.vertices.expand((0, 0, 0), triple(-(a == axis) for a in range(3)))
            parts.append(lattice.numbers(patch.chart, low, axis).ravel())
    return np.concatenate(parts) if parts else np.zeros(0, int)
