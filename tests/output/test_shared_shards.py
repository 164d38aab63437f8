"""Blocks of one host write common files: as many as hosts, with the same bits, whole or not at all."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr

from taskflow.common.errors import RunFailed
from taskflow.output import Store, create, dataset, sweep
from taskflow.output.checkpoint.checkpoint import TOGETHER, Checkpoint, Checkpoints, first_blocks
from taskflow.output.disk.damage import Damaged, check_file
from taskflow.output.store.shards import reshard
from taskflow.runtime.regions import Box
from tests.output.conftest import WRITTEN, block_store, layout_of, value, values_of

CUBE = {"cells": (16, 16, 16), "blocks": (4, 4, 4)}
EIGHTS = tuple(4 * (x // 2) + 2 * (y // 2) + z // 2 for x in range(4) for y in range(4) for z in range(4))


def files(path: Path, fields: str = "uvwp") -> list[Path]:
    """The shards of all records, and what else is in their folders."""
    return [file for field in fields for file in path.glob(f"{field}/c/**/*") if file.is_file()]


def write(path: Path, layout, block: int, index: int = 0, token: str = "run") -> None:
    """Write one block's part of a snapshot."""
    store = block_store(path, layout, block, token=token)
    store.write(index, values_of(store, index))


def written(path: Path, layout) -> Path:
    """A store of one snapshot, of which some blocks write their parts at the same time."""
    store = create(path, layout, WRITTEN)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(partial(write, path, layout), range(len(layout.blocks))))
    store.commit(0, 0.5)
    store.finish()
    return path


def assert_right(path: Path, layout) -> None:
    with xr.open_zarr(path, chunks=None) as ds:
        for field in layout.fields:
            np.testing.assert_array_equal(ds[field][0], value(field, 0, Box.of(layout.shape(field)[::-1])))


@pytest.mark.parametrize(("periodic", "count"), [((True,) * 3, 32), ((False,) * 3, 44)])
def test_64_blocks_on_8_hosts_write_8_files_for_each_field(tmp_path, periodic, count):
    """With walls also four files for the last faces of each velocity."""
    layout = layout_of(**CUBE, periodic=periodic, hosts=EIGHTS)
    path = written(tmp_path / "s", layout)
    assert len(files(path)) == count == sum(array.files for array in layout.arrays.values())
    assert_right(path, layout)


def write_all(path: Path, layout, met, block: int) -> None:
    """Write one block's part of as many snapshots as there is room for, while the other blocks do so."""
    met.wait()
    for index in range(layout.slots):
        write(path, layout, block, index)


def test_processes_of_a_host_write_one_shard(tmp_path):
    layout = layout_of((8, 6, 12), (1, 1, 3), hosts=(5,) * 3, fields=("u", "w"), slots=20)
    path, context = tmp_path / "s", get_context("forkserver")
    create(path, layout, WRITTEN)
    with context.Manager() as manager, ProcessPoolExecutor(3, context) as pool:
        list(pool.map(partial(write_all, path, layout, manager.Barrier(3)), range(3)))
    assert len(files(path)) == 2 * 20
    for index, field in product(range(20), layout.fields):
        stored = zarr.open_array(path / field, mode="r")[index]
        np.testing.assert_array_equal(stored, value(field, index, Box.of(layout.shape(field)[::-1])))


@pytest.mark.parametrize(("hosts", "count"), [
    ([x // 2 + 5 * (y // 2) + 25 * (z // 2) for z in range(10) for y in range(10) for x in range(10)], 125),
    ([block // 8 for block in range(1000)], 500),  # no boxes: two blocks along x are in one shard
    (range(1000), 1000),
    ([0] * 1000, 1),
])
def test_a_shard_is_the_largest_box_of_blocks_of_a_host(hosts, count):
    layout = layout_of((20, 20, 20), (10, 10, 10), (True,) * 3, ("p",), hosts=tuple(hosts))
    assert layout.arrays["p"].files == count


def test_unequal_blocks_share_shards_that_begin_regularly():
    """Of 10 cells blocks have 4, 4 and 2. A shard of the first two ends where the third begins."""
    layout = layout_of((4, 4, 10), (1, 1, 3), hosts=(0, 0, 1))
    assert {name: array.shard for name, array in layout.arrays.items()} == {
        "u": (8, 4, 5), "v": (8, 5, 4), "w": (8, 4, 4), "p": (8, 4, 4),
    }  # fmt: skip
    assert layout.arrays["p"].chunk(layout.dtype) == (4, 4, 4)


class Killed(BaseException):
    """In place of the end of a process."""


@pytest.mark.parametrize("error", [Killed, OSError])
@pytest.mark.parametrize("call", ["open", "replace", "unlink", "write_bytes", "read_bytes"])
def test_a_shard_is_whole_or_absent_after_any_failed_call(tmp_path, monkeypatch, call, error):
    """The n-th call of a block fails, for all n; the other blocks write on. The next run finds no trace."""
    layout, path = layout_of((4, 4, 8), (1, 1, 4), (True,) * 3, ("p",), hosts=(0,) * 4, slots=16), tmp_path / "s"
    store = create(path, layout, WRITTEN)
    blocks = [block_store(path, layout, block, token="run") for block in range(4)]
    usual, left, failed = getattr(Path, call), 0, 0

    def failing(*arguments, **options):
        nonlocal left
        left -= 1
        if left == 0:
            raise error(5, "Input/output error")
        return usual(*arguments, **options)

    for index in range(16):
        for number, block in enumerate(blocks):
            left = 1 + index // 2 if number == 1 + 2 * (index % 2) else 0  # of the second or of the last block
            with monkeypatch.context() as patched:
                patched.setattr(Path, call, failing)
                try:
                    block.write(index, values_of(block, index))
                except (Killed, RunFailed):
                    failed += 1
        shard = path / "p" / "c" / f"{index}" / "0" / "0" / "0"
        if shard.exists():
            check_file(shard, 4)
            assert np.isfinite(zarr.open_array(path / "p", mode="r")[index]).all()
    assert failed
    sweep(path)
    for block in range(4):
        again = block_store(path, layout, block, token="next")
        for index in range(16):
            again.write(index, values_of(again, index))
    assert len(files(path)) == 16
    for index in range(16):
        store.commit(index, float(index))
        np.testing.assert_array_equal(dataset(path).p[index], value("p", index, Box.of((4, 4, 8))))


def test_a_damaged_shard_of_several_blocks_is_refused(tmp_path):
    layout = layout_of((8, 6, 12), (1, 1, 3), hosts=(0,) * 3)
    path = written(tmp_path / "s", layout)
    (shard,) = files(path, "p")
    whole = shard.read_bytes()
    for place in (10, len(whole) // 2, len(whole) - 3):
        shard.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(Damaged, match=f"{shard}: the (checksum of a chunk|index)"):
            dataset(path).p.load()


@pytest.mark.parametrize(("before", "after", "copied"), [
    ((0, 0, 0, 0), (0, 0, 1, 1), True),
    ((0, 0, 1, 1), (0, 0, 0, 0), False),  # each shard still has one host
    ((), (0, 0, 0, 0), False),
    ((0, 0, 0, 0), (), True),
])
def test_a_store_is_cut_for_other_hosts(tmp_path, before, after, copied):
    layout = layout_of((8, 6, 12), (1, 1, 4), hosts=before)
    path = written(tmp_path / "s", layout)
    files_before, inode = len(files(path, "p")), path.stat().st_ino
    others = replace(layout, hosts=after)
    reshard(path, [others])
    assert (path.stat().st_ino != inode) == copied
    assert len(files(path, "p")) == (others.arrays["p"].files if copied else files_before)
    assert_right(path, layout)
    store = Store(path)
    store.grow(2)
    for block in range(4):
        write(path, others, block, 1)
    store.commit(1, 1.0)
    assert dataset(path).p.notnull().all()


def part(block: int) -> list[tuple[str, Box, np.ndarray]]:
    box = Box((0, 0, 2 * block), (4, 3, 2 * block + 2))
    return [(field, box, value(field, block, box)) for field in "up"]


def test_blocks_of_a_host_write_one_file_of_a_checkpoint(tmp_path):
    folder = Checkpoints(tmp_path, "run", (0, 0, 1, 0, 1, 1))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda block: folder.write(7, block, part(block), {"time": 1.0} if not block else {}), range(6)))
    folder.commit(7, 1)
    path = tmp_path / "step-000000007"
    assert sorted(file.name for file in path.iterdir()) == ["block-00000.bin", "block-00002.bin", "manifest.json"]
    checkpoint = Checkpoint.load(path)
    for block in range(6):
        for field, box, values in part(block):
            stored = np.zeros(box.shape[::-1])
            checkpoint.fill(field, stored, box)
            np.testing.assert_array_equal(stored, values)
    (path / "block-00002.bin").write_bytes((path / "block-00002.bin").read_bytes()[::-1])
    with pytest.raises(Damaged, match=r"block-00002.bin: its checksum differs"):
        Checkpoint.load(path)


def test_what_a_killed_block_left_in_a_file_is_overwritten(tmp_path):
    folder = Checkpoints(tmp_path, "run", (0, 0, 0))

    def killed():
        yield part(1)[0]
        raise Killed

    folder.write(7, 0, part(0), {"time": 1.0})
    with pytest.raises(Killed):
        folder.write(7, 1, killed())
    for block in (2, 1):
        folder.write(7, block, part(block))
    folder.commit(7, 1)
    checkpoint, stored = Checkpoint.load(tmp_path / "step-000000007"), np.zeros((6, 3, 4))
    checkpoint.fill("p", stored, Box.of((4, 3, 6)))
    np.testing.assert_array_equal(stored, np.concatenate([part(block)[1][2] for block in range(3)]))


def test_a_state_that_is_written_again_replaces_the_first(tmp_path):
    """As if a script changes it after the checkpoint of a step and asks for another one."""
    folder = Checkpoints(tmp_path, "run", (0, 0))
    for number in (1.0, 2.0):
        for block in (1, 0):
            values = [(field, box, number * values) for field, box, values in part(block)]
            folder.write(7, block, values, {"time": number} if block == 0 else None)
    folder.commit(7, 1)
    checkpoint, stored = Checkpoint.load(tmp_path / "step-000000007"), np.zeros((4, 3, 4))
    checkpoint.fill("p", stored, Box.of((4, 3, 4)))
    np.testing.assert_array_equal(stored, 2.0 * np.concatenate([part(block)[1][2] for block in range(2)]))
    assert checkpoint.state == {"time": 2.0}
    assert len(checkpoint.boxes("p")) == 2


def test_many_blocks_of_a_host_write_several_files():
    hosts = [block % 2 for block in range(4 * TOGETHER)]
    assert sorted(set(first_blocks(hosts))) == [0, 1, 2 * TOGETHER, 2 * TOGETHER + 1]
