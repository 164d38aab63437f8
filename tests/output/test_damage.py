"""What is read is as it was written, or an error names the file."""

import os
import pickle
from contextlib import suppress

import numpy as np
import pytest
import xarray as xr
import zarr
from numcodecs import Blosc

from taskflow.common.errors import BadInput
from taskflow.output import (
    TimeSeries,
    create_time_series,
    dataset,
    export_vtk,
    read_log,
    read_report,
    write_time_series,
)
from taskflow.output.disk.damage import MISSING, Damaged, check_file, checksum, file_size
from taskflow.output.disk.disk import replacing, sweep
from taskflow.output.store.groups import metadata
from taskflow.output.store.packing import Buffers, pack, take_buffer
from taskflow.output.store.store import Store
from taskflow.plots.charts import plot_series
from taskflow.plots.snapshots import plot_run
from tests.output.conftest import WRITTEN, described, layout_of


@pytest.fixture
def stored(written, monkeypatch):
    """A store with three snapshots of two blocks, in many chunks; and a probe."""
    monkeypatch.setattr("taskflow.output.store.layout.CHUNK_BYTES", 200)
    path = written(layout_of(blocks=(1, 1, 2)))
    create_time_series(path, TimeSeries.at_points("wake", np.zeros((2, 3)), described("u"), "double"), WRITTEN)
    write_time_series(path, "wake", 0, {"u": np.ones((3, 2))})
    store = Store(path, "wake")
    store.grow(3)
    write_time_series(path, "wake", 0, {"u": np.ones((3, 2))})
    for index in range(3):
        store.commit(index, float(index))
    return path


def flip(path, where):
    data = bytearray(path.read_bytes())
    data[int(where * (len(data) - 1))] ^= 4
    path.write_bytes(data)


def read(path):
    """Everything that can be read."""
    for group in ("", "wake"):
        with dataset(path, group) as ds:
            ds.load()


def test_all_of_it_is_read(stored):
    read(stored)
    assert dataset(stored, "wake").u.values.tolist() == [[1, 1]] * 3


FILES = ["u/c/1/1/0/0", "p/c/2/0/0/0", "time/c/0", "x_f/c/0", "grid/c", "wake/u/c/0/0", "wake/x/c/0"]
ABOUT = ["zarr.json", "v/zarr.json", "z_c/zarr.json", "wake/zarr.json", "wake/time/zarr.json"]


@pytest.mark.fast("wake/u/c/0/0", "p/c/2/0/0/0", "grid/c", "time/c/0")
@pytest.mark.parametrize("file", FILES)
def test_any_bit_of_a_chunk_counts(stored, file):
    path = stored / file
    sound = path.read_bytes()
    for where in (0.0, 0.2, 0.5, 0.9, 1.0):
        flip(path, where)
        with pytest.raises(BadInput, match=f"{path}: .*restore it from a copy"):
            read(stored)
        path.write_bytes(sound)
    for text in (b"", sound[:-1], sound + b"\0", bytes(len(sound)), b"[]"):
        path.write_bytes(text)
        with pytest.raises(BadInput, match=f"{path}: "):
            read(stored)
    path.unlink()
    with pytest.raises(BadInput, match=f"{path}: No such file"):
        read(stored)


@pytest.mark.parametrize("file", ABOUT)
def test_damaged_metadata_is_named(stored, file):
    path = stored / file
    sound = path.read_bytes()
    names = {b'"float', b'"attributes"', b'"node_type"', b'"shape"', b'"codecs"'}
    broken = [sound.replace(name, name[:-1] + b"%", 1) for name in names if name in sound]
    for text in (b"", sound[:-9], b"[]", b"{}", b'{"a": 1}', bytes(len(sound)), b"[" * 10**5, *broken):
        path.write_bytes(text)
        with pytest.raises(BadInput, match=f"{path}"):
            read(stored)


@pytest.mark.slow
def test_random_bits_of_metadata(stored):
    """An error that a user can act on, or a title that is another one."""
    chance = np.random.default_rng(0)
    for file in ABOUT:
        path = stored / file
        sound = path.read_bytes()
        for where in chance.random(25):
            flip(path, where)
            with suppress(BadInput):
                read(stored)
        path.write_bytes(sound)


def test_an_array_that_is_read_later_names_its_shard(stored):
    """A part of it, in another process, in pieces; what is whole can still be read."""
    path = stored / "u" / "c" / "1" / "1" / "0" / "0"
    ds = dataset(stored)
    flip(path, 0.1)
    for lazy in (ds.u, pickle.loads(pickle.dumps(ds)).u, ds.chunk({"time": 1}).u):
        assert np.isfinite(lazy[0].values).all()
        with pytest.raises(BadInput, match=str(path)):
            _ = lazy[1, -1].values


def test_pictures_and_files_name_the_shard(stored, tmp_path):
    path = stored / "w" / "c" / "2" / "0" / "0" / "0"
    path.write_bytes(bytes(path.stat().st_size))
    with pytest.raises(BadInput, match=str(path)):
        plot_run(stored.parent, out=tmp_path / "a.png")
    with pytest.raises(BadInput, match=str(path)):
        export_vtk(dataset(stored), tmp_path / "vtk", "fields")


def test_a_store_without_checksums_is_read_as_before(tmp_path):
    """As stores were: what is not there is not a number."""
    group = zarr.create_group(str(tmp_path / "fields.zarr"), zarr_format=3)
    for name, dims in {"u": ("time", "x_f"), "time": ("time",), "x_f": ("x_f",)}.items():
        array = group.create_array(
            name, shape=[3] * len(dims), chunks=[1] * len(dims), dtype="f8", fill_value=np.nan, dimension_names=dims
        )
        array[:2] = 1.0
    with pytest.warns(match="Consolidated metadata"):
        zarr.consolidate_metadata(group.store)
    ds = dataset(tmp_path / "fields.zarr")
    assert ds.sizes["time"] == 2
    np.testing.assert_array_equal(ds.u.values, [[1.0] * 3] * 2)
    np.testing.assert_array_equal(ds.x_f.values, [1.0, 1.0, np.nan])


def test_others_read_it_and_see_damage_too(stored):
    """The checksums are those of the format."""
    with xr.open_zarr(stored, chunks=None) as ds:
        ds.load()
    flip(stored / "u" / "c" / "0" / "0" / "0" / "0", 0.1)
    with xr.open_zarr(stored, chunks=None) as ds, pytest.raises(ValueError, match="checksum"):
        ds.u.load()


def test_only_the_index_is_read_where_that_is_asked_for(stored):
    path = stored / "u" / "c" / "0" / "0" / "0" / "0"
    array = zarr.open_group(str(stored), mode="r")["u"]
    chunks = int(np.prod(array.shards) // np.prod(array.chunks))
    assert chunks > 4
    flip(path, 0.1)
    check_file(path, chunks, contents=False)
    with pytest.raises(Damaged, match="checksum of a chunk"):
        check_file(path, chunks)
    flip(path, 1.0)
    with pytest.raises(Damaged, match="index"):
        check_file(path, chunks, contents=False)


@pytest.mark.parametrize("text", [
    b"\xff{]\n", b"[]\n", b'"a"\n', b"1\n", b'{"step": "x"}\n', b'{"step": 1, "time": []}\n', b"[" * 10**5 + b"\n",
    b"\0" * 50 + b"\n",
])  # fmt: skip
def test_a_log_and_a_report_that_are_none(tmp_path, text):
    path = tmp_path / "log.jsonl"
    path.write_bytes(b'{"step": 0, "time": 0.0}\n' + text)
    with pytest.raises(BadInput, match=str(path)) as told:
        read_log(path)
    with pytest.raises(BadInput, match=str(path)):
        plot_series(tmp_path)
    assert len(str(told.value)) < 400 + len(str(path))
    path.write_bytes(text)
    if b"step" not in text:
        with pytest.raises(BadInput, match=str(path)):
            read_report(path)


def test_a_log_without_numbers(tmp_path):
    for line in ('{"step": 1}', '{"step": 1, "time": 0.0, "dt": "x"}', '{"step": 1, "time": 0.0, "dt": {}}'):
        (tmp_path / "log.jsonl").write_text(line + "\n")
        with pytest.raises(BadInput, match=r"log\.jsonl"):
            plot_series(tmp_path)


def test_no_two_write_one_draft(tmp_path):
    path = tmp_path / "a"
    with replacing(path) as one, replacing(path) as other:
        one.write_text("one")
        other.write_text("other")
        assert len({one, other, path}) == 3
    assert [item.name for item in tmp_path.iterdir()] == ["a"]


def test_the_bytes_of_a_chunk_do_not_depend_on_the_room(monkeypatch):
    """Values that hardly pack, in memory that has room for more."""
    codec = Blosc("lz4", 5, Blosc.SHUFFLE)
    values = np.random.default_rng(0).standard_normal(72).astype("f4")
    result = [bytes(pack(codec, values, np.empty(size, np.uint8))) for size in (values.nbytes + 16, 10 * values.nbytes)]
    assert result[0] == result[1] == codec.encode(values)
    assert take_buffer(Buffers(), values.nbytes).size == values.nbytes + 16


CHUNKS = [chunk + checksum(chunk) for chunk in (b"first", b"second chunk")]
SIZES = [len(chunk) for chunk in CHUNKS]


@pytest.mark.parametrize(("places", "problem"), [
    ([(0, SIZES[0]), (SIZES[0], SIZES[1])], ""),
    ([(SIZES[0], SIZES[1]), (MISSING, MISSING), (0, SIZES[0])], ""),  # in any order, with a chunk that was not written
    ([(0, SIZES[0]), (SIZES[0] + 1, SIZES[1])], "bytes, and its index describes another number"),  # a gap
    ([(0, SIZES[0]), (SIZES[0] - 1, SIZES[1])], "bytes, and its index describes another number"),  # twice the same byte
    ([(0, SIZES[0]), (SIZES[0], SIZES[1] + 1)], "bytes, and its index describes another number"),  # into the index
    ([(0, SIZES[0]), (SIZES[0], 2**63)], "bytes, and its index describes another number"),
    ([(0, SIZES[0]), (MISSING, MISSING)], "bytes, and its index describes another number"),  # bytes of no chunk
    ([(0, sum(SIZES))], "the checksum of a chunk differs from the recorded one"),
])  # fmt: skip
def test_the_index_of_a_shard_places_each_byte_once(tmp_path, places, problem):
    """The checksum of the index is right in all of these."""
    index = np.array(places, "<u8").tobytes()
    path = tmp_path / "shard"
    path.write_bytes(b"".join(CHUNKS) + index + checksum(index))
    if problem:
        with pytest.raises(Damaged, match=f"{path}: .*{problem}"):
            check_file(path, len(places))
    else:
        check_file(path, len(places))


def test_a_pipe_or_a_folder_in_place_of_a_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path):
        with pytest.raises(Damaged, match=f"{path}: it is not a regular file"):
            file_size(path)
        with pytest.raises(Damaged, match=f"{path}: it is not a regular file"):
            check_file(path, 0)


def test_metadata_of_immense_length_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("taskflow.output.store.groups.MOST", 100)
    path = tmp_path / "zarr.json"
    path.write_text('{"a": 1}'.ljust(100))
    assert metadata(path) == {"a": 1}
    path.write_text('{"a": 1}'.ljust(101))
    with pytest.raises(Damaged, match=f"{path}: it is longer than any that a run writes"):
        metadata(path)


def test_drafts_of_killed_processes_are_removed(tmp_path):
    """At any depth, and nothing else."""
    (tmp_path / "store" / "u").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "store", tmp_path / "store" / "u"):
        (folder / "whole").write_text("")
        with replacing(folder / "cut") as draft:
            draft.write_text("half")
            draft.with_name(f"other{draft.name}").write_text("half")  # as if killed here
    sweep(tmp_path)
    left = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert left == sorted(f"{folder}{name}" for folder in ("", "store/", "store/u/") for name in ("cut", "whole"))
