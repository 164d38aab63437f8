"""What the tests of the output share."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest

from taskflow.output import BlockStore, FieldMetadata, Store, StoreLayout, create
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
    starts = tuple(cuts(n, b)[:-1] for n, b in zip(cells, blocks, strict=True))
    about = {"lengths": (2.0, 1.5, 1.0), "origin": (0.0, -1.0, 0.5), "fields": described(fields), **rest}
    return StoreLayout(cells=cells, periodic=periodic, starts=starts, **about)


def blocks_of(layout: StoreLayout) -> list[Box]:
    """The cells of each block."""
    sides = [pairwise((*starts, n)) for starts, n in zip(layout.starts, layout.cells, strict=True)]
    return [Box(*zip(*block, strict=True)) for block in product(*sides)]


def write_snapshot(path: Path, block: Box, index: int) -> None:
    """One block's part of one snapshot."""
    store = BlockStore(path, block)
    store.write(index, {name: partial(value, name, index, box) for name, box in store.boxes.items()})


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """A finished store of the layout with snapshots at the given times."""

    def make(layout: StoreLayout, times=(0.0, 0.5, 1.0)) -> Path:
        path = tmp_path / "fields.zarr"
        create(path, layout, WRITTEN)
        store = Store(path)
        for index, time in enumerate(times):
            store.grow(index + 1)
            for block in blocks_of(layout):
                write_snapshot(path, block, index)
            store.commit(index, time)
        store.finish()
        return path

    return make
