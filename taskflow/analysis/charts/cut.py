"""Plane cuts through grids of charts in three dimensions, as meshes of triangles.

Cells are cut into six tetrahedra each (H. W. Kuhn 1960, IBM J. Res. Dev. 4, 518), and these by the plane: along an edge
a field is linear between its values at vertices, which are the means of the cells around.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import xarray as xr

from taskflow.analysis.charts.flat import ENDS, PlaneMesh, corners_of, numbered
from taskflow.analysis.charts.metrics import vertices_of
from taskflow.analysis.interface import CUTS, TETRAHEDRA
from taskflow.analysis.planes import CutPlane, plane_between
from taskflow.output.charts.reading import charts

SHORTEST = "yzx"  # of directions of one extent the first is cut across


def cut_plane(records: xr.DataTree, text: str | None) -> CutPlane:
    """Return the plane that "y" (the middle) or "y=0.3" names; by default across the shortest extent of the grid.
    Raises BadInput where the text is neither, or outside of the grid.
    """
    parts = [vertices_of(chart).reshape(3, -1) for _, chart in charts(records)]
    low, high = np.min([x.min(axis=1) for x in parts], axis=0), np.max([x.max(axis=1) for x in parts], axis=0)
    extents = {axis: (float(low[n]), float(high[n])) for n, axis in enumerate("xyz")}
    if text is None:
        text = min(SHORTEST, key=lambda axis: extents[axis][1] - extents[axis][0])
    return plane_between(text, extents.__getitem__)


def cut_mesh(records: xr.DataTree, plane: CutPlane) -> PlaneMesh:
    """Return the cut through a grid."""
    normal, parts = "xyz".index(plane.normal), [vertices_of(chart) for _, chart in charts(records)]
    sign = 1 if any((x[normal] > plane.position).any() for x in parts) else -1  # the upper end has cells below it
    crossed = [_crossed(sign * (x[normal] - plane.position) > 0) for x in parts]
    marked = [_around(cells) for cells in crossed]
    nodes, numbers = numbered(parts, marked)
    corners = [corners_of(number) for number in numbers]
    cells = np.concatenate([at[:, cut.ravel()] for at, cut in zip(corners, crossed, strict=True)], axis=1)
    ends, triangles = _triangles(cells, sign * (nodes[:, normal] - plane.position))
    distance = nodes[ends, normal] - plane.position
    apart = distance[:, 0] - distance[:, 1]
    share = np.divide(distance[:, 0], apart, out=np.zeros(len(ends)), where=apart != 0)
    along = ["xyz".index(plane.across), "xyz".index(plane.up)]
    points = (1 - share)[:, None] * nodes[ends[:, 0]][:, along] + share[:, None] * nodes[ends[:, 1]][:, along]
    return PlaneMesh(plane.across + plane.up, points, triangles, tuple(corners), ends=ends, share=share)


def _crossed(above: np.ndarray) -> np.ndarray:
    """Return which cells have vertices on both sides."""
    count = np.sum([above[place] for place in product(ENDS, repeat=3)], axis=0)
    return np.asarray((count > 0) & (count < 8))


def _around(cells: np.ndarray) -> np.ndarray:
    """Return which vertices belong to these cells."""
    marked = np.zeros([n + 1 for n in cells.shape], bool)
    for place in product(ENDS, repeat=3):
        marked[place] |= cells
    return marked


def _triangles(cells: np.ndarray, distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a cut by the pairs of vertices between which they lie, twice the same where one lies in the
    plane, and triangles that name three of them; of cells [8, m] by their vertices, which are so far above the plane.
    """
    tetrahedra = cells[TETRAHEDRA.ravel()].reshape(-1, 4, cells.shape[1]).transpose(0, 2, 1).reshape(-1, 4)
    pattern = ((distance[tetrahedra] > 0) << np.arange(4)).sum(axis=1)
    pairs = np.concatenate([tetrahedra[pattern == n][:, np.array(cut)] for n, cuts in enumerate(CUTS) for cut in cuts])
    above, below = pairs[..., 0], pairs[..., 1]
    pairs = np.stack([np.where(distance[below] == 0, below, above), below], axis=-1)
    ends, names = np.unique(np.sort(pairs.reshape(-1, 2), axis=1), axis=0, return_inverse=True)
    triangles = names.reshape(-1, 3)
    a, b, c = triangles.T
    return ends, triangles[(a != b) & (b != c) & (c != a)]
