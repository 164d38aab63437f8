"""Sources of quantities: boxes and points at which they are released."""

from __future__ import annotations

import math
from dataclasses import dataclass

from taskflow.flow.grid import Counts, StaggeredGrid, Vector
from taskflow.flow.kernels import KERNELS
from taskflow.runtime.regions import Box, triple
from taskflow.runtime.tasks import Launch, ReadShort, ReadWrite, Scalar, task


@dataclass(frozen=True)
class Source:
    """A release of `rate` (q times volume, per time), even in the box from `low` to `high`."""

    low: Vector
    high: Vector
    rate: float

    @classmethod
    def at(cls, point: Vector, rate: float, grid: StaggeredGrid) -> Source:
        """In a box of the size of a cell around the point, or as near to it as the domain allows."""
        low, high = [], []
        for axis, (place, origin, length) in enumerate(zip(point, grid.origin, grid.lengths, strict=True)):
            h = grid.width_at(axis, place)
            start = min(max(place - h / 2, origin), origin + length - h)
            low.append(start)
            high.append(start + h)
        return cls((low[0], low[1], low[2]), (high[0], high[1], high[2]), rate)


@dataclass(frozen=True)
class Release:
    """The `strength` of a source (q per time) in cells that lie in its box as a whole. Cells `first` to `last` touch
    the box; `head` and `tail` are the shares of these two in it, in each direction.
    """

    strength: float
    first: Counts
    last: Counts
    head: Vector
    tail: Vector


@task(kernel=KERNELS / "scalars" / "sources.cu")
def release(q: ReadWrite, q_faces: ReadShort | None, *, dt: Scalar, release: Release) -> None:
    """q += dt strength (share of the cell that lies in the box of the source), but in solid cells."""


def released(
    field: str, source: Source, grid: StaggeredGrid, dt: str, *, part: float = 1.0, flags: str | None = None
) -> Launch:
    """`part` of what a source gives in the time of the scalar `dt`, over the cells that its box touches.

    The shares of the cells add up to the box: the integral of q grows by part dt rate, but for what lies in bodies (of
    which `flags` tells).
    """
    strength = part * source.rate / math.prod(b - a for a, b in zip(source.low, source.high, strict=True))
    x, y, z = (_extent(source, grid, axis) for axis in range(3))
    first, last = (x.first, y.first, z.first), (x.last, y.last, z.last)
    shape = Release(strength, first, last, (x.head, y.head, z.head), (x.tail, y.tail, z.tail))
    box = Box(first, triple(n + 1 for n in last))
    return release(field, flags, over=box, dt=dt, release=shape)


@dataclass(frozen=True)
class _Extent:
    """The cells that a box touches in one direction, and the shares of the first and the last in it."""

    first: int
    last: int
    head: float
    tail: float


def _extent(source: Source, grid: StaggeredGrid, axis: int) -> _Extent:
    low, high = (grid.number_at(axis, corner[axis]) for corner in (source.low, source.high))
    first = min(max(math.floor(low), 0), grid.cells[axis] - 1)
    last = min(max(math.ceil(high) - 1, first), grid.cells[axis] - 1)
    return _Extent(first, last, min(high, first + 1.0) - low, high - last)
