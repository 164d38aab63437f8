"""Shapes on a grid, and their cells. Of a moving formula only the box of its cells at rest is moved."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.flow import StaggeredGrid
from taskflow.flow.grid import Point
from taskflow.geometry import Pointwise, Shape, Vector
from taskflow.runtime.regions import Box, hull, periodic_images, triple

PIECE = 1 << 24  # cells that are looked at in one go


@dataclass(frozen=True, eq=False)
class Solids:
    """Shapes on a grid. A cell is solid if its centre is inside one, and belongs to the last of several. Shapes with
    numbers in `continued`, with all their images, continue across periodic sides.
    """

    grid: StaggeredGrid
    shapes: tuple[Shape, ...]
    continued: frozenset[int] = frozenset()

    @cached_property
    def boxes(self) -> tuple[Box, ...]:
        """The cells with centres in the box around each shape: only these are examined."""
        return tuple(self._cells(*shape.bounds) for shape in self.shapes)

    def numbers(self, box: Box, at: Point = "c") -> np.ndarray:
        """Return the numbers [z, y, x], from 1, of the shapes at the points `at` of the cells of a box in the domain; 0
        for none. Corners on high walls belong to the cells after them.
        """
        numbers = np.zeros(box.shape[::-1], np.uint16 if len(self.shapes) < 2**16 else np.uint32)
        for number, (shape, around) in enumerate(zip(self.shapes, self.boxes, strict=True), start=1):
            for part in pieces((around.grow(1) if at == "corner" else around) & box):
                view = numbers[part.slices(box.lo)]
                view[self._inside(shape, part, at)] = number
        return numbers

    def mask(self, box: Box) -> np.ndarray:
        """The mask [z, y, x] of solid cells in the part of a box that is in the domain."""
        return self.numbers(box & self.grid.box) != 0

    def numbers_around(self, box: Box, at: Point = "c", layers: int = 1) -> np.ndarray:
        """Return the `numbers` with `layers` around: periodic cells across periodic faces, 0 outside other faces."""
        wide, domain = box.grow(layers), self.grid.box
        if at == "corner":
            domain = domain.expand((0, 0, 0), triple(not periodic for periodic in self.grid.periodic))
        numbers = np.zeros(wide.shape[::-1], self.numbers(Box.of((0, 0, 0))).dtype)
        for piece, shift in periodic_images(wide, self.grid.box, self.grid.periodic):
            inside = piece & domain
            if inside:
                numbers[inside.shift(shift).slices(wide.lo)] = self.numbers(inside, at)
        return numbers

    def touched(self, box: Box, layers: int = 1) -> Iterator[Box]:
        """Yield parts of the box that have all its cells that are solid, or at most `layers` away from a solid cell."""
        for around in self.boxes:
            if around:
                for piece, _ in periodic_images(around.grow(layers), self.grid.box, self.grid.periodic):
                    yield from pieces(piece & box)

    def shares(self, ends: np.ndarray, owners: np.ndarray, axis: int, steps: np.ndarray) -> np.ndarray:
        """Return the distances from points outside to the first surface along an axis, as shares of the `steps`, all of
        one sign, to the next points.

        `ends` [n, xyz] are these next points, which lie inside the shapes with numbers `owners`. Bodies end at the
        domain boundary, except those in `continued`.
        """
        if not len(ends):
            return np.ones(0)
        first, length = self.grid.origin[axis], self.grid.lengths[axis]
        starts = ends.copy()
        starts[:, axis] -= steps
        shares, order = np.ones(len(ends)), np.argsort(owners, kind="stable")
        numbers, begin = np.unique(owners[order], return_index=True)
        for number, group in zip(numbers.tolist(), np.split(order, begin[1:]), strict=True):
            for n in (number - 1, *self._touching[number - 1]):
                shares[group] = np.minimum(shares[group], self.shapes[n].entry(starts[group], axis, steps[group]))
        outside = np.maximum(first - starts[:, axis], starts[:, axis] - (first + length)) / np.abs(steps)
        if self.continued and self.grid.periodic[axis]:
            outside[np.isin(owners, list(self.continued))] = 0.0
        return np.maximum(shares, outside)

    @cached_property
    def _touching(self) -> tuple[tuple[int, ...], ...]:
        """The shapes whose boxes touch the box of each shape: they may have the first surface on a ray."""
        low, high = (np.array([end[n] for end in (shape.bounds for shape in self.shapes)]) for n in (0, 1))
        touching = []
        for n in range(len(self.shapes)):
            near = ((low <= high[n]) & (high >= low[n])).all(axis=1)
            near[n] = False
            touching.append(tuple(np.flatnonzero(near).tolist()))
        return tuple(touching)

    def together(self, box: Box, layers: int) -> Iterator[Box]:
        """Yield `touched`, or one bounding box if that would examine most cells several times."""
        parts = list(self.touched(box, layers))
        if parts:
            whole = hull(parts)
            yield from parts if sum(part.volume for part in parts) < whole.volume else [whole]

    def _inside(self, shape: Shape, box: Box, at: Point) -> np.ndarray:
        x, y, z = (self.grid.coordinates(at, axis, box.lo[axis], box.hi[axis]) for axis in range(3))
        return shape.inside(x, y, z)

    def _cells(self, low: tuple[float, float, float], high: tuple[float, float, float]) -> Box:
        lo, hi = [], []
        for axis in range(3):
            n = self.grid.cells[axis]
            ends = (self.grid.number_at(axis, at) - 0.5 for at in (low[axis], high[axis]))
            below, above = (min(max(end, -1.0), n) for end in ends)  # however far beyond the domain
            # one cell more: the shape decides about points moved by rounding
            lo.append(max(0, math.floor(below)))
            hi.append(min(n, math.ceil(above) + 1))
        return Box(triple(lo), triple(hi))


def pieces(box: Box, axis: int = 2, cells: int = PIECE) -> Iterator[Box]:
    """Yield the box in pieces of whole planes across an axis, of at most `cells` cells but at least one plane."""
    if not box:
        return
    planes = max(1, cells * box.shape[axis] // box.volume)
    for start in range(0, box.shape[axis], planes):
        yield box & box.layer(axis, 0, start, start + planes)


@dataclass(frozen=True)
class Bounded(Pointwise):
    """A shape that lies in a box."""

    shape: Pointwise
    box: tuple[Vector, Vector]

    @property
    def bounds(self) -> tuple[Vector, Vector]:
        return self.box

    def contains(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return self.shape.contains(x, y, z)

    def distance(self, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
        return self.shape.distance(x, y, z)


def bounded(shape: Pointwise, grid: StaggeredGrid) -> Pointwise:
    """Return the shape with the box around its cells and adjacent ones, unbounded along directions in which it spans
    the domain. A shape without cells is returned unchanged.
    """
    solids, marked = Solids(grid, (shape,)), [np.zeros(n, bool) for n in grid.cells]
    for piece in pieces(grid.box):
        mask = solids.mask(piece)
        for axis in range(3):
            others = tuple(2 - other for other in range(3) if other != axis)
            marked[axis][piece.lo[axis] : piece.hi[axis]] |= mask.any(axis=others)
    if not marked[0].any():
        return shape
    low, high = [], []
    for axis, cells in enumerate(marked):
        first, last = int(np.argmax(cells)), int(cells.size - np.argmax(cells[::-1]))
        whole, faces, width = first == 0 and last == cells.size, grid.faces(axis), grid.widths(axis)
        low.append(-math.inf if whole else float(faces[first] - width[first]))
        high.append(math.inf if whole else float(faces[last] + width[last - 1]))
    return Bounded(shape, (triple(low), triple(high)))
