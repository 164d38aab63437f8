"""The faces of sides: where they are, how large, and which way they look."""

from __future__ import annotations

import numpy as np

from taskflow.geometry.grids.grid import MultiBlockGrid, Patch
from taskflow.hexahedra import area


def faces(grid: MultiBlockGrid, patch: Patch) -> tuple[np.ndarray, np.ndarray]:
    """Return the centres and the area vectors [xyz, n, m] of the faces of a patch, outwards; n and m run along the two
    directions in it, that of the higher index first.
    """
    x = grid.charts[patch.chart].at(patch.vertices).squeeze(3 - patch.axis)
    corners = x[:, :-1, :-1], x[:, :-1, 1:], x[:, 1:, 1:], x[:, 1:, :-1]
    a, b, c, d = corners if patch.axis != 1 else corners[::-1]  # in the order in which they go round the index
    return (a + b + c + d) / 4, area(a, b, c, d) * (1 if patch.end else -1)
