"""Hexahedra between vertices anywhere, in double precision: area vectors of faces, and volumes.

Vertices are arrays [z, y, x] of each coordinate, or one array [xyz, k, j, i]; vertex (i, j, k) is the low corner of
cell (i, j, k). With n vertices in a row there are n - 1 cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import TypeVar

import numpy as np

Vertices = Sequence[np.ndarray] | np.ndarray
Steps = tuple[int, int, int]
Part = tuple[slice, slice]  # ranges of cells along z and y
T = TypeVar("T")
CORNERS = [(n & 1, n >> 1 & 1, n >> 2) for n in range(8)]
PART = 1 << 13  # cells that are computed in one go: what is between stays in the cache of a core


def in_parts(vertices: Vertices, work: Callable[[list[np.ndarray], Part], T]) -> list[T]:
    """Return the results of `work` on the vertices of parts of the cells, and the ranges of these, one after the other.
    """
    nz, ny, nx = (n - 1 for n in vertices[0].shape)
    rows = max(1, PART // nx)
    layers = max(1, rows // ny)
    results = []
    for k, j in product(range(0, nz, layers), range(0, ny, rows)):
        z, y = slice(k, k + layers + 1), slice(j, j + rows + 1)
        corners = [np.asarray(q[z, y], np.float64) for q in vertices]
        results.append(work(corners, (slice(k, min(nz, k + layers)), slice(j, min(ny, j + rows)))))
    return results


def area(a: Vertices, b: Vertices, c: Vertices, d: Vertices) -> np.ndarray:
    """The area vectors [xyz, ...] of faces with the vertices a, b, c, d in order: (c - a) x (d - b) / 2.

    The bits are the same, but for the sign, with which vertex and which way round one ever begins: the same on both
    sides of a seam.
    """
    twice = _cross(_minus(c, a), _minus(d, b))
    result = np.empty((3, *np.shape(twice[0])))
    for n, value in enumerate(twice):
        np.divide(value, 2, out=result[n, ...])
    return result


def face_areas(vertices: Vertices, axis: int) -> np.ndarray:
    """The area vectors [xyz, z, y, x] of faces across an axis, which point along it. Along the axis there is one face
    more than cells. Those of a cell sum to 0 to rounding.
    """
    return area(*face_corners(vertices, axis))


def low_faces(vertices: Vertices, axis: int) -> np.ndarray:
    """The area vectors [xyz, z, y, x] of the faces of cells at their low ends."""
    cells = tuple(slice(None, -1) if a == axis else slice(None) for a in (2, 1, 0))
    return face_areas([q[cells] for q in vertices], axis)


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
    result = np.empty((nz, ny, nx))

    def fill(corners: list[np.ndarray], part: Part) -> None:
        result[part] = _trilinear([_corner(corners, corner, (1, 1, 1)) for corner in CORNERS])

    in_parts(vertices, fill)
    return result


def centres(vertices: Vertices) -> np.ndarray:
    """The means [xyz, z, y, x] of the corners of cells."""
    result = np.empty((3, *(n - 1 for n in vertices[0].shape)))

    def fill(corners: list[np.ndarray], part: Part) -> None:
        for mean, q in zip(result, corners, strict=True):
            q = (q[:-1] + q[1:]) / 2
            q = (q[:, :-1] + q[:, 1:]) / 2
            np.divide(q[..., :-1] + q[..., 1:], 2, out=mean[part])

    in_parts(vertices, fill)
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


def _cross(a: Vertices, b: Vertices) -> list[np.ndarray]:
    result = []
    for m, n in ((1, 2), (2, 0), (0, 1)):
        value = a[m] * b[n]
        value -= a[n] * b[m]
        result.append(value)
    return result


def _det(a: Vertices, b: Vertices, c: Vertices) -> np.ndarray:
    x, y, z = _cross(b, c)
    x *= a[0]
    y *= a[1]
    z *= a[2]
    y += z
    x += y
    return x
