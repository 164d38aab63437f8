"""Lines for drawing a grid."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from taskflow.geometry.grids.multiblock.grid import Chart, MultiBlockGrid
from taskflow.geometry.grids.multiblock.plane import normal
from taskflow.runtime.regions import Patch

Outline = tuple[str, str, np.ndarray]  # "seam", "side" or "chart"; its name; points [n, xyz], for a chart its middle


def outlines(grid: MultiBlockGrid) -> Iterator[Outline]:
    """Yield the borders of all seams and sides, with names of sides, and numbers of charts at their centres.

    In two dimensions the lines lie in the lower plane, and sides in that plane are omitted.
    """
    axis = normal(grid)
    plane = None if axis is None else (axis, min(float(chart.vertices[axis].min()) for chart in grid.charts))
    seams = (("seam", str(n), patch) for n, seam in enumerate(grid.seams, start=1) for patch in (seam.one, seam.other))
    sides = (("side", name, patch) for name, patches in grid.sides.items() for patch in patches)
    for kind, name, patch in (*seams, *sides):
        yield from ((kind, name, line) for line in _border(grid.charts[patch.chart], patch, plane))
    for number, chart in enumerate(grid.charts, start=1):
        k, j, i = (n // 2 for n in chart.vertices.shape[1:])
        yield "chart", str(number), chart.vertices[:, k, j, i][None]


def _border(chart: Chart, patch: Patch, plane: tuple[int, float] | None) -> Iterator[np.ndarray]:
    """Yield the border of a patch, or in two dimensions its line in the lower plane, unless it lies in the plane."""
    points = chart.at(patch.vertices).squeeze(3 - patch.axis)
    border = np.concatenate([points[:, 0], points[:, 1:, -1], points[:, -1, -2::-1], points[:, -2::-1, 0]], axis=1).T
    if plane is None:
        yield border
        return
    axis, level = plane
    if np.ptp(border[:, axis]) > 0:
        edges = points[:, 0], points[:, -1], points[..., 0], points[..., -1]
        low = [edge for edge in edges if (edge[axis] == level).all()]
        yield max(low, key=lambda edge: edge.shape[1]).T
