"""The distorted cells of studies of artificial compressibility."""

from __future__ import annotations

from functools import cache

import numpy as np

from taskflow.flow.grid.curvilinear import metrics

GHOST = 2  # layers around a chart


@cache
def skewed(count: int, size: int) -> np.ndarray:
    """The metrics of so many cells along each axis, of size 1 / `size`, whose vertices are moved by a tenth of that."""
    z, y, x = np.meshgrid(*[np.arange(count + 1.0)] * 3, indexing="ij")
    away = 0.1 * np.sin(x + 2 * y + 3 * z)
    return metrics(((x + away) / size, (y - away) / size, (z + away) / size))
