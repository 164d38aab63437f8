"""Metrics of skewed cells as read by kernels."""

from __future__ import annotations

from itertools import permutations

import numpy as np

from taskflow.common.hexahedra import Part, Vertices, cell_volumes, in_parts, low_faces

VALUES = 10


def metrics(vertices: Vertices) -> np.ndarray:
    """Return ten values [z, y, value, x] per cell: area vectors of its low faces across x, y and z, and its volume."""
    nz, ny, nx = (n - 1 for n in vertices[0].shape)
    result = np.empty((nz, ny, VALUES, nx))

    def fill(corners: np.ndarray, part: Part) -> None:
        for axis in range(3):
            result[*part, 3 * axis : 3 * axis + 3] = np.moveaxis(low_faces(corners, axis), 0, 2)
        result[*part, -1] = cell_volumes(corners)

    in_parts(vertices, fill)
    return result


def mirrored(vertices: Vertices, axis: int, high: bool) -> dict[int, np.ndarray]:
    """Return the area vectors [z, y, xyz, x] of low faces of ghost cells across the two other axes, by axis.

    They are the areas of the inner cells mirrored in the plane of the side, so that differences along the side
    contribute nothing to the flux through it. `vertices` are two layers of cells with the side between them, at the low
    or high end of `axis`, and one more layer at the low ends of the other axes. The mirror is the mean plane of the
    areas on both sides of a face.
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
