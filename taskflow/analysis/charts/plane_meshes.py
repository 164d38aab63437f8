"""Planes of chart grids as triangle meshes with values at vertices.

Grids in two dimensions, one cell thick along an axis, are used directly, grids in three are cut by a plane. Charts
share the vertices on their seams. Cells are cut into six tetrahedra each (H. W. Kuhn 1960, IBM J. Res. Dev. 4, 518),
and these by the plane. Along an edge a field is linear between its values at vertices, the means of the adjacent cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import xarray as xr

from taskflow.analysis.charts.metrics import vertices_of
from taskflow.analysis.interface import CUTS, ENDS, TETRAHEDRA, crossed
from taskflow.analysis.planes import CutPlane, plane_between
from taskflow.common.point_location import reach, thin_along, thin_direction
from taskflow.output.store.chart_layout import VERTICES, ranges
from taskflow.output.store.reading import charts, patches


def numbered(parts: Sequence[np.ndarray], marked: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the unique positions [n, xyz] of marked vertices [xyz, k, j, i] of charts, and their numbers.

    Numbers are [k, j, i] for each chart, -1 for unmarked vertices. In a plane positions have two coordinates and
    vertices two indices.
    """
    places = np.concatenate([x[:, at].T for x, at in zip(parts, marked, strict=True)]) + 0.0  # removes -0
    nodes, names = np.unique(places, axis=0, return_inverse=True)
    numbers, first = [], 0
    for at in marked:
        number, count = np.full(at.shape, -1), int(at.sum())
        number[at] = names.reshape(-1)[first : first + count]
        numbers.append(number)
        first += count
    return nodes, numbers


def corners_of(number: np.ndarray) -> np.ndarray:
    """Return the numbers [8, cells] of the vertices of cells at the corners n = i + 2 j + 4 k."""
    return np.stack([number[k, j, i].ravel() for k, j, i in product(ENDS, repeat=3)])


def means(corners: Sequence[np.ndarray], values: Iterable[np.ndarray]) -> np.ndarray:
    """Return the means at vertices over cells [k, j, i], given the numbers of corners per chart, -1 if unneeded."""
    count = 1 + max(int(at.max(initial=-1)) for at in corners)
    total, cells = np.zeros(count), np.zeros(count)
    for numbers, of_chart in zip(corners, values, strict=True):
        for at in numbers:
            needed = at >= 0
            total += np.bincount(at[needed], of_chart.ravel()[needed], count)
            cells += np.bincount(at[needed], minlength=count)
    return np.asarray(total / cells)


@dataclass(frozen=True)
class PlaneMesh:
    """Plane through a grid: `points` [n, 2] along the two axes of `plane` ("xy"), and `triangles` [m, 3] of points.

    `corners` [4 or 8, cells]: vertices of cells per chart, -1 if not needed, shared on seams. Points are these
    vertices, or at a fraction `share` between two `ends`.
    """

    plane: str
    points: np.ndarray
    triangles: np.ndarray
    corners: tuple[np.ndarray, ...]
    ends: np.ndarray | None = None
    share: np.ndarray | None = None

    def at_points(self, records: xr.DataTree, field: str) -> np.ndarray:
        """Return the values of a field of one record at all points. At vertices they are means over adjacent cells."""
        at_vertices = means(self.corners, (chart[field].values for _, chart in charts(records)))
        if self.ends is None or self.share is None:
            return at_vertices
        ends = at_vertices[self.ends]
        return np.asarray((1 - self.share) * ends[:, 0] + self.share * ends[:, 1])


def flat_mesh(records: xr.DataTree) -> PlaneMesh | None:
    """Return the mesh of a two-dimensional grid, or None for other grids."""
    parts = [vertices_of(chart) for _, chart in charts(records)]
    thin = thin_along(parts)
    return None if thin is None else _mesh(parts, *thin)


def flat_plane(records: xr.DataTree) -> str | None:
    """Return the axes in the plane of a two-dimensional grid, such as "xz", or None for other grids."""
    thin = thin_along([vertices_of(chart) for _, chart in charts(records)])
    return None if thin is None else "xyz".replace("xyz"[thin[0]], "")


def _mesh(parts: list[np.ndarray], normal: int, thin: list[int]) -> PlaneMesh:
    along = [axis for axis in range(3) if axis != normal]
    planes = [x[along].take(0, 3 - axis) for x, axis in zip(parts, thin, strict=True)]  # [2, m, n]
    points, numbers = numbered(planes, [np.ones(plane.shape[1:], bool) for plane in planes])
    around = ((grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]) for grid in numbers)
    corners = tuple(np.stack([corner.ravel() for corner in quad]) for quad in around)
    quads = np.concatenate(corners, axis=1)
    triangles = np.concatenate([quads[[0, 1, 2]], quads[[0, 2, 3]]], axis=1).T
    return PlaneMesh("".join("xyz"[a] for a in along), points, triangles, corners)


def outlines(records: xr.DataTree, plane: str) -> list[tuple[str, np.ndarray]]:
    """Return the sides of a two-dimensional grid as lines of points [n, 2] in the plane, with their names."""
    datasets, lines = dict(charts(records)), list[tuple[str, np.ndarray]]()
    normal = next(n for n, axis in enumerate("xyz") if axis not in plane)
    thin = {number: thin_direction(vertices_of(chart), normal) for number, chart in datasets.items()}
    for name, some in patches(records).items():
        for patch in some:
            across = thin[patch.chart]
            if across is not None and patch.axis != across:
                surface = ranges(VERTICES, patch.vertices)
                chart = datasets[patch.chart].isel(surface).isel({VERTICES[2 - across]: 0})
                lines.append((name, np.stack([chart[axis].values.ravel() for axis in plane], axis=1)))
    return lines


SHORTEST = "yzx"  # order of preference for equal extents


def cut_plane(records: xr.DataTree, text: str | None) -> CutPlane:
    """Return the plane "y" or "y=0.3", by default across the shortest extent. Raises BadInput if invalid."""
    ends = zip(*reach(vertices_of(chart) for _, chart in charts(records)), strict=True)
    extents = dict(zip("xyz", ends, strict=True))
    if text is None:
        text = min(SHORTEST, key=lambda axis: extents[axis][1] - extents[axis][0])
    return plane_between(text, extents.__getitem__)


def cut_mesh(records: xr.DataTree, plane: CutPlane) -> PlaneMesh:
    normal, parts = "xyz".index(plane.normal), [vertices_of(chart) for _, chart in charts(records)]
    sign = 1 if any((x[normal] > plane.position).any() for x in parts) else -1  # the upper end has cells below it
    cut = [crossed(sign * (x[normal] - plane.position) > 0) for x in parts]
    marked = [_around(cells) for cells in cut]
    nodes, numbers = numbered(parts, marked)
    corners = [corners_of(number) for number in numbers]
    cells = np.concatenate([at[:, some.ravel()] for at, some in zip(corners, cut, strict=True)], axis=1)
    ends, triangles = _triangles(cells, sign * (nodes[:, normal] - plane.position))
    distance = nodes[ends, normal] - plane.position
    apart = distance[:, 0] - distance[:, 1]
    share = np.divide(distance[:, 0], apart, out=np.zeros(len(ends)), where=apart != 0)
    along = ["xyz".index(plane.across), "xyz".index(plane.up)]
    points = (1 - share)[:, None] * nodes[ends[:, 0]][:, along] + share[:, None] * nodes[ends[:, 1]][:, along]
    return PlaneMesh(plane.across + plane.up, points, triangles, tuple(corners), ends=ends, share=share)


def _around(cells: np.ndarray) -> np.ndarray:
    """Return a mask of the vertices of these cells."""
    marked = np.zeros([n + 1 for n in cells.shape], bool)
    for place in product(ENDS, repeat=3):
        marked[place] |= cells
    return marked


def _triangles(cells: np.ndarray, distance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points of a cut as pairs of vertices, and triangles of these points.

    A pair has the same vertex twice if it lies in the plane. `cells` [8, m] are given by their vertices, with signed
    distances to the plane.
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
