"""Metrics of skewed cells as kernels read them."""

from __future__ import annotations

import numpy as np

from taskflow.hexahedra import Vertices, cell_volumes, face_areas

VALUES = 10


def metrics(vertices: Vertices) -> np.ndarray:
    """The ten values [z, y, value, x] of each cell that kernels read: the area vectors of its low faces across x, y and
    z, and its volume.
    """
    volumes = cell_volumes(vertices)
    nz, ny, nx = volumes.shape
    areas = [face_areas(vertices, axis)[:, :nz, :ny, :nx] for axis in range(3)]
    return np.moveaxis(np.concatenate([*areas, volumes[None]]), 0, 2).copy()
