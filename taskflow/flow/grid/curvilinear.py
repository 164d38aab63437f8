"""Area vectors of faces and volumes of cells, from vertices anywhere.

Vertices are arrays [z, y, x] of each coordinate, in double precision; vertex (i, j, k) is the low corner of cell
(i, j, k). With n vertices in a row there are n - 1 cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Vertices = tuple[np.ndarray, np.ndarray, np.ndarray]
Steps = tuple[int, int, int]
VALUES = 10
CORNERS = [(n & 1, n >> 1 & 1, n >> 2) for n in range(8)]


def face_areas(vertices: Vertices, axis: int) -> np.ndarray:
    """The area vectors [component, z, y, x] of faces across an axis, (c - a) x (d - b) / 2 with vertices a, b, c, d in
    a row around the face. Along the axis there is one face more than cells.

    The sum over the faces of a cell is 0 to rounding, and the two sides of a seam have the same bits but for the sign.
    """
    first, second = _unit((axis + 1) % 3), _unit((axis + 2) % 3)
    reach = _add(first, second)
    a, b, c, d = (_corner(vertices, steps, reach) for steps in ((0, 0, 0), first, reach, second))
    return _cross(_minus(c, a), _minus(d, b)) / 2


def cell_volumes(vertices: Vertices) -> np.ndarray:
    """The volumes [z, y, x] of cells whose faces are bilinear, exactly: of vertices n = i + 2 j + 4 k

    12 V = det[(x7 - x1) + (x6 - x0), x7 - x2, x3 - x0] + det[x6 - x0, (x7 - x2) + (x5 - x0), x7 - x4]
         + det[x7 - x1, x5 - x0, (x7 - x4) + (x3 - x0)]

    It is (1/3) sum of (mean of a face's vertices) . S over the faces.
    """
    return _trilinear([_corner(vertices, corner, (1, 1, 1)) for corner in CORNERS])


def swept_volumes(old: Vertices, new: Vertices, axis: int) -> np.ndarray:
    """The volumes [z, y, x] that faces across an axis sweep between two positions of their vertices, positive along the
    axis: those of cells between their old and their new places. What the faces of a cell sweep is the change of its
    volume, to rounding.
    """
    first, second = _unit((axis + 1) % 3), _unit((axis + 2) % 3)
    steps = [(0, 0, 0), first, second, _add(first, second)]
    return _trilinear([_corner(new if n & 1 else old, steps[n >> 1], steps[3]) for n in range(8)])


def _trilinear(x: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
    a, b, c = _minus(x[7], x[1]), _minus(x[7], x[2]), _minus(x[7], x[4])
    d, e, f = _minus(x[6], x[0]), _minus(x[5], x[0]), _minus(x[3], x[0])
    return (_det(_plus(a, d), b, f) + _det(d, _plus(b, e), c) + _det(a, e, _plus(c, f))) / 12


def metrics(vertices: Vertices) -> np.ndarray:
    """The ten values [z, y, value, x] of each cell that kernels read: the area vectors of its low faces across x, y and
    z, and its volume.
    """
    volumes = cell_volumes(vertices)
    nz, ny, nx = volumes.shape
    areas = [face_areas(vertices, axis)[:, :nz, :ny, :nx] for axis in range(3)]
    return np.moveaxis(np.concatenate([*areas, volumes[None]]), 0, 2).copy()


def _unit(axis: int) -> Steps:
    return int(axis == 0), int(axis == 1), int(axis == 2)


def _add(a: Steps, b: Steps) -> Steps:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _corner(vertices: Vertices, steps: Steps, reach: Steps) -> list[np.ndarray]:
    """The vertices some steps away, for all that are followed by `reach` others."""
    cut = tuple(slice(s, n - r + s) for s, r, n in zip(steps[::-1], reach[::-1], vertices[0].shape, strict=True))
    return [np.asarray(q, np.float64)[cut] for q in vertices]


def _minus(a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [p - q for p, q in zip(a, b, strict=True)]


def _plus(a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> list[np.ndarray]:
    return [p + q for p, q in zip(a, b, strict=True)]


def _cross(a: Sequence[np.ndarray], b: Sequence[np.ndarray]) -> np.ndarray:
    return np.stack([a[m] * b[n] - a[n] * b[m] for m, n in ((1, 2), (2, 0), (0, 1))])


def _det(a: Sequence[np.ndarray], b: Sequence[np.ndarray], c: Sequence[np.ndarray]) -> np.ndarray:
    x, y, z = _cross(b, c)
    return a[0] * x + (a[1] * y + a[2] * z)
