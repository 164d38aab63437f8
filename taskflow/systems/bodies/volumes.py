"""The volumes of bodies in the domain, and their centres: by formulas, or sampled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from taskflow.flow import StaggeredGrid
from taskflow.geometry import ClosedSurface, Pointwise, Shape
from taskflow.runtime.regions import Box, hull
from taskflow.systems.bodies.images import is_over
from taskflow.systems.bodies.solids import Solids, pieces

LEAST, MOST = 8, 4096  # points of a cell on a surface
POINTS = 1 << 24  # of all such cells, if `LEAST` are fewer
GOLDEN = 1.2207440846057596  # the root of x^4 = x + 1: its powers make evenly spread points (Roberts 2018)
AT_ONCE = 1 << 20
Volumes = tuple[np.ndarray, np.ndarray]  # [shape] and [shape, xyz]


def volumes(solids: Solids, alone: Sequence[Shape]) -> Volumes:
    """Return the volume of each shape in the domain, and its centre. Overlaps count for the last shape.

    `alone` are the shapes without periodic images. A body across a periodic side may have its centre outside the
    domain.
    """
    measured: dict[int, tuple[float, np.ndarray]] = {}
    for n in set(range(len(alone))).difference(_overlapping(solids)):
        if (known := alone[n].measured(*_room(alone[n], solids.grid))) is not None:
            measured[n] = known
    size, first = np.zeros(len(alone)), np.zeros((len(alone), 3))
    others = [n for n in range(len(alone)) if n not in measured]
    if others:
        for numbers, places, weights in _sampled(solids, hull(solids.boxes[n] for n in others) & solids.grid.box):
            size += np.bincount(numbers, weights, len(alone) + 1)[1:]
            for axis in range(3):
                at = _beside(places[:, axis], numbers, alone, solids.grid, axis)
                first[:, axis] += np.bincount(numbers, weights * at, len(alone) + 1)[1:]
    centre = first / np.where(size > 0, size, 1.0)[:, None]
    for n, (whole, middle) in measured.items():
        size[n], centre[n] = whole, middle
    return size, centre


def _overlapping(solids: Solids) -> set[int]:
    """Return the numbers, from 0, of shapes with overlapping boxes."""
    low, high = np.moveaxis(np.array([shape.bounds for shape in solids.shapes]), 1, 0)
    return {n for n in range(len(low)) if (np.minimum(high, high[n]) > np.maximum(low, low[n])).all(axis=1).sum() > 1}


def _room(shape: Shape, grid: StaggeredGrid) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of the domain, infinite along directions in which a shape continues across periodic sides."""
    low, over = np.array(grid.origin), np.array(is_over(shape, grid))
    return np.where(over, -np.inf, low), np.where(over, np.inf, low + grid.lengths)


def _beside(at: np.ndarray, numbers: np.ndarray, alone: Sequence[Shape], grid: StaggeredGrid, axis: int) -> np.ndarray:
    """Return coordinates along an axis, each of the image nearest to the centre of its shape."""
    over = np.array([False, *(is_over(shape, grid)[axis] for shape in alone)])
    if not over.any():
        return at
    ends = np.array([(0.0, 0.0), *((shape.bounds[0][axis], shape.bounds[1][axis]) for shape in alone)])
    length, middle = grid.lengths[axis], np.where(over[:, None], ends, 0.0).mean(axis=1)
    images = at - length * np.floor((at - middle[numbers]) / length + 0.5)
    return np.where(over[numbers], images, at)


def _sampled(solids: Solids, box: Box) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield shape numbers, coordinates [n, xyz] and weights of points. Cells within one shape have one point."""
    surfaces = 0
    for piece in pieces(box):
        surfaces += int(np.count_nonzero(_is_on_surface(solids.numbers_around(piece))))
    per_cell = min(max(POINTS // max(surfaces, 1), LEAST), MOST)
    for piece in pieces(box):
        wide = solids.numbers_around(piece)
        on, inner = _is_on_surface(wide), wide[1:-1, 1:-1, 1:-1]
        for cells, count in ((~on & (inner > 0), 1), (on, per_cell)):
            index = np.stack(np.nonzero(cells), axis=1)[:, ::-1]
            step = max(1, AT_ONCE // count)
            for start in range(0, len(index), step):
                some = index[start : start + step]
                places, weights = _points(solids.grid, some + np.array(piece.lo), count)
                if count == 1:
                    yield inner[tuple(some[:, ::-1].T)].astype(np.int64), places, weights
                else:
                    yield _numbers(solids.shapes, places), places, weights


def _is_on_surface(wide: np.ndarray) -> np.ndarray:
    """Return True for cells with a neighbour in another shape, or in none; `wide` has one more layer."""
    inner = wide[1:-1, 1:-1, 1:-1]
    on = np.zeros(inner.shape, bool)
    z, y, x = inner.shape
    for k, j, i in np.ndindex(3, 3, 3):
        on |= wide[k : k + z, j : j + y, i : i + x] != inner
    return on


def _points(grid: StaggeredGrid, cells: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `count` points in each cell [n, xyz], in no rows along any axis, and the volume of each."""
    within = (0.5 + np.arange(count)[:, None] / GOLDEN ** np.arange(1, 4)) % 1
    low = np.stack([grid.faces(axis)[cells[:, axis]] for axis in range(3)], axis=1)
    wide = np.stack([grid.widths(axis)[cells[:, axis]] for axis in range(3)], axis=1)
    places = (low[:, None] + wide[:, None] * within).reshape(-1, 3)
    return places, np.repeat(wide.prod(axis=1) / count, count)


def _numbers(shapes: Sequence[Shape], places: np.ndarray) -> np.ndarray:
    """Return the number, from 1, of the last shape at each point; 0 for none."""
    numbers = np.zeros(len(places), np.int64)
    for number, shape in enumerate(shapes, start=1):
        low, high = (np.array(end) for end in shape.bounds)
        near = np.flatnonzero(((places >= low) & (places <= high)).all(axis=1))
        if not near.size:
            continue
        if isinstance(shape, ClosedSurface):
            inside = shape.turns(places[near]) != 0
        else:
            assert isinstance(shape, Pointwise)
            inside = shape.contains(*places[near].T)
        numbers[near[np.broadcast_to(inside, near.shape)]] = number
    return numbers
