"""Charts of cells with vertices anywhere, for tests of artificial compressibility."""

from __future__ import annotations

import numpy as np

from taskflow.flow.grid.curvilinear import Vertices, metrics

LAYERS = 2


def lattice(cells: tuple[int, int, int], layers: int = 0) -> Vertices:
    """The numbers of vertices over those of cells, from 0 to 1 along each axis, with layers around: arrays [z, y, x]."""
    lines = [np.arange(-layers, n + layers + 1) / n for n in cells]
    z, y, x = np.meshgrid(*lines[::-1], indexing="ij")
    return x, y, z


def distorted(vertices: Vertices, amplitude: float = 0.1) -> Vertices:
    """Vertices moved by sines, in all directions and beyond the box, too."""
    x, y, z = vertices
    a = 2 * np.pi * x + 0.3, 2 * np.pi * y + 0.5, 2 * np.pi * z + 0.1
    moved = amplitude * np.sin(a[0]) * np.cos(a[1]) * np.sin(a[2] + 0.7)
    return x + moved / 2, y - moved / 2 + amplitude / 6 * np.sin(a[0]), z + moved / 2


def skewed_metrics(cells: tuple[int, int, int], layers: int = LAYERS) -> np.ndarray:
    """The metrics of a distorted box and of layers of cells around it."""
    return metrics(distorted(lattice(cells, layers)))
