"""Hexahedra between arbitrary vertices, in double precision: area vectors of faces, and volumes.

Vertices are arrays [z, y, x] of each coordinate, or one array [xyz, k, j, i]. Vertex (i, j, k) is the low corner of
cell (i, j, k). A row of n vertices has n - 1 cells.
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
GAUSS = ((1 - 3**-0.5) / 2, (1 + 3**-0.5) / 2)  # points between 0 and 1, of equal weights
PART = 1 << 13  # cells computed together: intermediate values stay in the cache of a core


def in_parts(vertices: Vertices, work: Callable[[np.ndarray, Part], T]) -> list[T]:
    """Return the results of `work(corners, part)` for parts of the cells, computed sequentially."""
    nz, ny, nx = (n - 1 for n in vertices[0].shape)
    rows = max(1, PART // nx)
    layers = max(1, rows // ny)
    results = []
    for k, j in product(range(0, nz, layers), range(0, ny, rows)):
        z, y = slice(k, k + layers + 1), slice(j, j + rows + 1)
        corners = np.array([q[z, y] for q in vertices], np.float64)
        results.append(work(corners, (slice(k, min(nz, k + layers)), slice(j, min(ny, j + rows)))))
    return results


def feet(inside: np.ndarray, middles: np.ndarray, areas: np.ndarray) -> np.ndarray:
    """Return the intersections of normals through points [xyz, ...] with the planes of faces, given by centres and
    areas.
    """
    away = ((inside - middles) * areas).sum(axis=0) / (areas**2).sum(axis=0)
    return np.asarray(inside - away * areas)


def area(a: Vertices, b: Vertices, c: Vertices, d: Vertices) -> np.ndarray:
    """Return the area vectors [xyz, ...] of faces with the vertices a, b, c, d in order: (c - a) x (d - b) / 2.

    Bitwise identical, up to the sign, for any first vertex and orientation, and so on both sides of a seam.
    """
    (u, v, w), (x, y, z) = np.subtract(c, a), np.subtract(d, b)
    twice = np.array([v * z - w * y, w * x - u * z, u * y - v * x])
    return np.divide(twice, 2, out=twice)


def face_areas(vertices: Vertices, axis: int) -> np.ndarray:
    """Return the area vectors [xyz, z, y, x] of faces across an axis, directed along it.

    A row along the axis has one more face than cells. The outward areas of a cell sum to 0 up to rounding.
    """
    return area(*face_corners(vertices, axis))


def low_faces(vertices: Vertices, axis: int) -> np.ndarray:
    """Return the area vectors [xyz, z, y, x] of the low faces of cells."""
    cells = tuple(slice(None, -1) if a == axis else slice(None) for a in (2, 1, 0))
    return face_areas(np.asarray(vertices)[:, *cells], axis)


def face_corners(vertices: Vertices, axis: int) -> list[np.ndarray]:
    """Return the vertices a, b, c, d of faces across an axis, in order around the face."""
    low, first, second, high = _square(axis)
    x = np.asarray(vertices, np.float64)
    return [_corner(x, steps, high) for steps in (low, first, high, second)]


def cell_volumes(vertices: Vertices) -> np.ndarray:
    """Return the exact volumes [z, y, x] of cells with bilinear faces, with vertices n = i + 2 j + 4 k:

        12 V = det[(x7 - x1) + (x6 - x0), x7 - x2, x3 - x0] + det[x6 - x0, (x7 - x2) + (x5 - x0), x7 - x4]
             + det[x7 - x1, x5 - x0, (x7 - x4) + (x3 - x0)]

    (Grandy, UCRL-ID-128886, 1997). Equals (1/3) sum of (mean of a face's vertices) . S over the faces. Negative in a
    left-handed chart.
    """
    nz, ny, nx = (n - 1 for n in vertices[0].shape)
    result = np.empty((nz, ny, nx))

    def fill(corners: np.ndarray, part: Part) -> None:
        result[part] = _trilinear([_corner(corners, corner, CORNERS[7]) for corner in CORNERS])

    in_parts(vertices, fill)
    return result


def centres(vertices: Vertices) -> np.ndarray:
    """Return the means [xyz, z, y, x] of the corners of cells."""
    result = np.empty((3, *(n - 1 for n in vertices[0].shape)))

    def fill(corners: np.ndarray, part: Part) -> None:
        for mean, q in zip(result, corners, strict=True):
            q = (q[:-1] + q[1:]) / 2
            q = (q[:, :-1] + q[:, 1:]) / 2
            np.divide(q[..., :-1] + q[..., 1:], 2, out=mean[part])

    in_parts(vertices, fill)
    return result


def swept_volumes(old: Vertices, new: Vertices, axis: int) -> np.ndarray:
    """Return the volumes [z, y, x] swept by faces across an axis between two vertex positions, positive along the axis.

    They are volumes of cells between old and new faces. The volumes swept by the faces of a cell sum to the change of
    its volume, up to rounding.
    """
    steps, x = _square(axis), [np.asarray(vertices, np.float64) for vertices in (old, new)]
    return _trilinear([_corner(x[n & 1], steps[n >> 1], steps[3]) for n in range(8)])


def swept_rates(vertices: Vertices, speeds: Vertices, axis: int) -> np.ndarray:
    """Return the volumes [z, y, x] swept per time by faces across an axis, positive along the axis: the integral of
    speeds . dS over bilinear faces, whose vertices have these `speeds`.

    It is quadratic along each direction of a face, so that Gauss's rule with two points is exact.
    """
    steps = _square(axis)
    x, v = ([_corner(np.asarray(q, np.float64), step, steps[3]) for step in steps] for q in (vertices, speeds))
    total = np.zeros(x[0].shape[1:])
    for s, t in product(GAUSS, GAUSS):
        speed = (1 - t) * ((1 - s) * v[0] + s * v[1]) + t * ((1 - s) * v[2] + s * v[3])
        first = (1 - t) * (x[1] - x[0]) + t * (x[3] - x[2])
        second = (1 - s) * (x[2] - x[0]) + s * (x[3] - x[1])
        total += _det(speed, first, second)
    return total / 4


def _square(axis: int) -> list[Steps]:
    """Return the steps to the corners of a face across an axis, the second one along the next axis, and so on."""
    return [CORNERS[0], *(CORNERS[1 << (axis + n) % 3] for n in (1, 2)), CORNERS[7 - (1 << axis)]]


def _corner(x: np.ndarray, steps: Steps, reach: Steps) -> np.ndarray:
    """Return the vertices some steps away, for all vertices with `reach` successors."""
    cut = (slice(s, n - r + s) for s, r, n in zip(steps[::-1], reach[::-1], x.shape[1:], strict=True))
    return x[:, *cut]


def _trilinear(x: Sequence[np.ndarray]) -> np.ndarray:
    a, b, c, d, e, f = x[7] - x[1], x[7] - x[2], x[7] - x[4], x[6] - x[0], x[5] - x[0], x[3] - x[0]
    return (_det(a + d, b, f) + _det(d, b + e, c) + _det(a, e, c + f)) / 12


def _det(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    (p, q, r), (u, v, w), (x, y, z) = a, b, c
    return np.asarray(p * (v * z - w * y) + (q * (w * x - u * z) + r * (u * y - v * x)))
