"""Lines for drawing a grid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from taskflow.geometry.grids.multiblock.grid import Chart, MultiBlockGrid
from taskflow.runtime.regions import Patch

Outline = tuple[str, str, np.ndarray]  # "seam", "side" or "chart"; its name; points [n, xyz], for a chart its middle


def flat(grid: MultiBlockGrid) -> bool:
    """Return True if the grid is two-dimensional: all vertices lie in two planes across z."""
    heights = [chart.vertices[2] for chart in grid.charts]
    low, high = min(float(z.min()) for z in heights), max(float(z.max()) for z in heights)
    return low < high and all(((z == low) | (z == high)).all() for z in heights)


def planar(grid: MultiBlockGrid) -> bool:
    """Return True if a flow on the grid is two-dimensional: all charts are flat and one cell thick."""
    return all(chart.cells[2] == 1 for chart in grid.charts) and flat(grid)


def outlines(grid: MultiBlockGrid) -> Iterator[Outline]:
    """Yield the borders of all seams and sides, with names of sides, and numbers of charts at their centres.

    In two dimensions the lines lie in the lower plane, and sides in that plane are omitted.
    """
    level = min(float(chart.vertices[2].min()) for chart in grid.charts) if flat(grid) else None
    seams = (("seam", str(n), patch) for n, seam in enumerate(grid.seams, start=1) for patch in (seam.one, seam.other))
    sides = (("side", name, patch) for name, patches in grid.sides.items() for patch in patches)
    for kind, name, patch in (*seams, *sides):
        yield from ((kind, name, line) for line in _border(grid.charts[patch.chart], patch, level))
    for number, chart in enumerate(grid.charts, start=1):
        k, j, i = (n // 2 for n in chart.vertices.shape[1:])
        yield "chart", str(number), chart.vertices[:, k, j, i][None]


def _border(chart: Chart, patch: Patch, level: float | None) -> Iterator[np.ndarray]:
    """Yield the border of a patch, or in two dimensions its line in the lower plane, unless it lies in the plane."""
    points = chart.at(patch.vertices).squeeze(3 - patch.axis)
    border = np.concatenate([points[:, 0], points[:, 1:, -1], points[:, -1, -2::-1], points[:, -2::-1, 0]], axis=1).T
    if level is None:
        yield border
    elif np.ptp(border[:, 2]) > 0:
        edges = points[:, 0], points[:, -1], points[..., 0], points[..., -1]
        low = [edge for edge in edges if (edge[2] == level).all()]
        yield max(low, key=lambda edge: edge.shape[1]).T
