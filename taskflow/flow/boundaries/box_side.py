"""A side of a box, or the part of it on which one condition holds: an opening, or what openings leave.

A quantity in cells belongs to the part of the cell inside. A velocity along the side lies between two cells, and
belongs to an opening if both do, so that the edges of an opening belong to the side around it. Between two openings
it belongs to the lower one.

An opening in the face of a body is on a plane inside the box: the high face of a body across x is an "x_min" of the
fluid. Its ghost cells are cells of the body.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from taskflow.flow.boundaries.boundary import beyond
from taskflow.flow.grid import Grid, on_face
from taskflow.runtime.regions import Box, Triple, triple
from taskflow.runtime.tasks import frame

T = TypeVar("T")
Boxes = tuple[Box, ...]
COMPONENTS: Mapping[str, int] = {"u": 0, "v": 1, "w": 2}


@dataclass(frozen=True)
class SidePart:
    """The part of a side in the faces `inside`. Other openings of the side have the faces `others`. Without `inside` it
    is the rest of the side. `key` begins the names of its fields and scalars, `place` is its table in a case, `title`
    names it in reports. `plane` is the number of its faces across the side if it is in a body, else None.
    """

    key: str
    place: str
    title: str
    inside: Boxes | None = None
    others: Boxes = ()
    plane: int | None = None


@dataclass(frozen=True)
class BoxSide:
    """A side of a box, "x_min" to "z_max", of a grid, or a part of it. `viscosity`: of the fluid, without eddies; None
    for quantities other than the velocity, and in two phases.
    """

    face: str
    grid: Grid
    part: SidePart | None = None
    viscosity: float | None = None

    @property
    def key(self) -> str:
        """The beginning of the names of its fields and scalars."""
        return self.part.key if self.part else self.face

    @property
    def place(self) -> str:
        return self.part.place if self.part else f"boundaries.{self.face}"

    @property
    def title(self) -> str:
        """Its name in reports."""
        return self.part.title if self.part else self.face

    @property
    def axis(self) -> int:
        return frame(self.face)[0]

    @property
    def along(self) -> tuple[int, int]:
        """The two axes in the plane of the side."""
        first, second = (axis for axis in range(3) if axis != self.axis)
        return first, second

    @property
    def in_body(self) -> bool:
        """True if it is in the face of a body."""
        return self.plane != self._end_plane

    @property
    def plane(self) -> int:
        """The number of its faces across it."""
        inside = self.part.plane if self.part else None
        return self._end_plane if inside is None else inside

    @property
    def _end_plane(self) -> int:
        return on_face(self.face, self.grid).lo[self.axis]

    @property
    def whole(self) -> bool:
        """True if one condition holds on all of the side."""
        return self.part is None or (self.part.inside is None and not self.part.others)

    @property
    def faces(self) -> Boxes:
        """The faces of the side, which store the velocity normal to it."""
        return self._cut(on_face(self.face, self.grid), "")

    @property
    def ghosts(self) -> Boxes:
        """The layer of ghost cells of the side, with edges."""
        return self.beyond("")

    @property
    def layer(self) -> Boxes:
        """The layer of ghost cells of the side, without edges."""
        return self._cut(beyond(self.face, self.grid, edges=False), "")

    @property
    def last(self) -> Boxes:
        """The layer of cells inside."""
        return tuple(box.shift(self.inward) for box in self.layer)

    @property
    def inward(self) -> Triple:
        """The unit step from its faces into the fluid."""
        return triple((-1 if frame(self.face)[1] else 1) * (a == self.axis) for a in range(3))

    @property
    def spacing(self) -> float:
        """The distance between the centres of a ghost cell and of the cell inside."""
        if self.in_body:
            return (self.grid.width(self.axis, self.plane - 1) + self.grid.width(self.axis, self.plane)) / 2
        return self.grid.beside(self.face)

    @property
    def width(self) -> float:
        """The width of the cells inside across the side."""
        if self.in_body:
            return self.grid.width(self.axis, self.plane - int(frame(self.face)[1]))
        return self.grid.beside(self.face)

    @property
    def count(self) -> float:
        """The area of its faces over the mean one."""
        if self.whole:
            return float(on_face(self.face, self.grid).volume)
        first, second = (self._shares(axis) for axis in self.along)
        return float((self._cells("")[1:-1, 1:-1] * first * second[:, None]).sum())

    @property
    def volume(self) -> float:
        """The volume of its faces times the spacing, over the mean one of cells."""
        return self.count * (self.spacing * self.grid.cells[self.axis] / self.grid.length(self.axis))

    def across(self, values: Sequence[T]) -> Iterator[tuple[str, T]]:
        """Yield the values of u, v, w and T that have ghost cells here, by name."""
        for name, value in zip("uvwT", values, strict=False):
            if name != "uvw"[self.axis] and self.beyond(name):
                yield name, value

    def beyond(self, name: str) -> Boxes:
        """Return the layer of ghost cells of u, v, w, or another quantity by name, with edges."""
        return self._cut(beyond(self.face, self.grid), name)

    @property
    def tangential(self) -> list[tuple[tuple[int, ...], Boxes]]:
        """The axes of the velocities along the side with their ghost cells: both together where these are the same."""
        if self.whole:
            return [(self.along, self.ghosts)]
        return [((axis,), over) for axis in self.along if (over := self.beyond("uvw"[axis]))]

    def values(self, name: str) -> Boxes:
        """Return the faces with values of u, v, w or another quantity: a velocity along the side also at its end."""
        return self._cut(on_face(self.face, self.grid).expand((0, 0, 0), self._end(name)), name)

    def outside(self, name: str) -> Boxes:
        """Return the ghost cells next to these `values`."""
        return self._cut(beyond(self.face, self.grid, edges=False).expand((0, 0, 0), self._end(name)), name)

    def _end(self, name: str) -> tuple[int, int, int]:
        own = COMPONENTS.get(name)
        return triple(int(a == own and a != self.axis and self.grid.high[a]) for a in range(3))

    def _cut(self, box: Box, name: str) -> Boxes:
        """Return the part of a layer on or along the side that belongs to it, for a quantity by name."""
        if self.whole:
            return (box,)
        box = box.shift(triple((self.plane - self._end_plane) * (a == self.axis) for a in range(3)))
        first, second = self.along
        lo, shape = box.lo, box.shape
        marked = self._cells(name)[lo[second] + 1 :, lo[first] + 1 :][: shape[second], : shape[first]]
        places = [[box.lo[axis], box.hi[axis]] for axis in range(3)]
        boxes = []
        for (j, i), (m, n) in rectangles(marked):
            places[first], places[second] = [lo[first] + i, lo[first] + n], [lo[second] + j, lo[second] + m]
            boxes.append(Box(triple(p[0] for p in places), triple(p[1] for p in places)))
        return tuple(boxes)

    def _cells(self, name: str) -> np.ndarray:
        """Return whether values along both axes, from one before the first to one after the last, belong to it."""
        assert self.part is not None
        inside, others = self._marked(self.part.inside or ()), self._marked(self.part.others)
        for row, axis in enumerate(reversed(self.along)):
            if COMPONENTS.get(name) == axis:  # the low face of each cell
                before, opened = np.roll(inside, 1, row), inside | others
                inside, others = _from_first(before & opened, row), _from_first(np.roll(opened, 1, row) & opened, row)
        return inside if self.part.inside is not None else ~others

    def _marked(self, boxes: Boxes) -> np.ndarray:
        first, second = self.along
        cells = np.zeros((self.grid.cells[second], self.grid.cells[first]), bool)
        for box in boxes:
            cells[box.lo[second] : box.hi[second], box.lo[first] : box.hi[first]] = True
        for row, axis in enumerate((second, first)):
            ends = [(int(row == n), int(row == n)) for n in range(2)]
            cells = np.pad(cells, ends, "edge" if self.grid.low[axis] else "wrap")
        return cells

    def _shares(self, axis: int) -> np.ndarray:
        grid = self.grid
        mean = grid.length(axis) / grid.cells[axis]
        return np.array([grid.width(axis, cell) for cell in range(grid.cells[axis])]) / mean


def _from_first(marked: np.ndarray, row: int) -> np.ndarray:
    """Return marks of faces, the entry before the first face repeating the first."""
    return np.concatenate([marked.take([1], row), marked.take(range(1, marked.shape[row]), row)], row)


def boxes_on(face: str, covered: np.ndarray) -> Boxes:
    """Return the boxes of faces of a side that an array [second, first] marks, by their numbers along the side."""
    axis, boxes = frame(face)[0], []
    for (j, i), (m, n) in rectangles(covered):
        lo, hi = ([*ends[:axis], own, *ends[axis:]] for own, ends in ((0, (i, j)), (1, (n, m))))
        boxes.append(Box(triple(lo), triple(hi)))
    return tuple(boxes)


def rectangles(marked: np.ndarray) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield disjoint rectangles, as first and end indices, that cover the marked places of an array."""
    left = marked.copy()
    while left.any():
        j, i = (int(n) for n in np.unravel_index(int(left.argmax()), left.shape))
        row = left[j, i:]
        n = i + (int(row.argmin()) if not row.all() else row.size)
        m = j + 1
        while m < left.shape[0] and left[m, i:n].all():
            m += 1
        left[j:m, i:n] = False
        yield (j, i), (m, n)
