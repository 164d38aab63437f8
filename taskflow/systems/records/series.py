"""Time series of numbers, on one block: values at points, on Cartesian grids interpolated linearly between the eight
surrounding values of a field, and integrals over surfaces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np

from taskflow.cases import SurfaceTable
from taskflow.cases.timing.intervals import Every
from taskflow.flow.grid import StaggeredGrid
from taskflow.flow.measures.surface_flux import FaceLayer
from taskflow.flow.model import Ends
from taskflow.output import TimeSeries, write_time_series
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box, Location, Triple, triple
from taskflow.runtime.tasks import Launch, Program, Roles
from taskflow.systems.records.fields import GroupPlace, Recording

Side = tuple[np.ndarray, np.ndarray]  # cells, and their weights


@dataclass(frozen=True, eq=False)
class InterpolationStencil:
    """The `cells` [point, corner, axis] around points and their `weights` [point, corner]: the value at a point is the
    weighted sum over its corners. `filled`: some are ghost cells of sides, to be filled by the model's `refill`.
    """

    cells: np.ndarray
    weights: np.ndarray
    filled: bool = False

    @classmethod
    def of(cls, weights: Sequence[Mapping[Triple, float]], *, filled: bool) -> InterpolationStencil:
        """Return the corners of points with weights of cells. If few, the first cell counts again with weight 0."""
        most = max(map(len, weights))
        cells = [[*some, *[next(iter(some))] * (most - len(some))] for some in weights]
        shares = [[*some.values(), *[0.0] * (most - len(some))] for some in weights]
        return cls(np.array(cells), np.array(shares), filled)


def corners(grid: StaggeredGrid, location: Location, points: np.ndarray, ends: Ends) -> InterpolationStencil:
    """Return the corners for a field at `location` and the `points` [point, axis] of the domain.

    Between a boundary and the first place inside the value is linear up to the `ghost` value, so that it has the
    boundary value of a wall (`sides`: with ghost values outside sides, not outside edges); or it is extrapolated from
    the two nearest places (`linear`), or equals the `nearest` value. Periodic directions wrap around.
    """
    sides = [_sides(grid, location, axis, points[:, axis], ends) for axis in range(3)]
    cells, weights = [], []
    for high in product((0, 1), repeat=3):
        chosen = [sides[axis][end] for axis, end in enumerate(high)]
        cells.append(np.stack([cell for cell, _ in chosen], axis=1))
        weights.append(chosen[0][1] * chosen[1][1] * chosen[2][1])
    at, shares = np.stack(cells, axis=1), np.stack(weights, axis=1)
    return InterpolationStencil(at, _beside_sides(at, shares, grid) if ends == "sides" else shares)


def _beside_sides(cells: np.ndarray, weights: np.ndarray, grid: StaggeredGrid) -> np.ndarray:
    """Return weights without ghost values outside edges, replaced by linear combinations of those outside sides."""
    outside = (cells < 0) | (cells >= np.array(grid.cells)) & ~np.array(grid.periodic)
    count, moved = outside.sum(axis=2), weights.copy()
    for point, corner in np.argwhere(count > 1):
        share, ghosts = weights[point, corner], outside[point, corner]
        rest = (cells[point] == cells[point, corner]) | ghosts  # corners with the same place along the other axes
        near = rest.all(axis=1) & ~(outside[point] & ~ghosts).any(axis=1)
        moved[point, corner] = 0.0
        moved[point, near & (count[point] == 1)] += share
        moved[point, near & (count[point] == 0)] -= share * (count[point, corner] - 1)
    return moved


def _sides(grid: StaggeredGrid, location: Location, axis: int, x: np.ndarray, ends: Ends) -> tuple[Side, Side]:
    """Return the cells below and above each place x along an axis, with their weights."""
    places, n = grid.coordinates(location, axis), grid.cells[axis]
    numbers = np.arange(len(places))
    if ends in ("ghost", "sides") and not grid.periodic[axis] and len(places) == n:  # not on faces across the axis
        places, numbers = grid.coordinates(location, axis, -1, n + 1), np.arange(-1, n + 1)
    if grid.periodic[axis]:
        length = grid.lengths[axis]
        places = np.concatenate(([places[-1] - length], places, [places[0] + length]))
        numbers = np.concatenate((numbers[-1:], numbers, numbers[:1]))
    if len(places) == 1:
        return (np.zeros(len(x), int), np.ones(len(x))), (np.zeros(len(x), int), np.zeros(len(x)))
    below = np.clip(np.searchsorted(places, x, "right") - 1, 0, len(places) - 2)
    above = (x - places[below]) / (places[below + 1] - places[below])
    if ends != "linear":
        above = np.clip(above, 0.0, 1.0)
    return (numbers[below], 1.0 - above), (numbers[below + 1], above)


class SeriesRecording(Recording):
    """Numbers that are identical on all blocks: [field, ...] from the collective function `measure`."""

    def __init__(self, place: GroupPlace, series: TimeSeries, measure: Callable[[], np.ndarray]) -> None:
        super().__init__(place)
        self._series, self._measure = series, measure
        self._waiting: list[np.ndarray] = []  # of block 0: records [field, ...]

    def _copy(self, index: int) -> None:
        numbers = self._measure()
        if self.shard.block > 0:
            self.complete += 1
            return
        self._waiting.append(numbers)
        if len(self._waiting) >= self._series.batch:
            self.flush()

    def flush(self) -> None:
        if not self._waiting:
            return
        records, self._waiting = np.array(self._waiting), []
        first = len(self._records) - len(records)
        values = {name: records[:, n] for n, name in enumerate(self._series.fields)}
        place = self.place

        def write() -> None:
            place.writer.files.note(place.path.parent, write_time_series(place.path, place.group, first, values))

        self._submit(write, len(records))


@dataclass(frozen=True, eq=False)
class ProbeSeries:
    """A group of points [point, axis], the recorded fields with their location and their `ends`, and the interval.
    `corners` finds the cells around points for a field at a location. `refill`: see `Model`.
    """

    series: TimeSeries
    points: np.ndarray
    locations: tuple[tuple[Location, Ends], ...]
    every: Every
    corners: Callable[[Location, np.ndarray, Ends], InterpolationStencil]
    refill: Program | None = None


class PointSampler:
    """Values at points, as weighted sums. Cell values are passed on exactly: results do not depend on blocks."""

    def __init__(self, probe: ProbeSeries, shard: Shard) -> None:
        self._fields, self._shard = tuple(probe.series.fields), shard
        around = {at: probe.corners(at[0], probe.points, at[1]) for at in set(probe.locations)}
        self._corners = [around[at] for at in probe.locations]
        self._mine = [self._parts(around.cells.reshape(-1, 3)) for around in self._corners]
        self._refill = probe.refill if any(around.filled for around in self._corners) else None

    def _parts(self, cells: np.ndarray) -> list[tuple[int, np.ndarray, np.ndarray]]:
        """Return the pieces of this block that own some of the cells, with their indices, and these cells."""
        partition, parts = self._shard.partition, []
        for piece in partition.pieces_of(self._shard.block):
            own = [np.all((cells >= box.lo) & (cells < box.hi), axis=1) for box in partition.own[piece]]
            mine = np.flatnonzero(np.any(own, axis=0))
            if mine.size:
                parts.append((piece, mine, cells[mine]))
        return parts

    def values(self) -> np.ndarray:
        """Return the present values [field, point]. Collective."""
        if self._refill is not None:
            self._shard.run(self._refill)
        values = np.zeros((len(self._corners), self._corners[0].weights.size))
        for row, name, parts in zip(values, self._fields, self._mine, strict=True):
            for piece, mine, cells in parts:
                row[mine] = self._shard.pick(name, cells, piece)
        total = self._shard.allreduce(values.ravel(), "sum").reshape(values.shape)
        shape = self._corners[0].weights.shape
        weighted = [row.reshape(shape) * around.weights for row, around in zip(total, self._corners, strict=True)]
        return np.array([values.sum(axis=1) for values in weighted])


class IntegralProgram(Protocol):
    """A program that measures integrals of a state, and reads them from its scalars."""

    def __call__(self, f: Roles, /) -> Iterator[Launch]: ...

    def numbers(self, scalars: Mapping[str, float]) -> list[float]: ...


@dataclass(frozen=True, eq=False)
class Integral:
    """Programs that measure the sides of a surface, or an isosurface, their group of the store, and the interval."""

    series: TimeSeries
    measured: tuple[IntegralProgram, ...]
    every: Every

    def values(self, shard: Shard) -> np.ndarray:
        """Return the numbers of all sides, measured sequentially, as all sides use the same scalars."""
        rows = []
        for measure in self.measured:
            shard.run(measure)
            rows.append(measure.numbers(shard.scalars))
        return np.array(rows).T.reshape(-1, *self.series.shape)


def sides(surface: SurfaceTable, grid: StaggeredGrid) -> tuple[FaceLayer, ...]:
    """Return the faces nearest to a plane, or to the six sides of a box."""
    if surface.box is None:
        face = grid.nearest_face(surface.axis, surface.position)
        layer = grid.box.layer(surface.axis, 0, face, face + 1)
        return (FaceLayer((_within(layer, surface.axis, grid),), surface.axis),)
    low, high = (triple(grid.nearest_face(axis, place[axis]) for axis in range(3)) for place in surface.box)
    inside, layers = Box(low, high), []
    for axis in range(3):
        for side, outward in ((0, -1), (1, 1)):
            layer = inside.layer(axis, side, 0, 1).shift(triple(side * (a == axis) for a in range(3)))
            layers.append(FaceLayer((_within(layer, axis, grid),), axis, outward))
    return tuple(layers)


def _within(layer: Box, axis: int, grid: StaggeredGrid) -> Box:
    """Return the faces of a layer by their lowest index: in a periodic direction the last faces are the first."""
    n = grid.cells[axis]
    beyond = grid.periodic[axis] and layer.lo[axis] == n
    return layer.shift(triple(-n * (beyond and a == axis) for a in range(3)))


def geometry(layers: tuple[FaceLayer, ...], grid: StaggeredGrid) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return centres [side, axis], outward normals [side, axis], and areas."""
    centres, normals, areas = np.zeros((len(layers), 3)), np.zeros((len(layers), 3)), np.zeros(len(layers))
    for n, side in enumerate(layers):
        (box,) = side.cells
        ends = [(grid.faces(a)[box.lo[a]], grid.faces(a)[box.hi[a] - (a == side.axis)]) for a in range(3)]
        centres[n] = [(low + high) / 2 for low, high in ends]
        normals[n, side.axis] = side.outward
        areas[n] = np.prod([high - low for a, (low, high) in enumerate(ends) if a != side.axis])
    return centres, normals, areas
