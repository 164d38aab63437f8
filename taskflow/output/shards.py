"""The store of a run that goes on with other blocks: cut into shards that these blocks can write."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import zarr

from taskflow.output.disk import Unsynced, on_disk, sweep
from taskflow.output.groups import array_of, consolidate
from taskflow.output.layout import Layout
from taskflow.output.store import BlockStore, Store, create
from taskflow.regions import Box


def reshard(
    path: Path, layouts: Sequence[Layout], blocks: Iterable[Box], solid: Callable[[Box], np.ndarray] | None = None
) -> None:
    """Leave in `path` a store in which each of `blocks` writes whole shards: the present one, or a copy of it.

    The copy has the groups and shards of `layouts`, that of the snapshots first; what is `solid` is written anew. It
    takes the place of the old one when it is whole; `recover` finishes what was cut off in between. Raises RunFailed
    where the disk is full; then the old one is still there.
    """
    try:
        for layout, block in product(layouts, blocks):
            BlockStore(path, block, layout.group)
        return
    except ValueError:  # a block that would share a shard
        pass
    draft, old = _beside(path)
    with on_disk(f"the store for other blocks, {draft}"):
        shutil.rmtree(draft, ignore_errors=True)
        for layout in layouts:
            _copy(path, draft, layout, solid if not layout.group else None)
        for name in set(_groups(path)) - set(_groups(draft)):  # that nobody writes any more
            shutil.copytree(path / name, draft / name)
        consolidate(zarr.open_group(str(draft), mode="r+", use_consolidated=False))
        copied = Unsynced()
        copied.note(draft, (file for file in draft.rglob("*") if file.is_file()))
        copied.sync()
        path.rename(old)
        draft.rename(path)
        shutil.rmtree(old)


def present(path: Path) -> Path:
    """Where a store is whose replacement may have been cut off."""
    old = _beside(path)[1]
    return old if old.exists() and not path.exists() else path


def recover(path: Path) -> None:
    """Put a store back in its place whose replacement was cut off, and remove what was never finished in it."""
    draft, old = _beside(path)
    if not path.exists() and old.exists():
        old.rename(path)
    for rest in (draft, old):
        shutil.rmtree(rest, ignore_errors=True)
    sweep(path)


def _beside(path: Path) -> tuple[Path, Path]:
    return path.with_name(f".{path.name}.draft"), path.with_name(f".{path.name}.old")


def _groups(path: Path) -> list[str]:
    return list(zarr.open_group(str(path), mode="r", use_consolidated=False).group_keys())


def _copy(path: Path, target: Path, layout: Layout, solid: Callable[[Box], np.ndarray] | None) -> None:
    """All records of a group, in a new store with the given layout of it; a shard at a time is in memory."""
    source = zarr.open_group(str(path), path=layout.group, mode="r", use_consolidated=False)
    times = Store(path, layout.group).times
    new = create(target, layout, {name: value for name, value in source.attrs.items() if isinstance(value, str)}, solid)
    new.grow(len(times))
    arrays = zarr.open_group(str(target), path=layout.group, mode="r+")
    for index, name in product(range(len(times)), layout.fields):
        points, widths = layout.shape(name), layout.shard(name)
        for corner in product(*(range(0, n, width) for n, width in zip(points, widths, strict=True))):
            z, y, x = (slice(low, low + width) for low, width in zip(corner, widths, strict=True))
            array_of(arrays, name)[index, z, y, x] = np.asarray(array_of(source, name)[index, z, y, x])
    for index, time in enumerate(times):
        new.commit(index, time, **{name: np.asarray(array_of(source, name)[index]).item() for name in layout.columns})
    new.finish()
