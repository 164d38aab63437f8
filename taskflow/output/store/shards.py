"""Shards, each written by the blocks of a single host: a block's part of the store, and the store recut for others."""

from __future__ import annotations

import shutil
import time as clock
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import zarr

from taskflow.common.errors import RunFailed
from taskflow.common.pool import Pool
from taskflow.output.disk.disk import Guard, Unsynced, on_disk, sweep, unguarded
from taskflow.output.store.groups import array_of, arrays_of, consolidate
from taskflow.output.store.layout import RecordsLayout, one_host_each
from taskflow.output.store.packing import Buffers, write_shards
from taskflow.output.store.rigid_motion import PLACES
from taskflow.output.store.store import Store, create
from taskflow.runtime.regions import Box, triple

ABREAST, PACKERS = 4, 8  # fields that are written, and threads that pack their chunks
POLL = 0.02  # seconds between checks for growth of the store


Fetch = Callable[[], np.ndarray]


class BlockPart(NamedTuple):
    """Points of a field that a block writes: the path of the array, a box in the index space, where point i belongs to
    cell i, and the same box from the first point of the array.
    """

    array: str
    box: Box
    points: Box

    @property
    def field(self) -> str:
        return self.array.rpartition("/")[2]


class BlockStore:
    """Part of one block in a group of the store: whole chunks, for the process of that block.

    The group has `charts`, of which the block has `cells`: boxes in one index space. `parts` are the points that it
    writes, one per cell, and on a Cartesian grid the last face if the block ends at a wall. Complete shards are noted
    in `files`. `guard` is called before a shard gets its name. Blocks with parts of the same shard have the same
    `token`, new in each run, and are on one host (see `reshard`). Raises ValueError if a part does not consist of whole
    chunks, because two writers of one chunk lose each other's data without an error.
    """

    def __init__(
        self,
        path: str | Path,
        charts: Sequence[Box],
        cells: Sequence[Box],
        group: str = "",
        *,
        patience: float = 60.0,
        files: Unsynced | None = None,
        guard: Guard = unguarded,
        token: str = "",
    ) -> None:
        self._guard, self._token = guard, token
        self._path, self._name, self._patience, self._buffers = path, group, patience, Buffers()
        self._files = files or Unsynced()
        self.reopen()
        self.parts = tuple(_parts(self._fields, charts, cells))

    def reopen(self) -> None:
        """Open the store again, which may have grown."""
        self._fields = _fields(self._path, self._name)

    @property
    def capacity(self) -> int:
        """Number of snapshots with room when the store was last opened."""
        return min(array.shape[0] for array in self._fields.values())

    def write(self, index: int, values: Mapping[BlockPart, Fetch]) -> None:
        """Write this block's part of record `index`, given a function for each of `parts` that returns an array [z, y,
        x].

        Several are fetched and written concurrently. Waits up to `patience` seconds for room in the store. Raises
        RunFailed if none becomes free, or the disk is full.
        """
        if set(values) != set(self.parts):
            raise ValueError(f"parts {[*values]} given where the block has {self.parts}")
        self._wait_for(index)
        with Pool(PACKERS) as packers, Pool(ABREAST) as threads:
            for _ in threads.map(lambda part: self._put(index, part, values[part], packers), self.parts):
                pass

    def _put(self, index: int, part: BlockPart, fetch: Fetch, packers: Executor) -> None:
        name, points, array = part.array, part.points, fetch()
        if array.shape != points.shape[::-1]:
            raise ValueError(f"{name}: an array of shape {array.shape} for {points.shape} points along x, y and z")
        with on_disk(f"snapshot {index} in {self._path}"):
            place = Path(self._path, self._name, name), self._fields[name], (index, *points.lo[::-1])
            written = write_shards(*place, array[None], packers, self._buffers, self._guard, self._token)
        self._files.note(Path(self._path).parent, written)

    def _wait_for(self, index: int) -> None:
        deadline = clock.monotonic() + self._patience
        while index >= self.capacity:
            self.reopen()
            if index >= self.capacity:
                if clock.monotonic() > deadline:
                    raise RunFailed(f"no room for snapshot {index} in {self._path} after {self._patience:g} s")
                clock.sleep(POLL)


def _fields(path: str | Path, name: str) -> dict[str, zarr.Array]:
    """Return the arrays of a group that blocks write, unlike positions of moving charts."""
    group = zarr.open_group(str(path), path=name, mode="r+", zarr_format=3)
    timed = {name: array for name, array in arrays_of(group) if array.ndim == 4}
    return {name: array for name, array in timed.items() if name.rpartition("/")[2] not in PLACES}


def _parts(arrays: Mapping[str, zarr.Array], charts: Sequence[Box], cells: Sequence[Box]) -> Iterator[BlockPart]:
    """Yield the points of arrays that a block writes. Raises ValueError if another writes to the same chunk."""
    own = [[mine for mine in cells if chart.meets(mine)] for chart in charts]
    for name, array in arrays.items():
        number = int(name.split("/")[1]) if "/" in name else 0
        chart = charts[number]
        stored = Box.of(array.shape[:0:-1]).shift(chart.lo)
        for mine in own[number]:
            box = stored & Box(mine.lo, triple(hi + (hi == end) for hi, end in zip(mine.hi, chart.hi, strict=True)))
            points = box.shift(triple(-n for n in chart.lo))
            _check_whole(name, array, points)
            yield BlockPart(name, box, points)


def _check_whole(name: str, array: zarr.Array, points: Box) -> None:
    """Raise ValueError if points of an array, relative to its first one, are not whole chunks."""
    widths, most = array.chunks[:0:-1], array.shape[:0:-1]
    for lo, hi, last, width in zip(points.lo, points.hi, most, widths, strict=True):
        if lo % width or (hi % width and hi != last):
            raise ValueError(f"{name}: the box {points} is not made of whole chunks of {widths} points")


def reshard(
    path: Path, layouts: Sequence[RecordsLayout], solid: Callable[[Box], np.ndarray] | None = None
) -> None:
    """Ensure that each block of `layouts` writes whole chunks of the store in `path`, and each host whole shards, by
    copying it if necessary.

    The copy has the groups and shards of `layouts`, the snapshots first, and `solid` is written again. When complete it
    replaces the old store. `recover` completes an interrupted replacement. Raises RunFailed if the disk is full, with
    the old store unchanged.
    """
    try:
        suitable = all(_suits(path, layout) for layout in layouts)
    except ValueError:  # a block that would share a chunk
        suitable = False
    if not suitable:
        _cut_anew(path, layouts, solid)


def _suits(path: Path, layout: RecordsLayout) -> bool:
    """Return True if each shard of a group has a single host. Raises ValueError if a chunk does not have one block."""
    fields, boxes = _fields(path, layout.group), defaultdict[str, list[tuple[Box, int]]](list)
    for cells, host in zip(layout.blocks, layout.hosts, strict=True):
        for part in _parts(fields, layout.charts, cells):
            boxes[part.array].append((part.points, host))
    widths = {name: (array.shards or array.chunks)[:0:-1] for name, array in fields.items()}
    return all(one_host_each(widths[name], parts) for name, parts in boxes.items())


def _cut_anew(path: Path, layouts: Sequence[RecordsLayout], solid: Callable[[Box], np.ndarray] | None) -> None:
    """Replace a store by a copy with the groups and shards of `layouts`."""
    draft, old = _beside(path)
    with on_disk(f"the store for other blocks, {draft}"):
        shutil.rmtree(draft, ignore_errors=True)
        for layout in layouts:
            _copy(path, draft, layout, None if layout.group else solid)
        for name in set(_groups(path)) - set(_groups(draft)):  # no longer written
            shutil.copytree(path / name, draft / name)
        consolidate(draft)
        copied = Unsynced()
        copied.note(draft, (file for file in draft.rglob("*") if file.is_file()))
        copied.sync()
        path.rename(old)
        draft.rename(path)
        shutil.rmtree(old)


def surviving(path: Path) -> Path:
    """Return the path of a store whose replacement may have been interrupted."""
    old = _beside(path)[1]
    return old if old.exists() and not path.exists() else path


def recover(path: Path) -> None:
    """Restore a store whose replacement was interrupted, and remove unfinished files."""
    draft, old = _beside(path)
    if not path.exists() and old.exists():
        old.rename(path)
    for rest in (draft, old):
        shutil.rmtree(rest, ignore_errors=True)
    sweep(path)


def _beside(path: Path) -> tuple[Path, Path]:
    return path.with_name(f".{path.name}.draft"), path.with_name(f".{path.name}.old")


def _groups(path: Path) -> list[str]:
    return list(zarr.open_group(str(path), mode="r", use_consolidated=False, zarr_format=3).group_keys())


def _copy(
    path: Path, target: Path, layout: RecordsLayout, solid: Callable[[Box], np.ndarray] | None
) -> None:
    """Copy all records of a group into a new store with this layout, with one piece in memory."""
    source = zarr.open_group(str(path), path=layout.group, mode="r", use_consolidated=False, zarr_format=3)
    times = Store(path, layout.group).times
    attributes = {name: np.array(value) if isinstance(value, list) else value for name, value in source.attrs.items()}
    new = create(target, layout, attributes, solid)
    new.grow(len(times))
    arrays, buffers = _fields(target, layout.group), Buffers()
    with Pool(PACKERS) as packers:
        for index, (name, array) in product(range(len(times)), layout.arrays.items()):
            place = target / layout.group / name, arrays[name]
            for corner in product(*(range(0, n, width) for n, width in zip(array.shape, array.piece, strict=True))):
                z, y, x = (slice(low, low + width) for low, width in zip(corner, array.piece, strict=True))
                values = np.asarray(array_of(source, name)[index, z, y, x])
                write_shards(*place, (index, *corner), values[None], packers, buffers)
    columns = [name for name in layout.columns if name in source]  # earlier builds have fewer
    for index, time in enumerate(times):
        new.commit(index, time, **{name: np.asarray(array_of(source, name)[index]).item() for name in columns})
    new.finish()
