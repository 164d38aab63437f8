"""The curvature of the paraboloid closest to planes in cells, by polygons and the least squares of NumPy."""

from __future__ import annotations

from itertools import product

import numpy as np

from tests.reference.volume_of_fluid import normal, plane


def polygon(m: np.ndarray, f: float) -> np.ndarray:
    """The corners of the plane with the share f of the unit cube below it along m, in order around it."""
    size, mirrored = np.abs(m), m < 0
    alpha = float(plane(size.reshape(3, 1), np.array([f]))[0])
    corners = []
    for a in range(3):
        b, c = (n for n in range(3) if n != a)
        for i, j in product((0.0, 1.0), repeat=2):
            reached = alpha - i * size[b] - j * size[c]
            if size[a] > 0 and 0 <= reached <= size[a]:
                corner = np.empty(3)
                corner[[a, b, c]] = reached / size[a], i, j
                corners.append(np.where(mirrored, 1 - corner, corner))
    around = np.array(corners) - np.mean(corners, axis=0)
    east = np.cross(m, np.eye(3)[size.argmin()])
    order = np.argsort(np.arctan2(around @ np.cross(m, east) / np.linalg.norm(m), around @ east))
    return np.array(corners)[order]


def quadrature(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The area of a polygon as a vector, and points and weights, with the sum 1, of its mean of quadratic functions."""
    behind, middle = np.roll(corners, -1, axis=0), corners.mean(axis=0)
    areas = np.cross(corners - middle, behind - middle) / 2
    area = areas.sum(axis=0)
    points = np.concatenate([(corners + middle) / 2, (behind + middle) / 2, (corners + behind) / 2])
    return area, points, np.tile(areas @ area / (area @ area) / 3, 3)


def curvature_by_paraboloid(f: np.ndarray, cell: tuple[int, int, int], h: np.ndarray) -> float:
    """kappa in a cell [z, y, x] of an array: each plane that faces the same side stands for its mean height over the
    plane in the cell, with its area seen along the normal, and (1 + d^2/2)^-4 of the distance d in cells as a weight.
    """
    around = tuple(slice(n - 4, n + 5) for n in cell)
    normals, shares = normal(f[around]), f[around][3:-3, 3:-3, 3:-3]
    up = normals[:, 1, 1, 1] / h
    up = up / np.linalg.norm(up)
    east = np.cross(up, np.eye(3)[abs(up).argmin()])
    east = east / np.linalg.norm(east)
    frame, origin, rows, heights = np.array([east, np.cross(up, east), up]), np.zeros(3), [], []
    for z, y, x in sorted(product(range(3), repeat=3), key=lambda place: place != (1, 1, 1)):
        share, m = shares[z, y, x], normals[:, z, y, x]
        if not 1e-6 < share < 1 - 1e-6 or m / h @ up <= 0:
            continue
        corners = polygon(m, share) + np.array([x, y, z])
        _, points, means = quadrature(corners)
        middle = means @ points
        origin = middle if not rows else origin
        area, points, means = quadrature(corners * h)
        a, b, height = frame @ (points - origin * h).T
        weight = abs(area @ up) / (1 + (middle - origin) @ (middle - origin) / 2) ** 4
        rows.append(np.sqrt(weight) * np.array([means @ term for term in (a * a, b * b, a * b, a, b, a**0)]))
        heights.append(np.sqrt(weight) * (means @ height))
    (xx, yy, xy, x, y, _), *_ = np.linalg.lstsq(np.array(rows), np.array(heights))
    return -2 * (xx * (1 + y * y) + yy * (1 + x * x) - xy * x * y) / (1 + x * x + y * y) ** 1.5
