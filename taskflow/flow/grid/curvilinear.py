"""Metrics of skewed cells as kernels read them."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from taskflow.common.hexahedra import Part, Vertices, cell_volumes, in_parts, low_faces

VALUES = 10


def metrics(vertices: Vertices) -> np.ndarray:
    """The ten values [z, y, value, x] of each cell that kernels read: the area vectors of its low faces across x, y and
    z, and its volume.
    """
    nz, ny, nx = (n - 1 for n in vertices[0].shape)
    result = np.empty((nz, ny, VALUES, nx))

    def fill(corners: np.ndarray, part: Part) -> None:
        for axis in range(3):
            result[*part, 3 * axis : 3 * axis + 3] = np.moveaxis(low_faces(corners, axis), 0, 2)
        result[*part, -1] = cell_volumes(corners)

    in_parts(vertices, fill)
    return result


def mirrored(vertices: Vertices, axis: int, high: bool) -> dict[int, np.ndarray]:
    """Return the area vectors [z, y, xyz, x] of low faces of ghost cells, across each of the two other axes: those of
    the cells inside, mirrored in the plane of the side. With them no difference along the side adds to what passes it.

    The cells are two layers, between which the side is, at the low or high end of `axis`, and one more in front along
    the two other axes: a face is mirrored in the mean plane of the areas on both of its sides.
    """
    across = 3 - axis  # in arrays [xyz, z, y, x]
    side = np.take(low_faces(vertices, axis), [1], across)
    result = {}
    for other, last in permutations({0, 1, 2} - {axis}):
        along = 3 - other
        area = np.take(low_faces(vertices, other), [0 if high else 1], across)
        area, normal = np.delete(area, 0, along), np.delete(side, 0, along) + np.delete(side, -1, along)
        square, through = (normal**2).sum(axis=0), (area * normal).sum(axis=0)
        part = np.divide(through, square, out=np.zeros_like(square), where=square > 0)
        result[other] = np.moveaxis(np.delete(area - 2 * part * normal, 0, 3 - last), 0, 2)
    return result
