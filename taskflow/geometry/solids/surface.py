"""Closed triangulated surfaces, from STL and OBJ files."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.common.files import fits
from taskflow.geometry.solids.libraries import library, unreadable, user_file
from taskflow.geometry.solids.shapes import Measured, Shape, Steps, Vector
from taskflow.runtime.regions import triple

MEMORY = {".stl": 14, ".obj": 30}  # memory over file size while reading: measured 9 to 13, and 17 to 30
MATERIAL = re.compile(rb"^[ \t]*(usemtl|mtllib)\b.*$", re.MULTILINE)
FARTHEST = 1e100  # largest coordinate: products of three are finite
SAME = 1e-8  # of the extent of a surface: closer corners are equal
PIECE = 1 << 21  # pairs of triangles and columns processed together


@dataclass(frozen=True, eq=False)
class ClosedSurface(Shape):
    """Inside of closed surfaces of triangles [n, corner, xyz], with overlapping parts united.

    Each column of points along z is cut by triangles. A point is inside if the triangles below it, counted with the
    sign of their orientation, do not cancel (winding number). Two triangles that share an edge use the same number to
    decide on which side a column passes, so none is counted twice or missed.
    """

    triangles: np.ndarray

    @cached_property
    def bounds(self) -> tuple[Vector, Vector]:
        points = self.triangles.reshape(-1, 3)
        return triple(points.min(axis=0).tolist()), triple(points.max(axis=0).tolist())

    def inside(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        turns = np.zeros((z.size + 1, y.size, x.size), np.int32)
        for triangles, i, j in _candidates(self.triangles, x, y):
            height, sign = _crossings(triangles, x[i], y[j])
            hit = sign != 0
            k = np.searchsorted(z, height[hit])  # the first point at or above the triangle
            np.add.at(turns, (k, j[hit], i[hit]), sign[hit])
        return np.cumsum(turns[:-1], axis=0, out=turns[:-1]) != 0

    def turns(self, points: np.ndarray) -> np.ndarray:
        """Return the winding number of the surface around each point [n, xyz], negative if it is oriented inward.

        A point is inside if it is not 0. On a lattice `inside` is faster.
        """
        at = np.lexsort((points[:, 1], points[:, 0]))
        begins = np.append(True, (np.diff(points[at, :2], axis=0) != 0).any(axis=1))
        columns, of = points[at[begins], :2], np.empty(len(points), np.int64)
        of[at] = np.cumsum(begins) - 1
        extent = np.ptp(columns, axis=0)
        width = float(max(np.sqrt(extent.prod() / len(columns)), extent.max() / len(columns))) or 1.0
        low, high = (end[:, :2] for end in (self.triangles.min(axis=1), self.triangles.max(axis=1)))
        known: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = [(of, points[:, 2], np.zeros(len(points), np.int64))]
        for numbers, n in pairs(low, high, columns, 2 * width):
            height, sign = _crossings(self.triangles[numbers], *columns[n].T)
            hit = sign != 0
            known.append((n[hit], height[hit], sign[hit]))
        column, place, turned = (np.concatenate(values) for values in zip(*known, strict=True))
        is_point = np.arange(place.size) < len(points)
        order = np.lexsort((is_point, place, column))  # a point at the height of a triangle is above it
        rank = np.empty(order.size, np.int64)
        rank[order] = np.arange(order.size)
        return np.asarray(np.cumsum(turned[order])[rank[: len(points)]])  # surfaces that start in a column end in it

    @cached_property
    def parts(self) -> tuple[ClosedSurface, ...]:
        """Parts without common edges, the widest first."""
        n = len(self.triangles)
        _, corner = np.unique(self.triangles.reshape(-1, 3), axis=0, return_inverse=True)
        ends = corner.reshape(n, 3)[:, [[0, 1], [1, 2], [2, 0]]]
        _, edge = np.unique(np.sort(ends.reshape(-1, 2)), axis=0, return_inverse=True)
        edge, part, before = edge.reshape(n, 3), np.arange(n), np.full(n, -1)
        while (part != before).any():
            least = np.full(edge.max() + 1, n)
            np.minimum.at(least, edge, part[:, None])
            before, part = part, least[edge].min(axis=1)
            part = part[part]  # number of a triangle of the same part, for fast convergence
        parts = [ClosedSurface(self.triangles[part == number]) for number in np.unique(part)]
        return tuple(sorted(parts, key=lambda part: -math.dist(*part.bounds)))

    @cached_property
    def volume(self) -> float:
        """Enclosed volume, negative if the surface is oriented inward."""
        middle = self.triangles.mean(axis=(0, 1))
        a, b, c = (self.triangles[:, n] - middle for n in range(3))
        return float((np.cross(a, b) * c).sum() / 6)

    @cached_property
    def centre(self) -> np.ndarray:
        """Centre of the enclosed volume."""
        middle = self.triangles.mean(axis=(0, 1))
        corners = self.triangles - middle
        volumes = (np.cross(corners[:, 0], corners[:, 1]) * corners[:, 2]).sum(axis=1) / 6
        return np.asarray(middle + (volumes @ corners.sum(axis=1)) / (4 * volumes.sum()))

    def measured(self, low: np.ndarray, high: np.ndarray) -> Measured | None:
        """Return the volume and the centre of a surface in one part that the box does not cut."""
        return None if self.cut(low, high).any() or len(self.parts) > 1 else (abs(self.volume), self.centre)

    def entry(self, points: np.ndarray, axis: int, step: Steps) -> np.ndarray:
        """Return the fraction at which the path from each point first cuts a triangle."""
        first, second = (n for n in range(3) if n != axis)
        (x, i), (y, j) = (np.unique(points[:, n], return_inverse=True) for n in (first, second))
        lines, with_points = j * x.size + i, np.zeros(x.size * y.size, bool)
        with_points[lines] = True
        cut, heights = [lines], [points[:, axis]]
        for triangles, i, j in _candidates(self.triangles[:, :, [first, second, axis]], x, y):
            near = with_points[j * x.size + i]
            height, sign = _crossings(triangles[near], x[i[near]], y[j[near]])
            cut.append((j[near] * x.size + i[near])[sign != 0])
            heights.append(height[sign != 0])
        ahead = math.copysign(1, np.max(step))
        return _next_cut(np.concatenate(cut), ahead * np.concatenate(heights), len(points), np.abs(step))


def _next_cut(line: np.ndarray, place: np.ndarray, points: int, step: Steps) -> np.ndarray:
    """Return the distance of each point from the next cut of its line, over `step`, at most 1.

    The first `points` places are points, the others cuts.
    """
    is_cut = np.arange(line.size) >= points
    order = np.lexsort((is_cut, place, line))
    ranks = np.where(is_cut[order], np.arange(line.size), line.size)
    following = np.minimum.accumulate(ranks[::-1])[::-1]  # by rank: rank of the next cut on any line
    rank = np.empty(line.size, np.int64)
    rank[order] = np.arange(line.size)
    behind = following[rank[:points]]
    cut = order[np.minimum(behind, line.size - 1)]
    same = (behind < line.size) & (line[cut] == line[:points])
    return np.where(same, np.minimum((place[cut] - place[:points]) / step, 1.0), 1.0)


def _candidates(
    triangles: np.ndarray, x: np.ndarray, y: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield triangles with the columns through their bounding rectangles, in pieces."""
    low, high = triangles.min(axis=1), triangles.max(axis=1)
    first = [np.searchsorted(at, low[:, n], "left") for n, at in enumerate((x, y))]
    count = [np.searchsorted(at, high[:, n], "right") - first[n] for n, at in enumerate((x, y))]
    for n, within in _listed(count[0].astype(np.int64) * count[1], PIECE):
        yield triangles[n], first[0][n] + within % count[0][n], first[1][n] + within // count[0][n]


def _crossings(triangles: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the heights where columns at x, y meet one triangle each, and 1 if it faces up, -1 if down, 0 if missed.
    """
    corners = [triangles[:, n] for n in range(3)]
    sides = [_side(corners[n], corners[(n + 1) % 3], x, y) for n in range(3)]
    left, right = np.all([s > 0 for s, _ in sides], axis=0), np.all([s < 0 for s, _ in sides], axis=0)
    sign = np.where(left, 1, np.where(right, -1, 0)).astype(np.int32)
    weights = [area for _, area in sides]
    total = weights[0] + weights[1] + weights[2]
    flat = total == 0  # vertical: no column passes through it
    safe = np.where(flat, 1.0, total)
    height = sum(weights[n] * corners[(n + 2) % 3][:, 2] for n in range(3)) / safe
    levels = triangles[:, :, 2]
    height = np.clip(height, levels.min(axis=1), levels.max(axis=1))  # so that level triangles are met exactly
    return height, np.where(flat, 0, sign).astype(np.int32)


def _side(a: np.ndarray, b: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the side of the edge from a to b on which a point lies, 1 or -1, and twice the area of their triangle.

    Computed from the lower end in either direction, so both adjacent triangles get the same number. A point on the edge
    is treated as infinitesimally moved to higher x, and less to higher y.
    """
    swap = (a[:, 0] > b[:, 0]) | ((a[:, 0] == b[:, 0]) & (a[:, 1] > b[:, 1]))
    low, high = np.where(swap[:, None], b, a), np.where(swap[:, None], a, b)
    dx, dy = high[:, 0] - low[:, 0], high[:, 1] - low[:, 1]
    area = dx * (y - low[:, 1]) - dy * (x - low[:, 0])
    moved = np.where(dy != 0, -dy, dx)  # the sign of the change of `area` as the point moves
    side = np.sign(np.where(area != 0, area, moved))
    turned = np.where(swap, -1.0, 1.0)
    return turned * side, turned * area


def read_surface(path: Path, scale: float, shift: Vector) -> ClosedSurface:
    """Return the surface in an STL or OBJ file: scale times its points, plus shift.

    Raises BadInput if the file does not exist, has no triangles, or is not closed.
    """
    with user_file(path, MEMORY) as file:
        return _surface(file, path, scale, shift)


def _alike(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort(rows.T)
    begins = np.append(True, (rows[order[1:]] != rows[order[:-1]]).any(axis=1))
    numbers = np.empty(len(rows), np.int64)
    numbers[order] = np.cumsum(begins) - 1
    return order[begins], numbers


def _joined(triangles: np.ndarray) -> np.ndarray:
    """Return triangles with corners merged that differ by rounding only, in any units."""
    points = triangles.reshape(-1, 3)
    extent = float(np.ptp(points, axis=0).max())
    size = 2.0 ** math.ceil(math.log2(extent)) if extent else 1.0  # a power of two: nothing is rounded
    first, numbers = _alike(np.round((points - points.min(axis=0)) / (SAME * size)))
    return np.asarray(points[first][numbers].reshape(triangles.shape))


def _unpaired(triangles: np.ndarray) -> np.ndarray:
    """Return the edges [n, end, xyz] of positive length with an odd number of triangles."""
    points = triangles.reshape(-1, 3)
    first, numbers = _alike(points)
    corners = numbers.reshape(-1, 3)
    corners = corners[(corners != np.roll(corners, 1, axis=1)).all(axis=1)]
    if not len(corners):
        return np.zeros((0, 2, 3))
    edges = np.sort(corners[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    one, which = _alike(edges)
    return np.asarray(points[first[edges[one][np.bincount(which, minlength=len(one)) % 2 == 1]]])


def _surface(file: IO[bytes], path: Path, scale: float, shift: Vector) -> ClosedSurface:
    trimesh = library("trimesh", f"the surface {path.name}")
    fits(MEMORY[path.suffix.lower()] * path.stat().st_size, str(path))
    try:
        # from bytes only: given a path it would open files named inside, such as materials
        with np.errstate(all="ignore"):  # numbers that are too large are reported below
            content = file.read()
            if path.suffix.lower() == ".obj":
                content = MATERIAL.sub(b"", content)  # trimesh makes a mesh of each, in quadratic time
            mesh = trimesh.load_mesh(BytesIO(content), file_type=path.suffix.lower()[1:], process=False)
        triangles = np.array(mesh.triangles, dtype=np.float64)
    except Exception as error:  # any error of a reader of broken files
        raise unreadable(path, error, "give an STL or OBJ file") from None
    if not len(triangles):
        raise BadInput(f"{path}: has no triangles; give a surface that encloses a body")
    bad = np.argwhere(~np.isfinite(triangles).all(axis=(1, 2)) | (np.abs(triangles).max(axis=(1, 2)) > FARTHEST))
    if len(bad):
        raise BadInput(f"{path}: triangle {bad[0][0] + 1} has a corner that is infinite or far away; correct the file")
    triangles = _joined(triangles)
    if len(edges := _unpaired(triangles)):
        at = ", ".join(f"{v:.6g}" for v in edges[0].mean(axis=0))
        raise BadInput(
            f"{path}: the surface is not closed: {len(edges)} edges belong to an odd number of triangles, the"
            f" first at ({at}); repair it in the program that made it"
        )
    return ClosedSurface(scale * triangles + np.array(shift))


NEARBY = 1 << 14  # pairs of boxes and points processed together

Worth = Callable[[np.ndarray, np.ndarray], np.ndarray]


def pairs(
    low: np.ndarray, high: np.ndarray, points: np.ndarray, width: float, worth: Worth | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the numbers of boxes and points for all pairs of a point [n, axis] in a box from `low` to `high` [n, axis].

    Some other close pairs are included, because points are sorted into cubes of this `width`. `worth` selects boxes, by
    number, and cubes, by centre, to examine.
    """
    start = points.min(axis=0)
    cubes = ((points - start) / width).astype(np.int64)
    room = cubes.max(axis=0) + 1
    keys = np.ravel_multi_index(tuple(cubes.T), tuple(room))
    order = np.argsort(keys, kind="stable")
    filled, begin, count = np.unique(keys[order], return_index=True, return_counts=True)
    # cubes of distant boxes have valid numbers, too
    first, last = (np.clip(np.floor((end - start) / width), -1, room).astype(np.int64) for end in (low, high))
    near = ((first < room) & (last >= 0)).all(axis=1)
    first, last = np.clip(first, 0, room - 1), np.clip(last, 0, room - 1)
    across = last - first + 1
    for boxes, within in _listed(np.where(near, across.prod(axis=1), 0), NEARBY):
        wide = across[boxes]
        cube = first[boxes] + within[:, None] // (np.cumprod(wide, axis=1) // wide) % wide
        key = np.ravel_multi_index(tuple(cube.T), tuple(room))
        place = np.minimum(np.searchsorted(filled, key), filled.size - 1)
        looked = filled[place] == key
        boxes, place, cube = boxes[looked], place[looked], cube[looked]
        if worth is not None:
            looked = worth(boxes, start + (cube + 0.5) * width)
            boxes, place = boxes[looked], place[looked]
        for pair, n in _listed(count[place], NEARBY):
            yield boxes[pair], order[begin[place[pair]] + n]


def _listed(counts: np.ndarray, piece: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield, for owners with these counts of items, the owner of each item and its index from 0, in pieces."""
    ends = np.cumsum(counts)
    total = int(ends[-1]) if ends.size else 0
    for start in range(0, total, piece):
        thing = np.arange(start, min(start + piece, total))
        owner = np.searchsorted(ends, thing, "right")
        yield owner, thing - (ends[owner] - counts[owner])
