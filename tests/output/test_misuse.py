"""What no run writes is refused with the reason: manifests, types of values, stores without charts."""

import json
import math

import numpy as np
import pytest
import xarray as xr
import zarr
from numcodecs import Blosc

from taskflow.common.errors import BadInput
from taskflow.output import Checkpoints, Damaged, create
from taskflow.output.checkpoint.checkpoint import FORMAT, MANIFEST, manifest, sealed
from taskflow.output.log import Tail
from taskflow.output.store import packing
from taskflow.output.store.chart_store import PATCHES
from taskflow.output.store.groups import array_of
from taskflow.output.store.reading import patches, tree
from taskflow.runtime.regions import Box
from tests.output.conftest import WRITTEN, layout_of

PIECE = {"role": "u", "lo": [0, 0, 0], "hi": [2, 1, 1], "dtype": "<f8", "offset": 0}
FILE = {"name": "block-00000.bin", "bytes": 16, "crc32c": "00000000", "pieces": [PIECE]}
BODY = {"format": FORMAT, "step": 5, "state": {}, "files": [FILE]}


def changed(**piece):
    return {"files": [{**FILE, "pieces": [{**PIECE, **piece}]}]}


@pytest.mark.parametrize(("change", "problem"), [
    ({"step": 6}, "its step"), ({"state": []}, "its state"), ({"files": []}, "its list of files"),
    ({"files": [FILE, 3]}, "its list of files"), ({"files": [FILE, FILE]}, "the name of a file"),
    ({"files": [{**FILE, "name": "../x"}]}, "the name of a file"),
    ({"files": [{**FILE, "crc32c": "0"}]}, "block-00000.bin: its size or checksum"),
    ({"files": [{**FILE, "pieces": 3}]}, "its pieces"), (changed(lo=[0, 0]), "a box"),
    (changed(hi=[0, 1, 1]), "a box, a role or a type"), (changed(dtype="|O8"), "a box, a role or a type"),
    (changed(offset=8), "a place"), (changed(values=0), "a number of values"), (changed(hi=[3, 1, 1]), "its size"),
    ({"format": 1}, "format 1, which this version cannot read"),
])  # fmt: skip
def test_a_manifest_that_no_run_writes(tmp_path, change, problem):
    folder = tmp_path / "step-000000005"
    folder.mkdir()
    (folder / MANIFEST).write_bytes(sealed(BODY))
    assert manifest(folder) == BODY
    (folder / MANIFEST).write_bytes(sealed({**BODY, **change}))
    with pytest.raises(Damaged, match=problem):
        manifest(folder)


def test_a_checkpoint_has_real_numbers_alone(tmp_path):
    values = [("u", Box.of((2, 1, 1)), np.zeros((1, 1, 2), np.int64))]
    with pytest.raises(ValueError, match="u: values of type int64 in a checkpoint"):
        Checkpoints(tmp_path, "token").write(1, 0, values, {})


def test_values_that_do_not_pack(monkeypatch):
    values, codec = np.zeros(8), Blosc("lz4")
    monkeypatch.setattr(packing, "_compressor", lambda: None)
    assert np.frombuffer(codec.decode(packing.pack(codec, values, np.empty(99, np.uint8)))).tolist() == [0.0] * 8
    monkeypatch.setattr(packing, "_compressor", lambda: lambda *arguments: -1)
    with pytest.raises(RuntimeError, match="could not pack 64 bytes: error -1"):
        packing.pack(codec, values, np.empty(99, np.uint8))


def test_a_group_is_no_array(tmp_path):
    root = zarr.open_group(tmp_path, mode="w")
    root.create_group("time")
    with pytest.raises(TypeError, match="time is not an array"):
        array_of(root, "time")


def test_a_store_of_a_box_is_no_tree(tmp_path):
    create(tmp_path / "store", layout_of(), WRITTEN)
    with pytest.raises(BadInput, match="it has no charts"):
        tree(tmp_path / "store")


def test_sides_that_are_damaged():
    records = xr.DataTree.from_dict({"charts/0": xr.Dataset(attrs={PATCHES: "{"})})
    with pytest.raises(Damaged, match="charts/0: its sides are not as they were written"):
        patches(records)


def test_a_log_that_starts_over_is_read_again(tmp_path):
    path = tmp_path / "log.jsonl"
    line = "".join(json.dumps({"step": step, "cfl": None}) + "\n" for step in (0, 10))
    path.write_text(line)
    tail = Tail(path)
    assert [record["step"] for record in tail.look()] == [0, 10]
    assert math.isnan(tail.look()[1]["cfl"])
    path.write_text(line + json.dumps({"step": 5}) + "\n")
    assert [record["step"] for record in tail.look()] == [0, 10, 5]
