"""The store of a run that goes on with other blocks: cut into shards that these blocks can write."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import numpy as np
import zarr

from taskflow.output.disk import on_disk
from taskflow.output.layout import Layout
from taskflow.output.store import BlockStore, Store, array_of, create
from taskflow.regions import Box


def reshard(
    path: Path, layout: Layout, blocks: Iterable[Box], solid: Callable[[Box], np.ndarray] | None = None
) -> None:
    """Leave in `path` a store in which each of `blocks` writes whole shards: the present one, or a copy of it.

    The copy has the shards of `layout`; what is `solid` is written anew. It takes the place of the old one when it is
    whole; `recover` finishes what was cut off in between. Raises RunFailed where the disk is full; then the old one is
    still there.
    """
    try:
        for block in blocks:
            BlockStore(path, block)
        return
    except ValueError:  # a block that would share a shard
        pass
    draft, old = _beside(path)
    with on_disk(f"the store for other blocks, {draft}"):
        shutil.rmtree(draft, ignore_errors=True)
        _copy(path, draft, layout, solid)
        path.rename(old)
        draft.rename(path)
        shutil.rmtree(old)


def recover(path: Path) -> None:
    """Put a store back in its place whose replacement was cut off."""
    draft, old = _beside(path)
    if not path.exists() and old.exists():
        old.rename(path)
    for rest in (draft, old):
        shutil.rmtree(rest, ignore_errors=True)


def _beside(path: Path) -> tuple[Path, Path]:
    return path.with_name(f".{path.name}.draft"), path.with_name(f".{path.name}.old")


def _copy(path: Path, target: Path, layout: Layout, solid: Callable[[Box], np.ndarray] | None) -> None:
    """All snapshots of a store, in a new one of the given layout; a shard at a time is in memory."""
    source = zarr.open_group(str(path), mode="r", use_consolidated=False)
    times = Store(path).times
    new = create(target, layout, {name: value for name, value in source.attrs.items() if isinstance(value, str)}, solid)
    new.grow(len(times))
    arrays = zarr.open_group(str(target), mode="r+")
    for index, name in product(range(len(times)), layout.fields):
        points, widths = layout.shape(name), layout.shard(name)
        for corner in product(*(range(0, n, width) for n, width in zip(points, widths, strict=True))):
            z, y, x = (slice(low, low + width) for low, width in zip(corner, widths, strict=True))
            array_of(arrays, name)[index, z, y, x] = np.asarray(array_of(source, name)[index, z, y, x])
    for index, time in enumerate(times):
        new.commit(index, time)
    new.finish()
