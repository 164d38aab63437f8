"""Store of a run: groups of records such as snapshots, committed by one process and written by the process of each
block.

The process that changes shapes also rewrites the consolidated metadata after each change, atomically. Readers thus find
all fields equally long at any time, and xarray opens the store without warnings. An outdated copy would hide new
snapshots.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from zarr.codecs import BloscCodec

from taskflow.output.disk.damage import Damaged
from taskflow.output.disk.disk import Unsynced, on_disk
from taskflow.output.store.chart_layout import ChartsLayout
from taskflow.output.store.chart_store import add_charts
from taskflow.output.store.groups import WHOLE, add_array, add_column, consolidate, has_records, open_group
from taskflow.output.store.layout import RecordsLayout, StoreLayout, divide
from taskflow.output.store.metadata import (
    FIRST,
    SOLID,
    SOLID_ATTRIBUTES,
    TIME,
    coordinate_attributes,
    field_attributes,
    global_attributes,
    grid_attributes,
    metric_attributes,
    metric_name,
)
from taskflow.output.store.packing import BITS, PACKING
from taskflow.output.store.rigid_motion import write_places
from taskflow.runtime.regions import Box

PIECE = 2**24  # cells per call of `solid`, and per stored chunk at most


def create(
    path: str | Path,
    layout: RecordsLayout,
    attributes: Mapping[str, Any],
    solid: Callable[[Box], np.ndarray] | None = None,
) -> Store:
    """Create the group of a layout in a store: positions of its cells, empty fields, `attributes`, and solid cells.

    Attributes are title, case, history and others. One process does this before the blocks open their `BlockStore`. The
    returned Store commits records, makes room for more, and drops them, for all charts together. Raises
    zarr.errors.ContainsGroupError if the group exists, and OSError if it cannot be written.
    """
    group = zarr.create_group(str(path), path=layout.group, zarr_format=3, attributes=global_attributes(attributes))
    if isinstance(layout, ChartsLayout):
        add_charts(group, layout, solid)
    elif isinstance(layout, StoreLayout):
        _add_box(group, layout)
        if solid is not None:
            _save_solid(group, layout, solid, PACKING[layout.compression])
    _add_records(group, layout)
    consolidate(path, layout.group)
    return Store(path, layout.group)


def _add_box(group: zarr.Group, layout: StoreLayout) -> None:
    if any(layout.first):
        group.attrs[FIRST] = json.dumps(layout.first)
    for dim in [f"{axis}_{place}" for axis in "xyz" for place in "cf"]:
        size = (layout.size(dim),)
        add_array(group, dim, size, (dim,), coordinate_attributes(dim))[:] = layout.coordinate(dim)
        add_array(group, metric_name(dim), size, (dim,), metric_attributes(dim))[:] = layout.metric(dim)
    add_array(group, "grid", (), (), grid_attributes(layout), dtype="i4")[...] = 0


def _add_records(group: zarr.Group, layout: RecordsLayout) -> None:
    """Create the record arrays of a layout, still empty: times, columns and fields."""
    for name, described in {"time": {**TIME, "long_name": layout.time}, **layout.columns}.items():
        add_column(group, name, layout.slots, described)
    for path, array in layout.arrays.items():
        shard, chunk = array.shard, array.chunk(layout.dtype)
        add_array(
            group,
            path,
            (layout.slots, *array.shape),
            ("time", *array.dims),
            {**field_attributes(layout.fields[array.field]), **_rounding(layout)},
            chunks=(1, *chunk),
            shards=None if shard == chunk else (1, *shard),
            dtype=layout.dtype,
            fill_value=np.nan,
            packing=PACKING[layout.compression],
        )


def _rounding(layout: RecordsLayout) -> dict[str, Any]:
    """Return the attributes of rounded values, with the number of bits as in CF."""
    if layout.kept_bits is None:
        return {}
    return {BITS: layout.kept_bits, "relative_error": 2.0 ** -(layout.kept_bits + 1)}


def remove(path: str | Path, group: str) -> None:
    """Remove a group of the store if it exists. Raises RunFailed on failure."""
    if (Path(path) / group).exists():
        with on_disk(f"{group} in {path}"):
            shutil.rmtree(Path(path) / group)
            consolidate(path)


class Store:
    """Group of the store, by default the snapshots, for the process that commits records after all blocks wrote them.

    `sync` forces its own writes, and existing files other than records, to disk. Raises Damaged if the group cannot be
    read.
    """

    def __init__(self, path: str | Path, group: str = "") -> None:
        self._path, self._files = Path(path), Unsynced()
        self._group, self._arrays = open_group(path, group)
        self._time = self._arrays["time"]
        try:
            self.times: list[float] = [float(t) for t in np.asarray(self._time[:]) if np.isfinite(t)]
        except Exception as error:  # any error of a codec
            raise Damaged(f"{self._path / self._time.path}: {error}") from None
        fixed = [self._path / array.path for array in self._arrays.values() if not has_records(array)]
        self._note(*(file for folder in fixed for file in folder.rglob("*") if file.is_file()))
        groups = {self._path / parent for name in self._arrays for parent in Path(self._group.path, name).parents}
        self._note(*(folder / "zarr.json" for folder in groups))
        self._note_shape()

    @property
    def capacity(self) -> int:
        """Number of records with room."""
        return int(self._time.shape[0])

    def commit(self, index: int, time: float, **columns: float) -> None:
        """Make record `index` visible, with its numbers.

        Numbers for which an older store has no column are omitted. Records are committed in order with increasing
        times, else ValueError is raised. Like every change of the store it raises RunFailed if the disk is full.
        """
        if index != len(self.times) or index >= self.capacity:
            raise ValueError(f"snapshot {index} committed after {len(self.times)} of at most {self.capacity}")
        if not np.isfinite(time) or (self.times and time <= self.times[-1]):
            raise ValueError(f"snapshot {index} at time {time} after time {self.times[-1:]}")
        with on_disk(f"time of snapshot {index} in {self._group.store_path}"):
            for array in write_places(self._arrays, index, columns):  # of one chunk each
                self._note(self._path / array.path / array.metadata.encode_chunk_key((index, 0, 0, 0)))
            known = {name: value for name, value in columns.items() if name in self._arrays}
            for name, value in (*known.items(), ("time", time)):
                array = self._arrays[name]
                array[index] = value
                self._note(self._path / array.path / array.metadata.encode_chunk_key((index // array.chunks[0],)))
        self.times.append(float(time))

    def sync(self) -> None:
        """Wait until the committed records are visible on disk. Raises RunFailed on failure."""
        self._files.sync()

    def _note(self, *files: Path) -> None:
        self._files.note(self._path.parent, files)

    def _note_shape(self) -> None:
        """Note the files rewritten by a change of shape: metadata of the group and the store, and columns."""
        self._note(self._path / "zarr.json", self._path / self._group.path / "zarr.json")
        for array in self._arrays.values():
            folder = self._path / array.path
            is_column = has_records(array) and array.ndim == 1
            self._note(folder / "zarr.json", *((folder / "c").glob("*") if is_column else ()))

    def grow(self, capacity: int) -> None:
        """Make room for `capacity` snapshots if necessary, at least doubling it."""
        if capacity > self.capacity:
            self._resize(max(capacity, 2 * self.capacity))

    def finish(self) -> None:
        """Drop uncommitted slots. Blocks may not write until `grow` makes room again."""
        if len(self.times) < self.capacity:
            self._resize(len(self.times))

    def cut(self, count: int) -> None:
        """Keep only the first `count` snapshots, without partially written ones. `grow` makes room again."""
        with on_disk(f"snapshots after {count} in {self._group.store_path}"):
            self._time[count:] = np.nan  # a chunk of times keeps values after its end
        del self.times[count:]
        self._resize(len(self.times))

    def _resize(self, slots: int) -> None:
        with on_disk(f"room for {slots} snapshots in {self._group.store_path}"):
            for array in filter(has_records, self._arrays.values()):
                before = array.shape[0]
                array.resize((slots, *array.shape[1:]))
                if array.ndim == 1 and slots > before:  # records written there may not be committed yet
                    array.with_config(WHOLE)[before:] = np.nan
            consolidate(self._path, self._group.path)
            self._note_shape()


def _save_solid(
    group: zarr.Group, layout: StoreLayout, inside: Callable[[Box], np.ndarray], packing: BloscCodec | None
) -> None:
    """Store the mask of solid cells, given `inside`, the mask [z, y, x] of a box of cells."""
    shape = layout.shape(SOLID)
    chunk = divide(shape, PIECE)
    dims = layout.dims(SOLID)
    array = add_array(group, SOLID, shape, dims, SOLID_ATTRIBUTES, chunks=chunk, dtype="i1", packing=packing)
    for k, j, i in product(*(range(0, n, width) for n, width in zip(shape, chunk, strict=True))):
        box = Box((i, j, k), (i + chunk[2], j + chunk[1], k + chunk[0]))
        array[box.slices((0, 0, 0))] = inside(box).astype("i1")
