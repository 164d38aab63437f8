"""The store: every number where it belongs, no warning when it is opened, no shard with two writers."""

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
import zarr
from numcodecs import Blosc

from taskflow.common.errors import BadInput, RunFailed
from taskflow.output import BlockStore, Store, TimeSeries, create, create_time_series, dataset, write_time_series
from taskflow.output.store.packing import AHEAD, Buffers, Packing, _ahead, _compressor, pack, take_buffer
from taskflow.output.store.shards import recover, surviving
from taskflow.runtime.regions import Box
from tests.output.conftest import WRITTEN, block_store, layout_of, value, values_of, write_snapshot

CUTS = [(1, 1, 1), (1, 1, 3), (1, 1, 4), (2, 1, 2), (2, 2, 2), (3, 1, 1), (1, 4, 3)]


def whole(layout, field) -> Box:
    return Box.of(layout.shape(field)[::-1])


@pytest.mark.fast("*-blocks1", "*-blocks4", "*-blocks6")
@pytest.mark.parametrize("blocks", CUTS)
@pytest.mark.parametrize(("periodic", "precision"), [((False,) * 3, "single"), ((True, False, True), "double")])
def test_every_value_lies_where_it_belongs(written, blocks, periodic, precision):
    layout = layout_of(blocks=blocks, periodic=periodic, fields=("u", "v", "w", "p", "T"), precision=precision)
    path = written(layout, times=(0.0, 0.5))
    with xr.open_zarr(path, chunks=None) as ds:
        assert ds.sizes["time"] == 2
        np.testing.assert_array_equal(ds.time, [0.0, 0.5])
        for field in layout.fields:
            assert ds[field].dtype == layout.dtype
            assert ds[field].dims == ("time", *layout.dims(field))
            for index in range(2):
                np.testing.assert_array_equal(ds[field][index], value(field, index, whole(layout, field)))


@pytest.mark.parametrize("opened", [
    lambda path: xr.open_zarr(path),
    lambda path: xr.open_zarr(path, chunks=None),
    lambda path: xr.open_dataset(path, engine="zarr"),
    lambda path: xr.open_dataset(path, engine="zarr", decode_coords="all"),
    lambda path: dataset(path),
])
def test_every_way_of_opening_is_without_warning_and_equal(written, opened):  # pytest turns warnings into errors
    layout = layout_of(blocks=(1, 1, 2))
    with opened(written(layout)) as ds:
        assert dict(ds.sizes) == {"time": 3, "x_c": 8, "x_f": 9, "y_c": 6, "y_f": 7, "z_c": 10, "z_f": 11}
        assert ds.load().notnull().all()
        assert ds.attrs.items() >= WRITTEN.items()


@pytest.mark.parametrize("cells", [(100, 100, 100), (2000, 2000, 2000)])
def test_a_store_opens_in_less_than_a_second_whatever_its_size(cells, tmp_path):
    """Of processor time, the best of three: a million cells or eight billion, 1,000 snapshots of 50 blocks."""
    path = tmp_path / "fields.zarr"
    create(path, layout_of(cells, blocks=(1, 1, 50), slots=1000), WRITTEN)
    store = Store(path)
    store._time[:] = np.arange(1000.0)
    seconds = []
    for _ in range(3):
        begun = time.process_time()
        with xr.open_zarr(path) as ds:
            assert ds.u.shape == (1000, cells[2], cells[1], cells[0] + 1)
        seconds.append(time.process_time() - begun)
    assert min(seconds) < 1.0


@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 4), (2, 3, 1)])
def test_a_snapshot_is_a_file_per_block_and_field(written, blocks):
    """And one for the last faces across each direction that is cut, for every block that has them."""
    times, layout = (0.0, 0.5, 1.0), layout_of((8, 6, 12), blocks)
    store = written(layout, times)
    shards = [path for name in layout.fields for path in (store / name / "c").rglob("*") if path.is_file()]
    count = len(layout.blocks)
    faces = sum(count // n for n in blocks if n > 1)
    assert len(shards) == (count * len(layout.fields) + faces) * len(times)
    others = {path for path in store.rglob("*") if path.is_file()} - {*shards}
    assert len(others) < 40


def test_coordinates_meet_both_walls_and_the_centres(written):
    ds = dataset(written(layout_of(periodic=(False, True, False))))
    assert ds.x_f[0] == 0.0
    assert ds.x_f[-1] == 2.0
    assert ds.x_c[0] == 0.125
    assert ds.y_f.size == 6
    assert ds.y_f[0] == -1.0
    assert ds.z_c[-1] == 1.45
    assert ds.z_f[-1] == 1.5
    assert {ds[name].dtype for name in ds.coords} == {np.dtype("f8")}
    assert all({"units", "axis", "long_name"} <= set(ds[name].attrs) for name in ds.coords)


def test_one_file_per_block_field_and_snapshot(written):
    path = written(layout_of(cells=(8, 6, 9), blocks=(2, 1, 3), periodic=(True, False, True)))
    assert len([file for file in (path / "p" / "c").rglob("*") if file.is_file()]) == 3 * 6


def test_a_shard_is_split_into_chunks_a_reader_can_afford():
    layout = layout_of(cells=(512, 512, 512), blocks=(1, 1, 2))
    assert layout.arrays["p"].shard == (256, 512, 512)
    assert layout.arrays["p"].chunk(layout.dtype) == (16, 512, 512)
    assert layout.arrays["u"].shard == (256, 512, 513)
    assert np.prod(layout.arrays["u"].chunk(layout.dtype)) * 4 <= 16 * 2**20


def _sizes(path) -> dict:
    return {file: file.stat().st_size for file in path.rglob("*") if file.is_file()}


@pytest.mark.parametrize("compression", ["lz4", "zstd", "none"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (1, 1, 2), (2, 2, 1)])
def test_shards_are_those_that_zarr_writes(written, monkeypatch, blocks, compression):
    """Chunks beyond a wall are left out, or filled up. The order of chunks within a shard is left to the writer."""
    monkeypatch.setattr("taskflow.output.store.layout.CHUNK_BYTES", 200)
    layout = layout_of(blocks=blocks, compression=compression)
    path = written(layout, times=(0.0,))
    group = zarr.open_group(path, mode="r+")
    assert group["p"].shards == (1, *(n // blocks[axis] for n, axis in zip((10, 6, 8), (2, 1, 0), strict=True)))
    sizes = _sizes(path)
    for name in layout.fields:
        result = group[name][0]
        np.testing.assert_array_equal(result, value(name, 0, whole(layout, name)))
        np.testing.assert_array_equal(group[name][0, 1:4, 2, -3:], result[1:4, 2, -3:])
        group[name][0] = result
    assert _sizes(path) == sizes


def test_chunks_wait_for_the_disk_before_more_are_packed():
    packing, packed = Packing(np.dtype("f4"), (1, 1, 1, 1000), 0, Blosc("lz4")), []
    values = np.arange(100_000, dtype="f4").reshape(100, 1, 1, 1, 1000)
    with ThreadPoolExecutor(3) as packers:
        chunks = _ahead(packers, packing, (packed.append(chunk) or chunk for chunk in values), Buffers())
        for number, (chunk, _) in enumerate(chunks):
            np.testing.assert_array_equal(np.frombuffer(Blosc().decode(chunk), "f4"), values[number].ravel())
            assert len(packed) == min(number + AHEAD + 1, 100)


@pytest.mark.parametrize("codec", [Blosc("lz4", 5, Blosc.SHUFFLE), Blosc("zstd", 5, Blosc.BITSHUFFLE)], ids=str)
@pytest.mark.parametrize("hidden", [False, True])
def test_blosc_packs_what_numcodecs_packs(monkeypatch, codec, hidden):
    """Values that pack and values that do not, whether its library can be called or not."""
    monkeypatch.setattr("numcodecs.blosc.use_threads", False)
    if hidden:
        monkeypatch.setattr("taskflow.output.store.packing._compressor", lambda: None)
    noise = np.random.default_rng(0).integers(0, 2**32, 50_000, "u4")
    for values in (np.zeros((30, 40), "f4"), noise, np.linspace(0, 1, 20_000)):
        packed = pack(codec, values, take_buffer(Buffers(), values.nbytes))
        np.testing.assert_array_equal(np.frombuffer(codec.decode(packed), values.dtype), values.ravel())
        assert bytes(packed) == codec.encode(values)


def test_blosc_is_called_directly():
    assert _compressor() is not None


def test_room_is_used_again():
    rooms = Buffers()
    rooms.append(small := take_buffer(rooms, 10))
    assert take_buffer(rooms, 5) is small
    rooms.append(small)
    assert take_buffer(rooms, 1000).size >= 1000


@pytest.mark.parametrize("block", [Box((0, 0, 0), (8, 6, 4)), Box((0, 0, 2), (8, 6, 10)), Box((0, 0, 5), (8, 3, 10))])
def test_a_block_that_shares_a_chunk_is_refused(tmp_path, block):
    layout = layout_of(blocks=(1, 1, 2))
    create(tmp_path / "s", layout, WRITTEN)
    with pytest.raises(ValueError, match="whole chunks"):
        BlockStore(tmp_path / "s", layout.charts, (block,))


def test_balanced_cuts_fall_back_to_common_divisors(written):
    layout = layout_of(cells=(8, 6, 9), blocks=(1, 1, 4))  # ceil widths would leave nothing for the fourth
    assert [box.lo[2] for (box,) in layout.blocks] == [0, 2, 4, 6]
    assert layout.arrays["p"].shard[0] == 2
    assert dataset(written(layout)).w.notnull().all()


@pytest.mark.parametrize(("values", "message"), [
    ({}, "parts"),
    ({"u": (10, 6, 8), "v": (10, 7, 8), "w": (11, 6, 8), "p": (10, 6, 8)}, "u: an array of shape"),
])
def test_wrong_arrays_are_refused(tmp_path, values, message):
    create(tmp_path / "s", layout_of(), WRITTEN)
    block = block_store(tmp_path / "s", layout_of())
    with pytest.raises(ValueError, match=message):
        block.write(0, {part: partial(np.zeros, values[part.field]) for part in block.parts if part.field in values})


def test_overflow_to_single_precision_is_kept_as_infinity(tmp_path):
    layout = layout_of(fields=("p",))
    store = create(tmp_path / "s", layout, WRITTEN)
    block = block_store(tmp_path / "s", layout)
    block.write(0, dict.fromkeys(block.parts, lambda: np.full(layout.shape("p"), 1e300)))
    store.commit(0, 0.0)
    assert np.isinf(dataset(tmp_path / "s").p).all()


def test_a_reader_of_a_running_store_sees_complete_snapshots_only(tmp_path):
    layout = layout_of(blocks=(1, 1, 2), slots=4)
    path = tmp_path / "s"
    store = create(path, layout, WRITTEN)
    assert dataset(path).sizes["time"] == 0
    write_snapshot(path, layout, 0)
    write_snapshot(path, layout, 0, block=1)
    write_snapshot(path, layout, 1)
    assert dataset(path).sizes["time"] == 0
    store.commit(0, 0.25)
    assert dataset(path).time.values.tolist() == [0.25]
    with xr.open_zarr(path) as ds:
        np.testing.assert_array_equal(ds.time, [0.25, np.nan, np.nan, np.nan])
    store.finish()
    assert dataset(path).time.values.tolist() == [0.25]
    assert not [file for file in (path / "p" / "c" / "1").rglob("*") if file.is_file()]


def test_an_unknown_number_of_snapshots_doubles_the_room(tmp_path):
    layout = layout_of(slots=1)
    path = tmp_path / "s"
    store, block = create(path, layout, WRITTEN), block_store(path, layout, patience=0.0)
    block.write(0, values_of(block, 0))
    with pytest.raises(RunFailed, match="no room for snapshot 1"):
        block.write(1, values_of(block, 1))
    capacities = []
    for index in range(5):
        store.grow(index + 1)
        block.write(index, values_of(block, index))
        store.commit(index, float(index))
        capacities.append(store.capacity)
    assert capacities == [1, 2, 4, 4, 8]
    store.finish()
    assert dataset(path).p.notnull().all()


def test_a_reader_never_meets_a_half_grown_store(tmp_path):
    path = tmp_path / "s"
    store = create(path, layout_of(slots=1), WRITTEN)
    growth = threading.Thread(target=lambda: [store.grow(2**n) for n in range(7)] + [store.finish()])
    growth.start()
    while growth.is_alive():
        with xr.open_zarr(path, chunks=None) as ds:  # xarray refuses fields of unequal length
            assert np.isnan(ds.time).all()
    growth.join()


def test_a_finished_store_can_be_continued(written):
    layout = layout_of()
    path = written(layout)
    store = Store(path)
    assert store.times == [0.0, 0.5, 1.0]
    store.grow(4)
    write_snapshot(path, layout, 3)
    store.commit(3, 1.5)
    store.finish()
    np.testing.assert_array_equal(dataset(path).p[3], value("p", 3, Box.of(layout.cells)))


def test_nothing_written_is_an_empty_store(tmp_path):
    create(tmp_path / "s", layout_of(), WRITTEN).finish()
    with xr.open_zarr(tmp_path / "s") as ds:
        assert ds.sizes["time"] == 0


@pytest.mark.parametrize(("index", "time"), [(1, 1.0), (-1, 1.0), (0, np.nan), (0, np.inf)])
def test_commits_out_of_order_are_refused(tmp_path, index, time):
    with pytest.raises(ValueError, match="snapshot"):
        create(tmp_path / "s", layout_of(), WRITTEN).commit(index, time)


def test_times_must_increase_and_slots_exist(tmp_path):
    store = create(tmp_path / "s", layout_of(slots=1), WRITTEN)
    store.commit(0, 1.0)
    with pytest.raises(ValueError, match="at most 1"):
        store.commit(1, 2.0)
    store.grow(2)
    with pytest.raises(ValueError, match="at time 1"):
        store.commit(1, 1.0)


def test_an_existing_store_is_not_replaced(written):
    path = written(layout_of())
    with pytest.raises(zarr.errors.ContainsGroupError):
        create(path, layout_of(), WRITTEN)
    assert dataset(path).sizes["time"] == 3


def test_a_folder_without_a_store_is_bad_input(tmp_path):
    with pytest.raises(BadInput, match=re.escape(str(tmp_path))):
        dataset(tmp_path)


@pytest.mark.parametrize("sides", [[(1, 5), (5, 10)], [(0, 5), (4, 10)], [(0, 5), (5, 9)], [(0, 5), (5, 10), (5, 10)]])
def test_blocks_that_do_not_cut_the_grid_are_refused(sides):
    with pytest.raises(ValueError, match="each once"):
        replace(layout_of(), blocks=tuple((Box((0, 0, low), (8, 6, high)),) for low, high in sides))


FULL = """
import resource, signal, sys
import numpy as np
from taskflow.common.errors import RunFailed
from taskflow.output import BlockStore, Store, Writer
from taskflow.runtime.regions import Box

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
cells = (Box.of((32, 32, 32)),)
store = BlockStore(sys.argv[1], cells, cells)
noise = np.random.default_rng(0).random((32, 32, 32))
writer = Writer()
writer.submit(lambda: store.write(0, dict.fromkeys(store.parts, lambda: noise)))
writer.drain()
Store(sys.argv[1]).commit(0, 0.0)
resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))
writer.submit(lambda: store.write(1, dict.fromkeys(store.parts, lambda: noise)))
try:
    writer.drain()
except RunFailed as error:
    print(error)
writer.close()
"""


def test_a_disk_that_takes_no_more_ends_the_run_and_keeps_what_it_has(tmp_path):
    layout = layout_of(cells=(32, 32, 32), fields=("p",), precision="double")
    create(tmp_path / "s", layout, WRITTEN)
    command = [sys.executable, "-c", FULL, str(tmp_path / "s")]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    ended = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert ended.stdout == f"writing the output failed: snapshot 1 in {tmp_path / 's'}: File too large\n"
    assert ended.stderr == ""
    assert not list(tmp_path.rglob("*.partial"))
    assert dataset(tmp_path / "s").p.shape == (1, 32, 32, 32)
    assert dataset(tmp_path / "s").p.notnull().all()


def _run_block(path, layout, block, snapshots) -> None:
    store = block_store(path, layout, block)
    for index in range(snapshots):
        store.write(index, values_of(store, index))


def test_several_processes_write_one_store_while_it_grows(tmp_path):
    layout = layout_of(cells=(8, 6, 11), blocks=(1, 1, 4), slots=1)
    path = tmp_path / "s"
    store = create(path, layout, WRITTEN)
    with ProcessPoolExecutor(4, mp_context=multiprocessing.get_context("spawn")) as pool:
        jobs = [pool.submit(_run_block, path, layout, block, 6) for block in range(4)]
        for room in (2, 4, 6):  # the blocks wait for it
            store.grow(room)
        for job in jobs:
            job.result()
    for index in range(6):
        store.commit(index, float(index))
    store.finish()
    ds = dataset(path)
    for field in layout.fields:
        for index in range(6):
            np.testing.assert_array_equal(ds[field][index], value(field, index, whole(layout, field)))


@pytest.mark.parametrize("compression", ["lz4", "zstd", "none"])
def test_packed_values_are_the_same(written, compression):
    layout = layout_of(blocks=(1, 1, 2), compression=compression, precision="double")
    ds = dataset(written(layout))
    for field in layout.fields:
        np.testing.assert_array_equal(ds[field][1], value(field, 1, whole(layout, field)))


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("error", [0.3, 1e-2, 1e-5])
def test_rounded_values_keep_their_relative_error(tmp_path, precision, error):
    """Of all sizes and both signs; zeros, infinities and NaN stay what they are."""
    layout = layout_of(fields=("p",), precision=precision, relative_error=error, compression="zstd")
    numbers = np.random.default_rng(0).standard_normal(layout.shape("p")) * 10.0 ** np.linspace(-30, 30, 8)
    numbers[0, 0, :5] = 0.0, np.inf, -np.inf, np.nan, -0.0
    numbers = numbers.astype(layout.dtype)
    store = create(tmp_path / "s", layout, WRITTEN)
    block = block_store(tmp_path / "s", layout)
    block.write(0, dict.fromkeys(block.parts, lambda: numbers))
    store.commit(0, 0.0)
    result = dataset(tmp_path / "s").p
    bound = result.attrs["relative_error"]
    assert bound <= error
    np.testing.assert_array_equal(result[0, 0, 0, :5], numbers[0, 0, :5])
    finite = np.isfinite(numbers)
    exact, rounded = (values[finite].astype("f8") for values in (numbers, result[0].values))
    errors = np.abs(rounded - exact)
    assert (errors <= bound * np.abs(exact)).all()
    assert errors.max() > 0


def test_more_digits_than_there_are_need_no_rounding():
    assert layout_of(relative_error=1e-7).kept_bits is None
    assert layout_of(relative_error=1e-7, precision="double").kept_bits == 23
    assert layout_of().kept_bits is None


def test_growing_keeps_numbers_in_time_that_are_not_committed(tmp_path):
    """They may be written long before all blocks have agreed on that."""
    path, areas = tmp_path / "fields.zarr", [3.0, 2.0, 1.0]
    create(path, layout_of((1, 1, 1)), WRITTEN)
    create_time_series(path, TimeSeries.of_numbers("front", {"area": "area"}, {}), WRITTEN)
    store = Store(path, "front")
    store.grow(2)
    write_time_series(path, "front", 0, {"area": np.array(areas[:2])})
    store.grow(store.capacity + 1)
    write_time_series(path, "front", 2, {"area": np.array(areas[2:])})
    for index in range(3):
        store.commit(index, time=float(index))
    with dataset(path, "front") as ds:
        assert ds.area.values[:3].tolist() == areas


def test_without_the_library_of_numcodecs_the_same_values_are_packed(written, monkeypatch):
    """By numcodecs itself, slower."""
    layout = layout_of(blocks=(1, 1, 2))
    monkeypatch.setattr("taskflow.output.store.packing.blosc", SimpleNamespace(__file__=__file__))
    _compressor.cache_clear()
    try:
        path = written(layout, times=(0.0,))
        assert _compressor() is None
    finally:
        _compressor.cache_clear()
    for field in layout.fields:
        np.testing.assert_array_equal(dataset(path)[field][0], value(field, 0, whole(layout, field)))


def test_a_snapshot_without_room_is_not_waited_for_for_ever(written):
    """The process that makes room may have ended."""
    path = written(layout_of(cells=(4, 4, 4)), times=(0.0,))
    store = block_store(path, layout_of(cells=(4, 4, 4)), patience=0.1)
    values = values_of(store, 9)
    with pytest.raises(RunFailed, match=f"no room for snapshot 9 in {path} after 0.1 s"):
        store.write(9, values)
    assert dataset(path).sizes["time"] == 1


@pytest.mark.parametrize("moment", ["before the old one went", "between both names", "before the old one was removed"])
def test_a_store_whose_replacement_was_cut_off_is_whole(written, moment):
    """Shards for other blocks are written into a copy, which takes the name of the store in the end."""
    path = written(layout_of(), times=(0.0, 0.5))
    expected = dataset(path).load()
    draft, old = path.with_name(f".{path.name}.draft"), path.with_name(f".{path.name}.old")
    shutil.copytree(path, old if moment == "before the old one was removed" else draft)
    if moment == "between both names":
        path.rename(old)
    assert surviving(path) == (old if moment == "between both names" else path)
    assert dataset(surviving(path)).equals(expected)
    recover(path)
    assert [file.name for file in path.parent.iterdir() if file.name != path.name and path.name in file.name] == []
    assert dataset(path).equals(expected)


def test_a_stretched_grid_has_its_places(written):
    """Faces as given, centres in the middle between them."""
    faces = (0.0, 0.1, 0.3, 0.7, 1.5)
    layout = layout_of(cells=(4, 3, 2), edges=(faces, (), ()), lengths=(1.5, 1.0, 1.0), origin=(0.0, 0.0, 0.0))
    stored = dataset(written(layout, times=(0.0,)))
    np.testing.assert_array_equal(stored.x_f, faces)
    np.testing.assert_allclose(stored.x_c, [0.05, 0.2, 0.5, 1.1], rtol=1e-15)
    np.testing.assert_allclose(stored.dx, np.diff(faces), rtol=1e-15)
    with pytest.raises(ValueError, match="a store needs at least one slot, not 0"):
        layout_of(slots=0)
