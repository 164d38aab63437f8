"""Boxes of cells, the index spaces of structured grids, and patches of faces on the sides of charts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import product
from operator import or_
from types import EllipsisType
from typing import TypeVar

import numpy as np

from taskflow.common.errors import BadInput

T = TypeVar("T")
Triple = tuple[int, int, int]
Slices = tuple[slice, slice, EllipsisType, slice]


def triple(values: Iterable[T]) -> tuple[T, T, T]:
    """Return three values as a tuple. Raises ValueError for any other number of values."""
    x, y, z = values
    return x, y, z


@dataclass(frozen=True, slots=True, order=True)
class Box:
    """Integer box lo <= (x, y, z) < hi: an index space of cells, without storage.

    A box without cells is falsy.

    Parameters
    ----------
    lo, hi : (int, int, int)
        First cell, and the end along x, y and z.

    Raises
    ------
    BadInput
        If a corner is not three integers.
    """

    lo: Triple
    hi: Triple

    def __post_init__(self) -> None:
        try:  # kernels would cut fractions off; boxes are many, and this takes 0.13 us
            (x0, y0, z0), (x1, y1, z1) = self.lo, self.hi
            _ = x0 | y0 | z0 | x1 | y1 | z1
        except (TypeError, ValueError):
            raise BadInput(f"Box({self.lo!r}, {self.hi!r}): give each corner as three integers") from None

    @classmethod
    def of(cls, shape: Iterable[int]) -> Box:
        """Return the box of this shape that begins at the origin."""
        return cls((0, 0, 0), triple(shape))

    @property
    def shape(self) -> Triple:
        """Number of cells along x, y and z; zero if the box is empty."""
        (x0, y0, z0), (x1, y1, z1) = self.lo, self.hi
        return max(0, x1 - x0), max(0, y1 - y0), max(0, z1 - z0)

    @property
    def volume(self) -> int:
        """Number of cells."""
        x, y, z = self.shape
        return x * y * z

    def __bool__(self) -> bool:
        (x0, y0, z0), (x1, y1, z1) = self.lo, self.hi
        return x1 > x0 and y1 > y0 and z1 > z0

    def __and__(self, other: Box) -> Box:
        """Return the cells in both boxes."""
        (ax, ay, az), (bx, by, bz) = self.lo, other.lo
        (au, av, aw), (bu, bv, bw) = self.hi, other.hi
        lo = ax if ax > bx else bx, ay if ay > by else by, az if az > bz else bz  # max and min take twice as long
        return Box(lo, (au if au < bu else bu, av if av < bv else bv, aw if aw < bw else bw))

    def __contains__(self, other: Box) -> bool:
        """Return True if every cell of `other` is in this box."""
        (ax, ay, az), (bx, by, bz) = self.lo, other.lo
        (au, av, aw), (bu, bv, bw) = self.hi, other.hi
        return (ax <= bx and ay <= by and az <= bz and au >= bu and av >= bv and aw >= bw) or not other

    def __or__(self, other: Box) -> Box:
        """Return the smallest box that contains both."""
        if not (self and other):
            return self or other
        lo = triple(min(a, b) for a, b in zip(self.lo, other.lo, strict=True))
        return Box(lo, triple(max(a, b) for a, b in zip(self.hi, other.hi, strict=True)))

    def meets(self, other: Box) -> bool:
        """Return True if the boxes share a cell."""
        (ax, ay, az), (bx, by, bz) = self.lo, other.lo
        (au, av, aw), (bu, bv, bw) = self.hi, other.hi
        together = ax < bu and bx < au and ay < bv and by < av and az < bw and bz < aw
        return together and bool(self) and bool(other)

    def expand(self, low: Triple, high: Triple) -> Box:
        """Return the box with `low` more cells at its low end and `high` more at its high end (negative: fewer)."""
        (x0, y0, z0), (x1, y1, z1) = self.lo, self.hi
        return Box((x0 - low[0], y0 - low[1], z0 - low[2]), (x1 + high[0], y1 + high[1], z1 + high[2]))

    def grow(self, width: int) -> Box:
        """Return the box with `width` more cells on every side."""
        return self.expand((width,) * 3, (width,) * 3)

    def shift(self, by: Triple) -> Box:
        """Return the box moved by this many cells."""
        return self.expand((-by[0], -by[1], -by[2]), by)

    def subtract(self, other: Box) -> list[Box]:
        """Return the cells of this box that are not in `other`, as at most six disjoint boxes.

        The first cut is along z, so that the largest pieces are contiguous planes of a C-ordered [z, y, x] array.
        """
        if not self.meets(other):
            return [self] if self else []
        common = self & other
        (x0, y0, z0), (x1, y1, z1) = self.lo, self.hi
        (a0, b0, c0), (a1, b1, c1) = common.lo, common.hi
        pieces = []
        if z0 < c0:
            pieces.append(Box(self.lo, (x1, y1, c0)))
        if c1 < z1:
            pieces.append(Box((x0, y0, c1), self.hi))
        if y0 < b0:
            pieces.append(Box((x0, y0, c0), (x1, b0, c1)))
        if b1 < y1:
            pieces.append(Box((x0, b1, c0), (x1, y1, c1)))
        if x0 < a0:
            pieces.append(Box((x0, b0, c0), (a0, b1, c1)))
        if a1 < x1:
            pieces.append(Box((a1, b0, c0), (x1, b1, c1)))
        return pieces

    def cut(self, axis: int, start: int, stop: int) -> Box:
        """Return the box from `start` to `stop` along an axis, unchanged along the others."""
        lo, hi = list(self.lo), list(self.hi)
        lo[axis], hi[axis] = start, stop
        return Box(triple(lo), triple(hi))

    def layer(self, axis: int, side: int, start: int, stop: int) -> Box:
        """Return layers [start, stop) counted inwards from the low (`side` 0) or high (1) face across `axis`.

        Layer 0 is the first one inside. Negative layers lie outside.
        """
        if side == 0:
            return self.cut(axis, self.lo[axis] + start, self.lo[axis] + stop)
        return self.cut(axis, self.hi[axis] - stop, self.hi[axis] - start)

    def slices(self, origin: Triple) -> Slices:
        """Return the slices of the box in an array [z, y, x], or [z, y, value, x], whose first cell is `origin`."""
        (x0, y0, z0), (x1, y1, z1), (ox, oy, oz) = self.lo, self.hi, origin
        return slice(z0 - oz, z1 - oz), slice(y0 - oy, y1 - oy), ..., slice(x0 - ox, x1 - ox)

    def __str__(self) -> str:
        return "x".join(f"[{a},{b})" for a, b in zip(self.lo, self.hi, strict=True))


SIDES = ("i_min", "i_max", "j_min", "j_max", "k_min", "k_max")  # of a chart: by direction and end


@dataclass(frozen=True, slots=True, order=True)
class Patch:
    """Rectangle of faces on a side of a chart, given by the layer of `cells` adjacent to it."""

    chart: int
    side: str
    cells: Box

    @classmethod
    def whole(cls, chart: int, side: str, cells: Triple) -> Patch:
        """Return all faces of a side."""
        axis, end = divmod(SIDES.index(side), 2)
        return cls(chart, side, Box.of(cells).layer(axis, end, 0, 1))

    @property
    def axis(self) -> int:
        """Direction normal to the patch: 0, 1, 2 for i, j, k."""
        return SIDES.index(self.side) // 2

    @property
    def end(self) -> int:
        """0 at the low end of the normal direction, 1 at the high end."""
        return SIDES.index(self.side) % 2

    @property
    def along(self) -> tuple[int, int]:
        """The two tangential directions."""
        first, second = (axis for axis in range(3) if axis != self.axis)
        return first, second

    @property
    def vertices(self) -> Box:
        corners = self.cells.expand((0, 0, 0), (1, 1, 1))
        return corners.layer(self.axis, self.end, 0, 1)

    def __str__(self) -> str:
        ranges = (f"{'ijk'[a]} {self.cells.lo[a] + 1} to {self.cells.hi[a]}" for a in self.along)
        return f"chart {self.chart + 1}, {self.side}, cells {', '.join(ranges)}"


def hull(boxes: Iterable[Box]) -> Box:
    """Return the smallest box that contains all boxes."""
    return reduce(or_, boxes, Box.of((0, 0, 0)))


def difference(boxes: Iterable[Box], holes: Iterable[Box]) -> list[Box]:
    """Return the cells of `boxes` in none of `holes`; disjoint if `boxes` are disjoint."""
    rest = [box for box in boxes if box]
    for hole in holes:
        if any(map(hole.meets, rest)):  # few do
            rest = [piece for box in rest for piece in box.subtract(hole)]
    return rest


@lru_cache(128)
def overlapping(boxes: tuple[Box, ...]) -> tuple[Box, Box] | None:
    """Return two boxes that share a cell, or None. Fast for thousands of boxes."""
    boxes = tuple(filter(None, boxes))
    lo, hi = np.array([[box.lo, box.hi] for box in boxes], np.int64).reshape(-1, 2, 3).transpose(1, 2, 0)
    axis = int(np.argmax([len(np.unique(row)) for row in lo]))  # along it the fewest begin before another ends
    order = np.argsort(lo[axis], kind="stable")
    lo, hi = lo[:, order], hi[:, order]
    ends = np.searchsorted(lo[axis], hi[axis])
    for n in np.flatnonzero(ends > np.arange(1, len(boxes) + 1)):
        later = slice(n + 1, ends[n])
        meets = ((lo[:, later] < hi[:, n, None]) & (hi[:, later] > lo[:, n, None])).all(axis=0)
        if meets.any():
            return boxes[order[n]], boxes[order[n + 1 + int(meets.argmax())]]
    return None


def joined(boxes: Iterable[Box]) -> tuple[Box, ...]:
    """Return the cells of disjoint boxes as fewer boxes, by merging pairs that form a box."""
    rest, whole = list(boxes), list[Box]()
    while rest:
        box = rest.pop()
        fits = (other for other in (*rest, *whole) if (box | other).volume == box.volume + other.volume)
        other = next(fits, None)
        if other is None:
            whole.append(box)
            continue
        (rest if other in rest else whole).remove(other)
        rest.append(box | other)
    return tuple(sorted(whole))


def periodic_images(box: Box, cells: Box, periodic: tuple[bool, bool, bool]) -> list[tuple[Box, Triple]]:
    """Cut `box` along the borders of the periodic images of the domain and move each piece into the domain.

    Returns pairs (piece inside the domain, shift from there into `box`). Nothing is cut or moved along directions that
    are not periodic. The domain may be smaller than the box: a row of one cell is its own neighbour.
    """
    (px, py, pz), (x0, y0, z0), (x1, y1, z1) = periodic, box.lo, box.hi
    (a0, b0, c0), (a1, b1, c1) = cells.lo, cells.hi
    inside = (not px or (a0 <= x0 and x1 <= a1)) and (not py or (b0 <= y0 and y1 <= b1))
    if inside and (not pz or (c0 <= z0 and z1 <= c1)):  # most are, and a loop over directions takes three times as long
        return [(box, (0, 0, 0))] if box else []
    ranges = []
    for axis in range(3):
        size = cells.hi[axis] - cells.lo[axis]
        if periodic[axis]:
            first, last = (box.lo[axis] - cells.lo[axis]) // size, (box.hi[axis] - 1 - cells.lo[axis]) // size
            ranges.append([n * size for n in range(first, last + 1)])
        else:
            ranges.append([0])
    wide = Box(
        triple(cells.lo[a] if periodic[a] else box.lo[a] for a in range(3)),
        triple(cells.hi[a] if periodic[a] else box.hi[a] for a in range(3)),
    )
    images = []
    for x, y, z in product(*ranges):
        piece = box.shift((-x, -y, -z)) & wide
        if piece:
            images.append((piece, (x, y, z)))
    return images
