"""Grids of charts in two dimensions, one cell thick: as a mesh of triangles between vertices, with values at these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from taskflow.analysis.charts.metrics import vertices_of
from taskflow.errors import BadInput
from taskflow.output.charts.layout import CELLS
from taskflow.output.charts.reading import charts, patches

NEAR = 1e-9  # of the extent of a chart: what differs by less is the same


@dataclass(frozen=True)
class FlatMesh:
    """The plane of a grid: `points` [n, 2] along the two axes of `plane` ("xy"), `triangles` [m, 3] that name three of
    them, and the points [4, cells] at the corners of the cells of each chart. Charts share the points on their seams.
    """

    plane: str
    points: np.ndarray
    triangles: np.ndarray
    corners: tuple[np.ndarray, ...]
    thin: tuple[int, ...]  # per chart: the direction that is one cell thick, 0, 1, 2 for i, j, k

    def at_points(self, records: xr.DataTree, field: str) -> np.ndarray:
        """Return the values of a field of one record at all points: of each the mean over the cells around it."""
        total, count = np.zeros(len(self.points)), np.zeros(len(self.points))
        for corners, (_, chart) in zip(self.corners, charts(records), strict=True):
            for at in corners:
                np.add.at(total, at, chart[field].values.ravel())
                np.add.at(count, at, 1)
        return total / count


def flat_mesh(records: xr.DataTree) -> FlatMesh:
    """Return the mesh of a grid in two dimensions. Raises BadInput where it has three."""
    parts = [vertices_of(chart) for _, chart in charts(records)]
    for normal in (2, 1, 0):
        thin = [_thin(x, normal) for x in parts]
        if None not in thin:
            return _mesh(parts, [axis for axis in thin if axis is not None], normal)
    raise BadInput("the grid has three dimensions; taskflow export DIR --vtk writes it for ParaView")


def _thin(x: np.ndarray, normal: int) -> int | None:
    """Return the direction of a chart that is one cell thick and runs along an axis; None where there is none."""
    size = np.ptp(x.reshape(3, -1), axis=1).max()
    for axis in range(3):
        if x.shape[3 - axis] == 2:
            shift = np.delete(np.diff(x, axis=3 - axis), normal, axis=0)
            if np.abs(shift).max() <= NEAR * size:
                return axis
    return None


def _mesh(parts: list[np.ndarray], thin: list[int], normal: int) -> FlatMesh:
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
    return FlatMesh("".join("xyz"[a] for a in along), points, triangles, tuple(corners), tuple(thin))


def outlines(records: xr.DataTree, mesh: FlatMesh) -> list[tuple[str, np.ndarray]]:
    """Return the sides of a grid in two dimensions as lines of points [n, 2], each with its name."""
    datasets, lines = dict(charts(records)), list[tuple[str, np.ndarray]]()
    for name, some in patches(records).items():
        for patch in some:
            thin = mesh.thin[patch.chart]
            if patch.axis != thin:
                chart = datasets[patch.chart].isel(patch.surface).isel({f"{CELLS[2 - thin]}_vertex": 0})
                lines.append((name, np.stack([chart[axis].values.ravel() for axis in mesh.plane], axis=1)))
    return lines
