"""Metrics of skewed cells as kernels read them."""

from __future__ import annotations

import numpy as np

from taskflow.hexahedra import Part, Vertices, cell_volumes, in_parts, low_faces

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
