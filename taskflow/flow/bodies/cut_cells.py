"""Cells cut by the surfaces of bodies, for values stored in cell centres.

A face lets through the flux times its open share. The rest of a cell's boundary is the surface of the body, a plane
with the area that closes the cell: minus the sum of the open areas, so that the sum over all faces and the surface of a
constant is 0, and nothing passes the surface. Values belong to the centre of the cell, be it in the fluid or not.

- Pressure on the surface: extrapolated to its middle from the cell and its neighbours away from the body.
- Friction: viscosity area / distance times the velocity, relative to the body, at a point on the normal of the surface,
  at a distance of `AWAY` cells at least. If the centre is closer, or inside, the point lies between the cell and its
  neighbours away from the body.

Arrays are [..., z, y, x]. Vertices [xyz, z, y, x] have one more along each axis than cells.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from taskflow.common.hexahedra import cell_volumes, centres, face_areas
from taskflow.flow.bodies.cuts import covered_share

WALL = 18
"""Values of a cell in `CutCells.walls`."""
AWAY = 0.5  # of a cell along the normal: least distance from a surface of the velocity that friction is found from
LEAST_OPEN = 0.01  # faces with less are closed
LEAST_FLUID = 0.1  # cells with less are closed on all sides
NEAREST = 0.1  # of a cell: least distance where no neighbour away from the body is open
SAMPLES = 6  # along each axis, in cut cells
HALVINGS = 50
Inside = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class CutCells:
    """Cells between `vertices`: open shares of faces, and surfaces in all cells except the outer layer.

    - `faces`: by axis, open shares of all faces across it, low to high
    - `fluid`: open shares of volumes
    - `points`, `counts`: sums of the points where edges enter bodies, and their number
    """

    vertices: np.ndarray
    faces: tuple[np.ndarray, np.ndarray, np.ndarray]
    fluid: np.ndarray
    points: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, vertices: np.ndarray, inside: Inside) -> CutCells:
        """Return the cells cut by bodies that contain the points where `inside` is True."""
        solid = inside(*vertices)
        shares = [_covered_edges(vertices, solid, inside, axis) for axis in range(3)]
        faces = [1 - _covered_faces(solid, shares, axis) for axis in range(3)]
        fluid = _open_volumes(vertices, solid, inside)
        points, counts = _entries(vertices, solid, shares)
        closed = fluid < LEAST_FLUID
        for axis, face in enumerate(faces):
            shut = face < LEAST_OPEN
            _along(shut, axis, slice(1, None))[closed] = True
            _along(shut, axis, slice(None, -1))[closed] = True
            face[shut] = 0.0
        closed |= _all_shut(faces)
        return cls(vertices, (faces[0], faces[1], faces[2]), np.where(closed, 0.0, fluid), points, counts)

    def part(self, cells: Sequence[slice]) -> CutCells:
        """Return some cells, by slices along z, y and x."""
        ends = [slice(one.start, one.stop + 1) for one in cells]
        faces = [face[*cells[: 2 - axis], ends[2 - axis], *cells[3 - axis :]] for axis, face in enumerate(self.faces)]
        inner = (slice(None), *cells)
        return CutCells(
            self.vertices[:, *ends], (faces[0], faces[1], faces[2]), self.fluid[*cells], self.points[inner],
            self.counts[*cells],
        )  # fmt: skip

    @property
    def open(self) -> np.ndarray:
        """The open shares [z, y, axis, x] of the low faces of cells."""
        return np.stack([_along(face, axis, slice(None, -1)) for axis, face in enumerate(self.faces)], axis=2)

    def walls(self) -> np.ndarray:
        """Return the `WALL` values [z, y, value, x] of cells, except in the outer layer, for the kernel:

        - 0 to 2: the area of the surface, towards the body
        - 3: this area over the distance of a point in the fluid, in closed cells a number that holds the velocity
        - 4 to 6: directions along axes, away from the body
        - 7: the share of them that leads to that point
        - 8 to 10: shares of the ways to these neighbours that lead from the centre to the middle of the surface
        - 11 to 13: that middle
        - 14 to 16, 17: the velocity of the body, and the volume that the surface sweeps per time: 0 for a body at rest,
          see `taskflow.flow.bodies.wall_motion`
        """
        areas = [face_areas(self.vertices, axis) for axis in range(3)]
        surface, closed_at, closed_area = self._surfaces(areas)
        shape = self.fluid.shape
        walls = np.zeros((shape[0], shape[1], WALL, shape[2]))
        at = np.nonzero((surface != 0).any(axis=0) & _inner(shape))
        if at[0].size:
            rows = self._of_surface(at, _picked(surface, at).T, _picked(closed_at, at).T, closed_area[at])
            walls[at[0], at[1], : rows.shape[1], at[2]] = rows
        shut = np.nonzero(_all_shut(self.faces) & _inner(shape))
        walls[shut[0], shut[1], 3, shut[2]] = self._holding(areas)[shut]
        return walls[1:-1, 1:-1, :, 1:-1]

    def _surfaces(self, areas: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the area vectors of surfaces, and of cells without entries the mean of the closed faces' centres,
        weighted with closed areas, with these.
        """
        surface = np.zeros((3, *self.fluid.shape))
        weighted, weights = np.zeros_like(surface), np.zeros(self.fluid.shape)
        whole = np.ones(self.fluid.shape, bool)
        for axis, (face, area) in enumerate(zip(self.faces, areas, strict=True)):
            middle, size = _face_centres(self.vertices, axis), np.sqrt((area**2).sum(axis=0)) * (1 - face)
            for ends, sign in ((slice(None, -1), 1.0), (slice(1, None), -1.0)):
                surface += sign * _along(face * area, axis, ends)
                weighted += _along(size * middle, axis, ends)
                weights += _along(size, axis, ends)
                whole &= _along(face, axis, ends) == 1
        surface[:, whole | _all_shut(self.faces)] = 0.0
        return surface, weighted, weights

    def _of_surface(
        self, at: tuple[np.ndarray, ...], area: np.ndarray, closed_at: np.ndarray, closed_area: np.ndarray
    ) -> np.ndarray:
        """Return the values of some cells with surfaces of these areas [n, xyz]."""
        size = np.sqrt((area**2).sum(axis=1))
        normal, centre = area / size[:, None], centres(self.vertices)
        here, counts = _picked(centre, at).T, self.counts[at]
        entered = _picked(self.points, at).T / np.maximum(counts, 1)[:, None]
        middle = np.where((counts > 0)[:, None], entered, closed_at / np.maximum(closed_area, 1e-300)[:, None])
        ways, reached, signs = np.empty((len(size), 3, 3)), np.empty((len(size), 3)), np.empty((len(size), 3))
        for axis in range(3):
            step = [np.array(n) for n in at]
            step[2 - axis] = step[2 - axis] + 1
            high = _picked(centre, step).T - here
            step[2 - axis] = step[2 - axis] - 2
            low = _picked(centre, step).T - here
            up = ((high - low) * normal).sum(axis=1) <= 0
            signs[:, axis] = np.where(up, 1.0, -1.0)
            ways[:, :, axis] = np.where(up[:, None], high, low)
            face = [np.array(n) for n in at]
            face[2 - axis] = face[2 - axis] + up
            reached[:, axis] = self.faces[axis][*face] > 0
        gains = -(normal[:, :, None] * ways).sum(axis=1)  # of distance from the surface, in each neighbour
        full = np.sqrt((gains**2).sum(axis=1))
        directions = np.maximum(gains / full[:, None], 1e-3) * reached
        gain, own = (directions * gains).sum(axis=1), ((middle - here) * normal).sum(axis=1)
        share = np.clip((AWAY * full - own) / np.where(gain > 0, gain, 1.0), 0.0, 1.5) * (gain > 0)
        distance = np.maximum(own + share * gain, NEAREST * full)
        leads = np.linalg.solve(ways, (middle - here)[:, :, None])[:, :, 0] * reached
        columns = area, (size / distance)[:, None], signs * directions, share[:, None], leads, middle
        return np.concatenate(columns, axis=1)

    def _holding(self, areas: list[np.ndarray]) -> np.ndarray:
        """Return the sum over the faces of cells of the squared area over the volume."""
        squares = np.zeros(self.fluid.shape)
        for axis, area in enumerate(areas):
            square = (area**2).sum(axis=0)
            squares += _along(square, axis, slice(None, -1)) + _along(square, axis, slice(1, None))
        return squares / cell_volumes(self.vertices)


def _along(values: np.ndarray, axis: int, part: slice) -> np.ndarray:
    """Return a part of values [..., z, y, x] along an axis."""
    places = [slice(None)] * 3
    places[2 - axis] = part
    key: tuple[Any, ...] = ..., *places
    return np.asarray(values[key])


def _picked(values: np.ndarray, at: Sequence[np.ndarray]) -> np.ndarray:
    """Return values [component, n] of an array [component, z, y, x] at some places along z, y and x."""
    key: tuple[Any, ...] = slice(None), *at
    return np.asarray(values[key])


def _inner(shape: tuple[int, ...]) -> np.ndarray:
    inner = np.zeros(shape, bool)
    inner[1:-1, 1:-1, 1:-1] = True
    return inner


def _all_shut(faces: Sequence[np.ndarray]) -> np.ndarray:
    """Return True in cells without an open face."""
    shut: np.ndarray | bool = True
    for axis, face in enumerate(faces):
        shut = shut & (_along(face, axis, slice(None, -1)) == 0) & (_along(face, axis, slice(1, None)) == 0)
    return np.asarray(shut)


def _face_centres(vertices: np.ndarray, axis: int) -> np.ndarray:
    """Return the means of the vertices of faces across an axis."""
    for other in (n for n in range(3) if n != axis):
        vertices = (_along(vertices, other, slice(None, -1)) + _along(vertices, other, slice(1, None))) / 2
    return vertices


def _corners(solid: np.ndarray, axes: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return True where some, and where all of the next vertices along some axes are in bodies."""
    some = whole = solid
    for axis in axes:
        low, high = slice(None, -1), slice(1, None)
        some = _along(some, axis, low) | _along(some, axis, high)
        whole = _along(whole, axis, low) & _along(whole, axis, high)
    return some, whole


def _covered_edges(vertices: np.ndarray, solid: np.ndarray, inside: Inside, axis: int) -> np.ndarray:
    """Return the covered shares of the edges from vertices to the next ones along an axis, 0 at the last ones."""
    low, high = slice(None, -1), slice(1, None)
    first, last = _along(solid, axis, low), _along(solid, axis, high)
    covered = (first & last).astype(float)
    at = np.nonzero(first != last)
    begin, end = _picked(_along(vertices, axis, low), at), _picked(_along(vertices, axis, high), at)
    from_low = first[at]
    out, within = np.zeros(from_low.size), np.ones(from_low.size)  # shares of the way from the end outside
    start, way = np.where(from_low, end, begin), np.where(from_low, begin - end, end - begin)
    for _ in range(HALVINGS):
        middle = (out + within) / 2
        entered = inside(*(start + middle * way))
        out, within = np.where(entered, out, middle), np.where(entered, middle, within)
    covered[at] = 1 - within
    whole = np.zeros(solid.shape)
    _along(whole, axis, low)[...] = covered
    return whole


def _covered_faces(solid: np.ndarray, shares: list[np.ndarray], axis: int) -> np.ndarray:
    """Return the covered shares of all faces across an axis."""
    some, whole = _corners(solid, [other for other in range(3) if other != axis])
    covered = whole.astype(float)
    at = np.nonzero(some & ~whole)
    z, y, x = (places - 1 for places in at)
    covered[at] = covered_share(solid, shares, axis, (z, y, x))
    return np.clip(covered, 0.0, 1.0)


def _open_volumes(vertices: np.ndarray, solid: np.ndarray, inside: Inside) -> np.ndarray:
    """Return the open shares of volumes, of cut cells by samples between their vertices."""
    some, whole = _corners(solid, [0, 1, 2])
    fluid = 1.0 - whole
    at = np.nonzero(some & ~whole)
    open_samples, places = np.zeros(at[0].size), (np.arange(SAMPLES) + 0.5) / SAMPLES
    ends = [vertices[:, at[0] + k, at[1] + j, at[2] + i] for k, j, i in product((0, 1), repeat=3)]
    for shares in product(places, repeat=3):
        weights = [math.prod(part) for part in product(*((1 - share, share) for share in shares))]
        open_samples += ~inside(*sum(weight * end for weight, end in zip(weights, ends, strict=True)))
    fluid[at] = open_samples / SAMPLES**3
    return fluid


def _entries(
    vertices: np.ndarray, solid: np.ndarray, shares: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Return the sums of the points at which edges of cells enter bodies, and their number."""
    shape = tuple(n - 1 for n in solid.shape)
    points, counts = np.zeros((3, *shape)), np.zeros(shape)
    low, high = slice(None, -1), slice(1, None)
    for axis in range(3):
        first, last = _along(solid, axis, low), _along(solid, axis, high)
        begin, end = _along(vertices, axis, low), _along(vertices, axis, high)
        covered = _along(shares[axis], axis, low)
        point = begin + np.where(first, covered, 1 - covered) * (end - begin)
        crossing = (first != last).astype(float)
        for one, other in ((0, 0), (0, 1), (1, 0), (1, 1)):
            part_sum, part = point * crossing, crossing
            for across, n in zip((n for n in range(3) if n != axis), (one, other), strict=True):
                part_sum, part = (_along(q, across, (low, high)[n]) for q in (part_sum, part))
            points += part_sum
            counts += part
    return points, counts
