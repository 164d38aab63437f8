"""Grids of charts in two dimensions, one cell thick along an axis: as a mesh of triangles between vertices, with values
at these. Charts share the vertices on their seams.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import xarray as xr

from taskflow.analysis.charts.metrics import vertices_of
from taskflow.analysis.charts.thin import thin_along, thin_direction
from taskflow.output.charts.layout import VERTICES
from taskflow.output.charts.reading import charts, patches

ENDS = (slice(None, -1), slice(1, None))  # of the vertices of cells along a direction


def numbered(parts: Sequence[np.ndarray], marked: Sequence[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the places [n, xyz] of those vertices [xyz, k, j, i] of charts that are marked, each once, and for each
    chart their numbers [k, j, i], -1 of the others.
    """
    places = np.concatenate([x[:, at].T for x, at in zip(parts, marked, strict=True)]) + 0.0  # there is no -0
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
    """Return the means at vertices over the cells around: of values [k, j, i] in the cells of each chart, by the
    numbers of their corners, -1 of those not needed.
    """
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
    """A plane through a grid: `points` [n, 2] along the two axes of `plane` ("xy"), and `triangles` [m, 3] that name
    three of them. `corners` [4 or 8, cells] are, per chart, the vertices at the corners of its cells, -1 of those not
    needed; charts share the vertices on their seams. Points are these vertices, or a `share` of the way between two
    `ends`.
    """

    plane: str
    points: np.ndarray
    triangles: np.ndarray
    corners: tuple[np.ndarray, ...]
    ends: np.ndarray | None = None
    share: np.ndarray | None = None

    def at_points(self, records: xr.DataTree, field: str) -> np.ndarray:
        """Return the values of a field of one record at all points: at vertices the mean over the cells around."""
        at_vertices = means(self.corners, (chart[field].values for _, chart in charts(records)))
        if self.ends is None or self.share is None:
            return at_vertices
        ends = at_vertices[self.ends]
        return np.asarray((1 - self.share) * ends[:, 0] + self.share * ends[:, 1])


def flat_mesh(records: xr.DataTree) -> PlaneMesh | None:
    """Return the mesh of a grid in two dimensions; None of another one."""
    parts = [vertices_of(chart) for _, chart in charts(records)]
    thin = thin_along(parts)
    return None if thin is None else _mesh(parts, *thin)


def _mesh(parts: list[np.ndarray], normal: int, thin: list[int]) -> PlaneMesh:
    along = [axis for axis in range(3) if axis != normal]
    planes = [x[along].take(0, 3 - axis) for x, axis in zip(parts, thin, strict=True)]  # [2, m, n]
    places = np.concatenate([plane.reshape(2, -1).T for plane in planes]) + 0.0  # there is no -0
    points, names = np.unique(places, axis=0, return_inverse=True)
    corners, first = [], 0
    for plane in planes:
        m, n = plane.shape[1:]
        grid = names.reshape(-1)[first : first + m * n].reshape(m, n)
        corners.append(np.stack([c.ravel() for c in (grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1])]))
        first += m * n
    quads = np.concatenate(corners, axis=1)
    triangles = np.concatenate([quads[[0, 1, 2]], quads[[0, 2, 3]]], axis=1).T
    return PlaneMesh("".join("xyz"[a] for a in along), points, triangles, tuple(corners))


def outlines(records: xr.DataTree, plane: str) -> list[tuple[str, np.ndarray]]:
    """Return the sides of a grid in two dimensions as lines of points [n, 2] in the plane, each with its name."""
    datasets, lines = dict(charts(records)), list[tuple[str, np.ndarray]]()
    normal = next(n for n, axis in enumerate("xyz") if axis not in plane)
    thin = {number: thin_direction(vertices_of(chart), normal) for number, chart in datasets.items()}
    for name, some in patches(records).items():
        for patch in some:
            across = thin[patch.chart]
            if across is not None and patch.axis != across:
                chart = datasets[patch.chart].isel(patch.surface).isel({VERTICES[2 - across]: 0})
                lines.append((name, np.stack([chart[axis].values.ravel() for axis in plane], axis=1)))
    return lines
