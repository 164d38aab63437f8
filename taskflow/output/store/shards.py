"""Shards, each written by a single block: a block's part of the store, and the store recut for other blocks."""

from __future__ import annotations

import json
import shutil
import time as clock
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import zarr

from taskflow.common.errors import RunFailed
from taskflow.output.disk.disk import Guard, Unsynced, on_disk, sweep, unguarded
from taskflow.output.store.groups import array_of, arrays_of, consolidate
from taskflow.output.store.layout import RecordsLayout, StoreLayout
from taskflow.output.store.metadata import FIRST
from taskflow.output.store.packing import Buffers, write_shards
from taskflow.output.store.rigid_motion import PLACES
from taskflow.output.store.store import Store, create
from taskflow.runtime.regions import Box, Triple, triple

ABREAST, PACKERS = 4, 8  # fields that are written, and threads that pack their chunks
POLL = 0.02  # seconds between checks for growth of the store


Layout = TypeVar("Layout", bound=RecordsLayout)
Attributes = Mapping[str, Any]
Fetch = Callable[[], np.ndarray]
Part = tuple[str, Box, Fetch]  # an array, points relative to its first one, and a function for their values


class ShardWriter:
    """Part of one block in the arrays of a group of the store: whole shards, for the process of that block.

    Written files are noted in `files`. `guard` is called before a shard gets its name.
    """

    def __init__(
        self,
        path: str | Path,
        group: str = "",
        *,
        patience: float = 60.0,
        files: Unsynced | None = None,
        guard: Guard = unguarded,
    ) -> None:
        self._guard = guard
        self._path, self._name, self._patience, self._buffers = path, group, patience, Buffers()
        self._files = files or Unsynced()
        self.reopen()

    def reopen(self) -> None:
        """Open the store again, which may have grown."""
        self._group = zarr.open_group(str(self._path), path=self._name, mode="r+", zarr_format=3)
        timed = {name: array for name, array in arrays_of(self._group) if array.ndim == 4}
        # written by blocks, unlike positions of moving charts
        self._fields = {name: array for name, array in timed.items() if name.rpartition("/")[2] not in PLACES}

    @property
    def capacity(self) -> int:
        """Number of snapshots with room when the store was last opened."""
        return min(array.shape[0] for array in self._fields.values())

    def put(self, index: int, parts: Sequence[Part]) -> None:
        """Write parts of record `index`, several concurrently, after waiting for room in the store."""
        self._wait_for(index)
        with ThreadPoolExecutor(PACKERS) as packers, ThreadPoolExecutor(ABREAST) as threads:
            for _ in threads.map(lambda part: self._put(index, part, packers), parts):
                pass

    def _put(self, index: int, part: Part, packers: Executor) -> None:
        name, points, fetch = part
        array = fetch()
        if array.shape != points.shape[::-1]:
            raise ValueError(f"{name}: an array of shape {array.shape} for {points.shape} points along x, y and z")
        with on_disk(f"snapshot {index} in {self._path}"):
            folder, corner = Path(self._path, self._name, name), (index, *points.lo[::-1])
            written = write_shards(folder, self._fields[name], corner, array[None], packers, self._buffers, self._guard)
        self._files.note(Path(self._path).parent, written)

    def _wait_for(self, index: int) -> None:
        deadline = clock.monotonic() + self._patience
        while index >= self.capacity:
            self.reopen()
            if index >= self.capacity:
                if clock.monotonic() > deadline:
                    raise RunFailed(f"no room for snapshot {index} in {self._path} after {self._patience:g} s")
                clock.sleep(POLL)


class BlockStore(ShardWriter):
    """Part of one block in a group of a store of one box.

    `boxes` has the points of each field that the block writes: one per cell, and the last face if the block ends at a
    wall, in the index space of the field, where point i belongs to cell i. They are empty if the group has no cells of
    the block. For the options see `ShardWriter`. Raises ValueError if a box does not consist of whole shards,
    because two writers of one shard lose each other's data without an error.
    """

    def __init__(self, path: str | Path, block: Box, group: str = "", **options: Any) -> None:
        super().__init__(path, group, **options)
        whole = zarr.open_group(str(path), mode="r", zarr_format=3)
        cells = triple(array_of(whole, f"{axis}_c").size for axis in "xyz")
        self._first = triple(json.loads(str(self._group.attrs.get(FIRST, "[0, 0, 0]"))))
        self.boxes = {name: _portion(name, array, block, cells, self._first) for name, array in self._fields.items()}

    def write(self, index: int, values: Mapping[str, Fetch]) -> None:
        """Write this block's part of snapshot `index`, given a function per field that returns an array [z, y, x] of
        its box.

        Several are fetched and written concurrently. Waits up to `patience` seconds for room in the store. Raises
        RunFailed if none becomes free, or the disk is full.
        """
        if set(values) != set(self.boxes):
            raise ValueError(f"fields {sorted(values)} given where {sorted(self.boxes)} are stored")
        back = triple(-n for n in self._first)
        self.put(index, [(name, box.shift(back), values[name]) for name, box in self.boxes.items() if box])


def _portion(name: str, array: zarr.Array, block: Box, cells: Triple, first: Triple) -> Box:
    """Return the points of a field that the block writes, where the first stored point belongs to the cell `first`.

    Raises ValueError if another block writes to the same shard.
    """
    stored = Box(first, triple(low + n for low, n in zip(first, array.shape[:0:-1], strict=True)))
    box = stored & Box(block.lo, triple(hi + (hi == n) for hi, n in zip(block.hi, cells, strict=True)))
    if box:
        check_whole(name, array, box.shift(triple(-n for n in first)))
    return box


def check_whole(name: str, array: zarr.Array, points: Box) -> None:
    """Raise ValueError if points of an array, relative to its first one, are not whole shards."""
    widths, most = (array.shards or array.chunks)[:0:-1], array.shape[:0:-1]
    for lo, hi, last, width in zip(points.lo, points.hi, most, widths, strict=True):
        if lo % width or (hi % width and hi != last):
            raise ValueError(f"{name}: the box {points} is not made of whole shards of {widths} points")


def reshard(
    path: Path, layouts: Sequence[StoreLayout], blocks: Iterable[Box], solid: Callable[[Box], np.ndarray] | None = None
) -> None:
    """Ensure that each of `blocks` writes whole shards of the store in `path`, by copying it if necessary.

    The copy has the groups and shards of `layouts`, the snapshots first, and `solid` is written again. When complete it
    replaces the old store. `recover` completes an interrupted replacement. Raises RunFailed if the disk is full, with
    the old store unchanged.
    """

    def made(target: Path, layout: StoreLayout, attributes: Attributes) -> Store:
        return create(target, layout, attributes, None if layout.group else solid)

    try:
        for layout, block in product(layouts, blocks):
            BlockStore(path, block, layout.group)
    except ValueError:  # a block that would share a shard
        cut_anew(path, layouts, made)


def cut_anew(path: Path, layouts: Sequence[Layout], create: Callable[[Path, Layout, Attributes], Store]) -> None:
    """Replace a store by a copy with the groups and shards of `layouts`, made by `create`."""
    draft, old = _beside(path)
    with on_disk(f"the store for other blocks, {draft}"):
        shutil.rmtree(draft, ignore_errors=True)
        for layout in layouts:
            _copy(path, draft, layout, create)
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
    path: Path, target: Path, layout: Layout, create: Callable[[Path, Layout, Attributes], Store]
) -> None:
    """Copy all records of a group into a new store with this layout, with one shard in memory."""
    source = zarr.open_group(str(path), path=layout.group, mode="r", use_consolidated=False, zarr_format=3)
    times = Store(path, layout.group).times
    attributes = {name: np.array(value) if isinstance(value, list) else value for name, value in source.attrs.items()}
    new = create(target, layout, attributes)
    new.grow(len(times))
    arrays = zarr.open_group(str(target), path=layout.group, mode="r+", zarr_format=3)
    for index, (name, array) in product(range(len(times)), layout.arrays.items()):
        for corner in product(*(range(0, n, width) for n, width in zip(array.shape, array.shard, strict=True))):
            z, y, x = (slice(low, low + width) for low, width in zip(corner, array.shard, strict=True))
            array_of(arrays, name)[index, z, y, x] = np.asarray(array_of(source, name)[index, z, y, x])
    columns = [name for name in layout.columns if name in source]  # earlier builds have fewer
    for index, time in enumerate(times):
        new.commit(index, time, **{name: np.asarray(array_of(source, name)[index]).item() for name in columns})
    new.finish()
