"""What the tests of the output share."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from taskflow.output import BlockStore, FieldMetadata, RecordsLayout, Store, StoreLayout, create
from taskflow.output.store.shards import BlockPart
from taskflow.runtime.regions import Box, cuts

METADATA = {
    "u": FieldMetadata("velocity along x", location="fx"),
    "v": FieldMetadata("velocity along y", location="fy"),
    "w": FieldMetadata("velocity along z", location="fz"),
    "p": FieldMetadata("pressure divided by density"),
    "T": FieldMetadata("temperature"),
}
WRITTEN = {"title": "A test", "case": "[grid]\ncells = [4, 4, 4]\n", "history": "written by a test"}


def value(field: str, index: int, box: Box) -> np.ndarray:
    """A number [z, y, x] that names field, snapshot and place."""
    z, y, x = np.meshgrid(*(np.arange(box.lo[a], box.hi[a]) for a in (2, 1, 0)), indexing="ij")
    return x + 16.0 * y + 256.0 * z + 4096.0 * index + 0.125 * "uvwpT".index(field)


def described(names) -> dict[str, FieldMetadata]:
    """The metadata of these fields, as a run has them."""
    return {name: METADATA.get(name, FieldMetadata(name)) for name in names}


def layout_of(
    cells=(8, 6, 10), blocks=(1, 1, 1), periodic=(False, False, False), fields=("u", "v", "w", "p"), **rest
) -> StoreLayout:
    """A layout whose blocks are cut as partitions cut them."""
    sides = (pairwise(cuts(n, b)) for n, b in zip(cells, blocks, strict=True))
    boxes = tuple((Box(*zip(*block, strict=True)),) for block in product(*sides))
    about = {"lengths": (2.0, 1.5, 1.0), "origin": (0.0, -1.0, 0.5), "fields": described(fields), **rest}
    return StoreLayout(cells=cells, periodic=periodic, blocks=boxes, **about)


def block_store(path: Path, layout: RecordsLayout, block: int = 0, **options) -> BlockStore:
    """A block's part of a store."""
    return BlockStore(path, layout.charts, layout.blocks[block], **options)


def values_of(store: BlockStore, index: int) -> dict[BlockPart, partial[np.ndarray]]:
    """A block's part of one snapshot."""
    return {part: partial(value, part.field, index, part.box) for part in store.parts}


def write_snapshot(path: Path, layout: StoreLayout, index: int, block: int = 0) -> None:
    """Write one block's part of one snapshot."""
    store = block_store(path, layout, block)
    store.write(index, values_of(store, index))


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """A finished store of the layout with snapshots at the given times."""

    def make(layout: StoreLayout, times=(0.0, 0.5, 1.0)) -> Path:
        path = tmp_path / "fields.zarr"
        create(path, layout, WRITTEN)
        store = Store(path)
        for index, time in enumerate(times):
            store.grow(index + 1)
            for block in range(len(layout.blocks)):
                write_snapshot(path, layout, index, block)
            store.commit(index, time)
        store.finish()
        return path

    return make
