"""Shares of cells in which phi is positive, by recursive halving of the boxes that its zero may cross."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np

from taskflow.geometry import range_over

Phi = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

FINEST = {1: 6, 2: 5, 3: 3}  # halvings by the number of directions that are divided
SLACK = 1.5  # phi may change by so much more in a box than between its corners, and its zero still be seen
PIECE = 1 << 17  # values of phi that are computed at a time, small enough for caches
ON_FACE = 1e-9  # spacings by which a face on the interface is off it
LEAST = 2e-6  # share of phase 2 in a cell that the interface cuts: twice FULL of `plane.h`
WIDE = 8  # cells along a box in which bounds of phi are looked at


def shares(
    phi: Phi, centres: tuple[np.ndarray, np.ndarray, np.ndarray], spacing: tuple[float, float, float],
    divided: tuple[int, ...] = (0, 1, 2), *, bent: bool = False,
) -> np.ndarray:  # fmt: skip
    """Return the share [z, y, x] of each cell in which phi is positive, from 0 to 1, for centres as on a grid.

    Boxes that the zero of phi may cross are halved along the `divided` axes. In the smallest ones phi is a plane, with
    its mean over the box, so that errors of curvature cancel on average: the volume of a circle or a ball with 16 cells
    per diameter is right to 1e-6. A cell's share depends on its centre alone, not on the other cells.

    If the interface is `bent` by surface tension, full cells with a face on it lose 2e-6: only in cells that the
    interface cuts has it a curvature, and a box with its sides on faces of cells would stay a box.
    """
    x, y, z = centres
    axes = x[0, 0], y[0, :, 0], z[:, 0, 0]
    positive, near = _signs(phi, axes, spacing, divided)
    result = positive.astype(float)
    cells = np.nonzero(near)
    points = np.stack([along[n] for along, n in zip(axes, cells[::-1], strict=True)], axis=1)
    boxes = _Boxes(phi, np.array(spacing), divided)
    values = [boxes.shares(points[n : n + PIECE // 8], bent) for n in range(0, len(points), PIECE // 8)]
    result[cells] = np.concatenate(values) if values else 0.0
    return result


def _signs(phi: Phi, centres: tuple, h: tuple[float, float, float], divided: tuple[int, ...]) -> tuple:
    """Return True for cells [z, y, x] where phi is positive, by its bounds, and for those where its zero may be. Boxes
    of cells begin at places that do not depend on the cells that are asked for.
    """
    axes, ends = [], []
    for axis, (coordinates, side) in enumerate(zip(centres, h, strict=True)):
        wide, reach = (WIDE * side, side / 2) if axis in divided else (side, 0.0)
        boxes, box = np.unique(np.floor(coordinates / wide), return_inverse=True)
        low, high = (wide * boxes - reach, wide * (boxes + 1) + reach) if reach else (coordinates, coordinates)
        axes.append(box)
        ends.append((low, high))
    (x0, x1), (y0, y1), (z0, z1) = ends
    corners = ((x[None, None], y[None, :, None], z[:, None, None]) for x, y, z in ((x0, y0, z0), (x1, y1, z1)))
    off = 2 * ON_FACE * min(h)
    shape = tuple(len(low) for low, _ in ends[::-1])
    least, most = (np.broadcast_to(values, shape) for values in range_over(phi, *corners))
    of_cells = np.ix_(*axes[::-1])
    return (least > off)[of_cells], ~((least > off) | (most < -off))[of_cells]


@dataclass(frozen=True)
class _Boxes:
    """Cells with sides h, halved along the `divided` axes where the zero of phi may cross them."""

    phi: Phi
    h: np.ndarray
    divided: tuple[int, ...]

    def shares(self, points: np.ndarray, bent: bool) -> np.ndarray:
        """Return the shares of cells around points [n, xyz]."""
        middle = self._values(points, np.zeros(1)).reshape(-1)
        ends = self._values(points, np.array([-0.5, 0.5]))
        cut = np.flatnonzero(_may_be_cut(middle, *(value.reshape(-1) for value in self._extremes(ends))))
        result = (middle > 0).astype(float)
        some = max(1, PIECE // (2 ** FINEST[len(self.divided)] + 1) ** len(self.divided))
        for first in range(0, len(cut), some):
            cells = cut[first : first + some]
            result[cells] = self._halved(points[cells])
        if bent:
            full = cut[result[cut] > 1 - LEAST]
            on = np.abs(ends[full]) <= ON_FACE * min(self.h)
            result[full[_has_face(on)]] = 1 - LEAST
        return result

    def _halved(self, points: np.ndarray) -> np.ndarray:
        """Return the shares of cells whose boxes are halved."""
        halvings = FINEST[len(self.divided)]
        count = 2**halvings
        values = self._values(points, np.linspace(-0.5, 0.5, count + 1))
        total, cut = np.zeros(len(points)), np.ones(len(points), bool).reshape(-1, 1, 1, 1)
        for level in range(halvings + 1):
            middle = self._values(points, (np.arange(2**level) + 0.5) / 2**level - 0.5)
            cut, before = _may_be_cut(middle, *self._extremes(self._every(values, count >> level))), cut
            if level:
                before = self._twice(before)
            cut &= before
            total += ((middle > 0) & before & ~cut).sum(axis=(1, 2, 3)) / middle[0].size
        places = np.unravel_index(np.flatnonzero(cut), cut.shape)
        above = _above_zero(middle[places], self._corners(values, places))
        return total + np.bincount(places[0], above, len(points)) / middle[0].size

    def _values(self, points: np.ndarray, at: np.ndarray) -> np.ndarray:
        """Return phi [n, z, y, x] around points, at these shares of the sides along each divided axis."""
        x, y, z = (
            points[:, axis, None] + (at * self.h[axis] if axis in self.divided else np.zeros(1)) for axis in range(3)
        )
        rows = len(points) * z.shape[1]  # as on a grid, with z of all points along its first axis
        x, y = (np.repeat(c, z.shape[1], axis=0) for c in (x, y))
        values = self.phi(x[:, None, :], y[:, :, None], z.reshape(rows, 1, 1))
        return np.broadcast_to(values, (rows, y.shape[1], x.shape[1])).reshape(-1, z.shape[1], y.shape[1], x.shape[1])

    def _every(self, values: np.ndarray, step: int) -> np.ndarray:
        return values[:, *(slice(None, None, step if axis in self.divided else 1) for axis in (2, 1, 0))]

    def _twice(self, flags: np.ndarray) -> np.ndarray:
        """Return flags of the halves of boxes."""
        for axis in self.divided:
            flags = np.repeat(flags, 2, axis=3 - axis)
        return flags

    def _extremes(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the least and the largest value on the corners of boxes, of values on all corners."""
        found = []
        for extreme in (np.minimum, np.maximum):
            of = values
            for axis in self.divided:
                below, above = [slice(None)] * 4, [slice(None)] * 4
                below[3 - axis], above[3 - axis] = slice(None, -1), slice(1, None)
                of = extreme(of[tuple(below)], of[tuple(above)])
            found.append(of)
        return found

    def _corners(self, values: np.ndarray, places: tuple[np.ndarray, ...]) -> np.ndarray:
        """Return values on the corners of boxes in some places: [2, ...] for each divided axis, and the box."""
        n, *first = places
        corners = []
        for shift in product((0, 1), repeat=len(self.divided)):
            at = list(first)
            for axis, one in zip(self.divided, shift, strict=True):
                at[2 - axis] = at[2 - axis] + one
            corners.append(values[n, *at])
        return np.stack(corners).reshape(*(2 for _ in self.divided), -1)


def _has_face(corners: np.ndarray) -> np.ndarray:
    """Return True for boxes that have all corners of a face, of flags of their corners [box, z, y, x]."""
    axes = tuple(axis for axis in (1, 2, 3) if corners.shape[axis] == 2)
    faces = [corners.take([end], axis).all(axis=(1, 2, 3)) for axis in axes for end in (0, 1)]
    return np.any(faces, axis=0)


def _may_be_cut(middle: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return True for boxes whose middle and corners, from low to high, differ in sign, or where phi is small compared
    with its changes.
    """
    return (np.minimum(low, middle) <= 0) & (np.maximum(high, middle) > 0) | (2 * np.abs(middle) < SLACK * (high - low))


def _above_zero(middle: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Return the share of boxes in which the plane through phi is positive, of its values on corners [2, ..., box]."""
    axes = tuple(range(corners.ndim - 1))
    mean = (2 * middle + corners.mean(axis=axes)) / 3  # over the box, of a polynomial of second degree
    slopes = np.zeros((3, len(middle)))
    for axis in axes:
        slopes[axis] = np.abs(np.diff(corners, axis=axis).mean(axis=axes))
    total = slopes.sum(axis=0)
    above = (mean > 0).astype(float)
    cut = np.flatnonzero(2 * np.abs(mean) < total)
    above[cut] = plane_volume(slopes[:, cut] / total[cut], 0.5 + mean[cut] / total[cut])
    return above


def plane_volume(m: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Return the volume of m . x <= alpha in the unit cube, for m [xyz, ...] >= 0 with the sum 1 (R. Scardovelli, S.
    Zaleski 2000, J. Comput. Phys. 164, 228).
    """
    m1, m2, m3 = np.sort(m, axis=0)
    a = np.clip(np.minimum(alpha, 1 - alpha), 0, 0.5)

    def third(x: np.ndarray) -> np.ndarray:
        """(x^3 - (x - m1)^3) / m1, each where positive, without a difference of large numbers."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(x <= 0, 0.0, np.where(x >= m1, 3 * x * (x - m1) + m1 * m1, x * x * x / m1))

    with np.errstate(divide="ignore", invalid="ignore"):
        curved = (third(a) - third(a - m2) - third(a - m3)) / (6 * m2 * m3)
    half = np.where((a >= m1 + m2) & (m1 + m2 <= m3), (2 * a - (m1 + m2)) / (2 * m3), curved)
    return np.where(alpha > 0.5, 1 - half, half)
