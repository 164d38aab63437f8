"""Particles on one block: released, advected, passed to the block whose cells they enter, and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from taskflow.cases.tables.particles import ParticlesTable
from taskflow.cases.timing.intervals import Every, Tick
from taskflow.flow.bodies.flags import ITSELF
from taskflow.flow.measures.particles import Carrying, Extent, ParticleFields, Sampling
from taskflow.output import Checkpoint, TimeSeries
from taskflow.runtime.machine import Shard
from taskflow.runtime.regions import Box
from taskflow.systems.records.gathering import gathered

Values = tuple[str, Box, np.ndarray]  # a role, cells, and values, as a checkpoint has them
MANY, OFTEN = 50_000, 100  # particles that are sorted by their cells, and after how many steps


@dataclass(frozen=True, eq=False)
class ParticleSeries:
    """The particles of a table, their fields, the sampling program, and their group of the store. Picklable."""

    table: ParticlesTable
    fields: ParticleFields
    sampling: Sampling
    series: TimeSeries

    @property
    def every(self) -> Every:
        return self.table.every


@dataclass(frozen=True, eq=False)
class ParticleTransport:
    """All particles of a case, and the program of a step that advects them. Picklable."""

    series: tuple[ParticleSeries, ...]
    carrying: Carrying


class Cloud:
    """The particles of one table on a block: their numbers, positions and velocities, in slots."""

    def __init__(self, series: ParticleSeries, extent: Extent, shard: Shard, *, bodies: bool = False) -> None:
        self.series, self._extent, self._shard, self._bodies = series, extent, shard, bodies
        self._fields, self._alone = series.fields, len(shard.partition) == 1
        self._released = self._steps = 0
        self._xp, array = shard.device.xp, shard.instances.array
        self._number, *self._values = (array(name).reshape(-1) for name in (self._fields.number, *self._fields.values))
        self._columns = [array(name)[0, :, axis] for name in self._fields.vectors for axis in range(3)]

    @property
    def role(self) -> str:
        """The name of their state in a checkpoint."""
        return f"{self._fields.name}.state"

    def resume(self, checkpoint: Checkpoint, time: float) -> None:
        """Set the particles of a checkpoint, at its time."""
        state = np.empty((1, 1, len(self._columns), self._fields.count))
        checkpoint.fill(self.role, state, Box.of((self._fields.count, 1, 1)))
        rows = state[0, 0].T
        numbers = np.flatnonzero(~np.isnan(rows[:, 0]))
        self._released = self.series.table.due(time)
        self._put(numbers, rows[numbers])

    def kept(self) -> Callable[[], None]:
        """Save the present slots; return a function that restores them."""
        arrays = (self._number, *self._columns)
        copies = [array.copy() for array in arrays]

        def put_back() -> None:
            for array, copy in zip(arrays, copies, strict=True):
                array[...] = copy

        return put_back

    def release(self, time: float) -> None:
        """Add particles released up to a time, except those inside bodies."""
        table = self.series.table
        for release in range(self._released, table.due(time)):
            places = self._extent.within(table.places(release))
            numbers = np.arange(release * table.at_once, (release + 1) * table.at_once)
            unknown = np.full((len(places), len(self._columns) - 3), np.nan)
            self._put(*self._of_fluid(numbers, np.hstack([places, unknown])))
            self._released = release + 1

    def settle(self) -> None:
        """Pass particles on that have left this block, and sometimes sort slots. Collective, after a step."""
        self._steps += 1
        if not self._alone and self._shard.scalars[self._fields.leaving] > 0:
            self._hand_over()
        if self._fields.count >= MANY and self._steps % OFTEN == 1:
            self._sort()

    def sampled(self) -> np.ndarray:
        """Return positions and sampled values [number, particle] of all blocks, NaN if absent. Collective."""
        self._shard.run(self.series.sampling)
        slots, numbers, state = self._rows()
        values = [self._host(value[slots])[:, None] for value in self._values]
        columns, own = [state[:, :3], *values], state[:, 6:]
        if own.shape[1]:
            columns.append(np.where(np.isnan(own), np.hstack(values[:3]), own))
        return self._of_all(numbers, np.hstack(columns)).T

    def held(self) -> Values:
        """Return this block's part of the state in a checkpoint. Collective."""
        _, numbers, state = self._rows()
        block, blocks, count = self._shard.block, len(self._shard.partition), self._fields.count
        part = Box((count * block // blocks, 0, 0), (count * (block + 1) // blocks, 1, 1))
        values = self._of_all(numbers, state)[part.lo[0] : part.hi[0]].T[None, None].copy()
        return self.role, part, values

    def _put(self, numbers: np.ndarray, state: np.ndarray) -> None:
        """Put the particles in cells of this block into empty slots: numbers and state [particle, number]."""
        if not self._alone:
            cells, box = self._extent.numbers(state[:, :3]), self._shard.cells
            inside = np.all((cells >= box.lo) & (cells < box.hi), axis=1)
            numbers, state = numbers[inside], state[inside]
        with _still(self._shard):
            xp = self._xp
            # A single block has a slot for every particle, empty before its release.
            slots = xp.asarray(numbers) if self._alone else xp.flatnonzero(self._number == 0)[: len(numbers)]
            self._number[slots] = xp.asarray(numbers + 1.0)
            row, column = xp.divmod(slots, self._columns[0].shape[1])
            for values, mine in zip(self._columns, state.T, strict=True):
                values[row, column] = xp.asarray(np.ascontiguousarray(mine))

    def _of_fluid(self, numbers: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the given particles, by numbers and states, that are in the cells of this block and in no body."""
        if not self._bodies:
            return numbers, state
        cells, box = self._extent.numbers(state[:, :3]), self._shard.cells
        mine = np.flatnonzero(np.all((cells >= box.lo) & (cells < box.hi), axis=1))
        mine = mine[self._shard.pick("solid", cells[mine]) & ITSELF == 0]
        return numbers[mine], state[mine]

    def _hand_over(self) -> None:
        with _still(self._shard):
            slots = self._xp.flatnonzero(self._number < 0)
            numbers, state = self._host(-self._number[slots] - 1).astype(int), self._states(slots)
            self._number[slots] = 0
        self._put(*self._gathered(numbers, state))

    def _sort(self) -> None:
        """Sort the slots by the cells of their particles, empty ones last."""
        with _still(self._shard):
            xp, extent = self._xp, self._extent
            keys, size = xp.zeros(self._number.size, "i8"), 1
            for axis, cells in enumerate(extent.cells):
                place = self._columns[axis].reshape(-1) - extent.low[axis]
                keys += size * xp.nan_to_num(place * (cells / extent.length[axis])).astype("i8")
                size *= cells
            keys[self._number <= 0] = 2 * size
            order = xp.argsort(keys)
            del keys
            self._number[...] = self._number[order]
            for values in self._columns:
                values[...] = values.reshape(-1)[order].reshape(values.shape)

    def _rows(self) -> tuple[Any, np.ndarray, np.ndarray]:
        """Return the non-empty slots, and the numbers and states of their particles."""
        self._shard.synchronize()
        slots = self._xp.flatnonzero(self._number > 0)
        return slots, self._host(self._number[slots]).astype(int) - 1, self._states(slots)

    def _states(self, slots: Any) -> np.ndarray:
        row, column = self._xp.divmod(slots, self._columns[0].shape[1])
        return np.stack([self._host(values[row, column]) for values in self._columns], axis=1)

    def _of_all(self, numbers: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Return the values [particle, number] of the particles of all blocks in order, NaN for absent ones."""
        whole = np.full((self._fields.count, values.shape[1]), np.nan)
        numbers, values = self._gathered(numbers, values)
        whole[numbers] = values
        return whole

    def _gathered(self, numbers: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers and values [particle, number] of some particles of each block. Collective."""
        rows = gathered(self._shard, np.column_stack([numbers, values]))
        return rows[:, 0].astype(int), rows[:, 1:]

    def _host(self, array: Any) -> np.ndarray:
        return np.asarray(self._shard.device.to_host(array))


class Clouds(dict[str, Cloud]):
    """All particles of a case on one block, by name."""

    def __init__(self, transport: ParticleTransport | None, shard: Shard) -> None:
        super().__init__()
        self._carrying = transport.carrying if transport else None
        if transport is not None:
            extent, bodies = transport.carrying.extent, transport.carrying.bodies
            self.update((one.fields.name, Cloud(one, extent, shard, bodies=bodies)) for one in transport.series)

    def release(self, time: float) -> None:
        """Add particles released up to a time. Collective."""
        for cloud in self.values():
            cloud.release(time)

    def scalars(self, tick: Tick) -> dict[str, float]:
        """Return the scalars of their advection in the step of the flow to a tick."""
        return self._carrying.scalars(tick.dt, tick.ratio) if self._carrying else {}

    def settle(self, tick: Tick) -> None:
        """Pass on particles that have left in that step, and add released ones. Collective."""
        for cloud in self.values():
            cloud.settle()
        self.release(tick.time)


@contextmanager
def _still(shard: Shard) -> Iterator[None]:
    """Keep all blocks from computing: an allocation may have to wait for all GPUs of a process."""
    shard.synchronize()
    shard.meet()
    yield
    shard.synchronize()
    shard.meet()
