"""The faces of sides: where they are, how large, and which way they look."""

from __future__ import annotations

import numpy as np

from taskflow.geometry.grids.grid import Chart, MultiBlockGrid, Patch
from taskflow.hexahedra import area


def corners(chart: Chart, patch: Patch) -> tuple[np.ndarray, ...]:
    """The vertices a, b, c, d [xyz, n, m] of the faces of a patch, in the order in which they go round the index across
    it; n and m run along the two directions in it, that of the higher index first.
    """
    x = chart.at(patch.vertices).squeeze(3 - patch.axis)
    around = x[:, :-1, :-1], x[:, :-1, 1:], x[:, 1:, 1:], x[:, 1:, :-1]
    return around if patch.axis != 1 else around[::-1]


def faces(grid: MultiBlockGrid, patch: Patch) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres and the area vectors [xyz, n, m] of the faces of a patch, outwards; n and m as of
    `corners`.
    """
    a, b, c, d = corners(grid.charts[patch.chart], patch)
    return (a + b + c + d) / 4, area(a, b, c, d) * (1 if patch.end else -1)
