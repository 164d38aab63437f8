"""Grids in two dimensions: the axis across their plane, and charts whose single cell lies along k."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from taskflow.geometry.grids.multiblock.grid import Chart, GridSeam, MultiBlockGrid, oriented
from taskflow.runtime.regions import SIDES, Patch, Turn, triple


def normal(grid: MultiBlockGrid) -> int | None:
    """Return the axis, 0, 1, 2 for x, y, z, across which all charts lie between two planes, one cell thick, or None."""
    if any(1 not in chart.cells for chart in grid.charts):
        return None
    return next((axis for axis in (2, 1, 0) if _directions(grid, axis) is not None), None)


def upright(grid: MultiBlockGrid) -> MultiBlockGrid:
    """Return the grid with the single cells of a flow in two dimensions along k, where kernels leave them out.

    i, j and k change places in turn, so that charts stay right-handed. Sides keep their names and order, and `turns`
    says which charts were turned. Other grids are returned unchanged.
    """
    axis = normal(grid)
    directions = None if axis is None else _directions(grid, axis)
    if directions is None or set(directions) == {2}:
        return grid
    turns = tuple(Turn(triple((a + 2 - across) % 3 + 1 for a in range(3))) for across in directions)
    return replace(
        grid,
        charts=tuple(_turned(chart, turn) for chart, turn in zip(grid.charts, turns, strict=True)),
        seams=tuple(_seam(seam, turns) for seam in grid.seams),
        sides={name: tuple(_patch(patch, turns) for patch in patches) for name, patches in grid.sides.items()},
        turns=turns,
    )


def _directions(grid: MultiBlockGrid, axis: int) -> list[int] | None:
    """Return the direction of each chart across the plane, if all charts are one cell thick between the same two."""
    heights = [chart.vertices[axis] for chart in grid.charts]
    planes = np.array([min(x.min() for x in heights), max(x.max() for x in heights)])
    directions = [across for x in heights for across in range(3) if _between(x, across, planes)]
    return directions if len(directions) == len(heights) else None


def _between(height: np.ndarray, across: int, planes: np.ndarray) -> bool:
    """Return True if the first layer of vertices across a direction lies in one plane, and the last in the other."""
    layers = np.moveaxis(height, 2 - across, 0)
    if len(layers) != 2:
        return False
    ends = layers[:, 0, 0]
    return set(ends) == set(planes) and ends[0] != ends[1] and bool((layers == ends[:, None, None]).all())


def _turned(chart: Chart, turn: Turn) -> Chart:
    return Chart(np.ascontiguousarray(oriented(turn.inverse, chart.vertices)))


def _patch(patch: Patch, turns: tuple[Turn, ...]) -> Patch:
    turn = turns[patch.chart]
    return Patch(patch.chart, SIDES[2 * (turn.axes[patch.axis] - 1) + patch.end], turn(patch.cells))


def _seam(seam: GridSeam, turns: tuple[Turn, ...]) -> GridSeam:
    here, there = turns[seam.one.chart], turns[seam.other.chart]
    axes = (there @ Turn(seam.axes) @ here.inverse).axes
    return replace(seam, one=_patch(seam.one, turns), other=_patch(seam.other, turns), axes=axes)
