"""Distance of points from a closed triangulated surface."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.geometry.solids.shapes import Coordinates, Distance, Range
from taskflow.geometry.solids.surface import ClosedSurface, pairs

POINTS = 1 << 18  # points processed together


@dataclass(frozen=True, eq=False)
class SurfaceDistance(Distance):
    """Distance to a closed triangulated surface, limited to `reach`.

    Parts without common edges are combined sequentially, the widest first. A part is added, or is a hole if its
    orientation is opposite to the whole surface and a wider part's box contains it. Where parts overlap, the distance
    is an underestimate with the correct sign.
    """

    surface: ClosedSurface
    reach: float

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        """Return the distance of points from the surface, positive inside. The coordinates broadcast.

        Raises BadInput if a part is wound around a point more than once.
        """
        places = np.broadcast_arrays(x, y, z)
        distance = np.full(places[0].size, -self.reach)
        for start in range(0, distance.size, POINTS):
            piece = slice(start, start + POINTS)
            points, values = np.stack([along.flat[piece] for along in places], axis=1), distance[piece]
            for part, hole in self._parts:
                low, high = (np.array(end) for end in part.bounds)
                near = np.flatnonzero(((points > low - self.reach) & (points < high + self.reach)).all(axis=1))
                if near.size:
                    own = self._signed(part, points[near])
                    values[near] = np.minimum(values[near], -own) if hole else np.maximum(values[near], own)
        return distance.reshape(places[0].shape)

    def range_over(self, low: Coordinates, high: Coordinates) -> Range:
        """Return bounds in boxes between corners, of distances farther than `reach` if the boxes are larger."""
        widest = np.sqrt(sum(np.max(b - a) ** 2 for a, b in zip(low, high, strict=True)))
        least, most = Distance.range_over(replace(self, reach=max(self.reach, float(widest))), low, high)
        return np.clip(least, -self.reach, self.reach), np.clip(most, -self.reach, self.reach)

    @cached_property
    def _parts(self) -> list[tuple[ClosedSurface, bool]]:
        """Parts, and True for holes. Some files have all triangles oriented inward."""
        parts = self.surface.parts
        turned = [part.volume * self.surface.volume < 0 for part in parts]
        return [(part, turned[n] and any(_within(part, wide) for wide in parts[:n])) for n, part in enumerate(parts)]

    def _signed(self, part: ClosedSurface, points: np.ndarray) -> np.ndarray:
        turns, away = part.turns(points), np.sqrt(self._squares(part, points))
        if len(several := points[abs(turns) > 1]):
            at = ", ".join(f"{along:g}" for along in several[0])
            raise BadInput(f"a surface intersects itself: ({at}) occurs twice in it; give overlapping parts separately")
        return np.where(turns != 0, away, -away)

    def _squares(self, part: ClosedSurface, points: np.ndarray) -> np.ndarray:
        """Return the squared distances. Only triangles whose centre can be nearest are examined, because they may be
        many.
        """
        corners, places = np.ascontiguousarray(part.triangles.transpose(1, 2, 0)), np.ascontiguousarray(points.T)
        middle = corners.mean(axis=0)
        radius = np.max([_apart(corner, middle) for corner in corners], axis=0)
        low, high, width = corners.min(axis=0) - self.reach, corners.max(axis=0) + self.reach, self.reach / 2
        around = self.reach + 0.75**0.5 * width  # from the centre of a cube to its corners

        def worth(numbers: np.ndarray, centres: np.ndarray) -> np.ndarray:
            near = _apart(centres.T, middle[:, numbers]) <= around + radius[numbers]
            wide = np.flatnonzero(near & (radius[numbers] > self.reach))
            near[wide] = square_distance(centres[wide].T, corners[:, :, numbers[wide]]) <= around**2
            return near

        most, squares = np.full(len(points), self.reach), np.full(len(points), self.reach**2)
        for numbers, n in pairs(low.T, high.T, points, width, worth):
            np.minimum.at(most, n, _apart(places[:, n], middle[:, numbers]) + radius[numbers])
        for numbers, n in pairs(low.T, high.T, points, width, worth):
            near = _apart(places[:, n], middle[:, numbers]) - radius[numbers] <= most[n]
            numbers, n = numbers[near], n[near]
            np.minimum.at(squares, n, square_distance(places[:, n], corners[:, :, numbers]))
        return squares


def _within(part: ClosedSurface, wide: ClosedSurface) -> bool:
    """Return True if a part is inside the bounding box of a wider part."""
    (low, high), (lowest, highest) = part.bounds, wide.bounds
    return all(a <= b for a, b in zip((*lowest, *high), (*low, *highest), strict=True))


def square_distance(points: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the squared distances between points [xyz, n] and triangles [corner, xyz, n], pairwise."""
    edges = [corners[(n + 1) % 3] - corners[n] for n in range(3)]
    away = [points - corner for corner in corners]
    normal = _cross(edges[0], edges[1])
    size = _dot(normal, normal)
    above = size > 0  # not where a triangle is a line, nor where a point is beyond an edge
    nearest = np.full(points.shape[1], np.inf)
    for edge, from_corner in zip(edges, away, strict=True):
        length = _dot(edge, edge)
        along = np.clip(_dot(from_corner, edge) / np.where(length > 0, length, 1), 0, 1)
        across = from_corner - along * edge
        nearest = np.minimum(nearest, _dot(across, across))
        above &= _dot(_cross(normal, edge), from_corner) >= 0
    height = _dot(away[0], normal) ** 2 / np.where(size > 0, size, 1)
    return np.where(above, height, nearest)


def _apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.sqrt(_dot(a - b, a - b))


def _dot(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the products of vectors [xyz, n], summed in one order for any n."""
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
