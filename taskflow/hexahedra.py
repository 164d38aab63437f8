"""Hexahedra between vertices anywhere, in double precision: area vectors of faces, and volumes.

Vertices are arrays [z, y, x] of each coordinate, or one array [xyz, k, j, i]; vertex (i, j, k) is the low corner of
cell (i, j, k). With n vertices in a row there are n - 1 cells.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Vertices = Sequence[np.ndarray] | np.ndarray
Steps = tuple[int, int, int]
CORNERS = [(n & 1, n >> 1 & 1, n >> 2) for n in range(8)]
LAYER = 1 << 20  # cells whose volumes are computed in one go


def area(a: Vertices, b: Vertices, c: Vertices, d: Vertices) -> np.ndarray:
    """The area vectors [xyz, ...] of faces with the vertices a, b, c, d in order: (c - a) x (d - b) / 2.

    The bits are the same, but for the sign, with which vertex and which way round one ever begins: the same on both
    sides of a seam.
    """
    return _cross(_minus(c, a), _minus(d, b)) / 2


def face_areas(vertices: Vertices, axis: int) -> np.ndarray:
    """The area vectors [xyz, z, y, x] of faces across an axis, which point along it. Along the axis there is one face
    more than cells. Those of a cell sum to 0 to rounding.
    """
    return area(*face_corners(vertices, axis))


def face_corners(vertices: Vertices, axis: int) -> list[list[np.ndarray]]:
    """The vertices a, b, c, d of faces across an axis, in a row around the face."""
    first, second = _unit((axis + 1) % 3), _unit((axis + 2) % 3)
    reach = _add(first, second)
    return [_corner(vertices, steps, reach) for steps in ((0, 0, 0), first, reach, second)]


def cell_volumes(vertices: Vertices) -> np.ndarray:
    """The volumes [z, y, x] of cells whose faces are bilinear, exactly: of vertices n = i + 2 j + 4 k

    12 V = det[(x7 - x1) + (x6 - x0), x7 - x2, x3 - x0] + det[x6 - x0, (x7 - x2) + (x5 - x0), x7 - x4]
         + det[x7 - x1, x5 - x0, (x7 - x4) + (x3 - x0)]

    (Grandy, UCRL-ID-128886, 1997). It is (1/3) sum of (mean of a face's vertices) . S over the faces. Negative in a
    left-handed chart.
    """
    nz, ny, nx = (n - 1 for n in vertices[0].shape)
    result, step = np.empty((nz, ny, nx)), max(1, LAYER // (nx * ny))
    for k in range(0, nz, step):
        part = [q[k : k + step + 1] for q in vertices]
        result[k : k + step] = _trilinear([_corner(part, corner, (1, 1, 1)) for corner in CORNERS])
    return result


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


def _unit(axis: int) -> Steps:
    return int(axis == 0), int(axis == 1), int(axis == 2)


def _add(a: Steps, b: Steps) -> Steps:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def _corner(vertices: Vertices, steps: Steps, reach: Steps) -> list[np.ndarray]:
    """The vertices some steps away, for all that are followed by `reach` others."""
    cut = tuple(slice(s, n - r + s) for s, r, n in zip(steps[::-1], reach[::-1], vertices[0].shape, strict=True))
    return [np.asarray(q, np.float64)[cut] for q in vertices]


def _minus(a: Vertices, b: Vertices) -> list[np.ndarray]:
    return [p - q for p, q in zip(a, b, strict=True)]


def _plus(a: Vertices, b: Vertices) -> list[np.ndarray]:
    return [p + q for p, q in zip(a, b, strict=True)]


def _cross(a: Vertices, b: Vertices) -> np.ndarray:
    return np.stack([a[m] * b[n] - a[n] * b[m] for m, n in ((1, 2), (2, 0), (0, 1))])


def _det(a: Vertices, b: Vertices, c: Vertices) -> np.ndarray:
    x, y, z = _cross(b, c)
    return np.asarray(a[0] * x + (a[1] * y + a[2] * z))
