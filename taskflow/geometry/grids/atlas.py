"""Grid as an atlas of the runtime: charts in one index space, joined by seams."""

from __future__ import annotations

from dataclasses import dataclass

from taskflow.geometry.grids.multiblock.grid import GridSeam, MultiBlockGrid
from taskflow.runtime.regions import Atlas, Box, Patch, Seam, Triple, Turn, triple

GHOST = 2


@dataclass(frozen=True, slots=True)
class Border:
    """Patch of a side in the index space of an atlas.

    It has its chart, the direction across it, its end there (0 or 1), the layer of cells inside and its ghost layers.
    """

    chart: int
    axis: int
    end: int
    inside: Box
    beyond: Box


def places(grid: MultiBlockGrid, ghost: int = GHOST) -> list[Triple]:
    """Return the first cells of charts in the index space of their atlas, where charts follow each other along x."""
    result, at = list[Triple](), 0
    for chart in grid.charts:
        result.append((at, 0, 0))
        at += chart.cells[0] + 2 * ghost + 1
    return result


def atlas(grid: MultiBlockGrid, ghost: int = GHOST) -> Atlas:
    """Return the charts and seams of a grid as an atlas.

    Seams of a chart one cell thick with itself are omitted, because nothing changes along a direction of one cell.
    """
    first = places(grid, ghost)
    charts = tuple(Box.of(chart.cells).shift(at) for chart, at in zip(grid.charts, first, strict=True))
    joins = [seam for seam in grid.joins() if grid.charts[seam.one.chart].cells[seam.one.axis] > 1]
    return Atlas(charts, tuple(_join(seam, first, ghost) for seam in joins), ghost)


def _join(seam: GridSeam, first: list[Triple], ghost: int) -> Seam:
    here, beside = first[seam.one.chart], first[seam.other.chart]
    beyond = seam.one.cells.layer(seam.one.axis, seam.one.end, -ghost, 0).shift(here)
    shift = list(seam.turn.shift)
    for a, axis in enumerate(seam.axes):
        b = abs(axis) - 1
        shift[b] += beside[b] - here[a] if axis > 0 else beside[b] + here[a]
    return Seam(seam.one.chart, beyond, Turn(seam.axes, triple(shift)))


def borders(grid: MultiBlockGrid, ghost: int = GHOST) -> dict[str, tuple[Border, ...]]:
    """Return the patches of each side of a grid, by its name."""
    first = places(grid, ghost)
    return {name: tuple(_border(patch, first, ghost) for patch in patches) for name, patches in grid.sides.items()}


def _border(patch: Patch, first: list[Triple], ghost: int) -> Border:
    inside = patch.cells.shift(first[patch.chart])
    beyond = inside.layer(patch.axis, patch.end, -ghost, 0)
    return Border(patch.chart, patch.axis, patch.end, inside, beyond)
