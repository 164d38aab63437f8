"""Files that a case names: no pipe, device or folder is read, none that is too large, and damage is bad input."""

import contextlib
import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
import scipy.io

from taskflow.analysis.profiles import read_reference
from taskflow.cases.formulas.profile_table import ProfileTable
from taskflow.cases.source import read
from taskflow.cases.tables.grid import Spacing
from taskflow.common.errors import BadInput
from taskflow.geometry.solids.heights import read_heights
from taskflow.geometry.solids.surface import read_surface

READERS = {
    "faces": lambda path: Spacing(faces=str(path)),
    "table": ProfileTable.load,
    "reference": read_reference,
    "case": read,
    "npy": lambda path: read_heights(path, (0, 1, 0, 1), None, False),
    "nc": lambda path: read_heights(path, (0, 1, 0, 1), None, False),
    "tif": lambda path: read_heights(path, (0, 1, 0, 1), None, False),
    "stl": lambda path: read_surface(path, 1.0, (0, 0, 0)),
    "obj": lambda path: read_surface(path, 1.0, (0, 0, 0)),
}
TEXTS = ("faces", "table", "reference", "case")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


@pytest.mark.parametrize("kind", READERS)
@pytest.mark.parametrize("special", [pipe, device, folder, dangling])
def test_what_is_no_regular_file_is_bad_input_at_once(tmp_path, kind, special):
    path = tmp_path / f"it.{kind}"
    special(path)
    with pytest.raises(BadInput, match=r"a pipe|a device|not found|there is no file|[Dd]irectory|no file"):
        READERS[kind](path)


def npy(shape: str, data: bytes = b"", descr: str = "'<f8'") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


@pytest.mark.parametrize("content", [
    b"", b"\x93NUMPY", b"PK\x03\x04", npy("(1000000, 1000000)"), npy("(10, 10)", b"\0" * 8), npy("(-1, 5)"),
    npy("(2, 2)", descr="'|O'"), npy("(2, 2)", b"\0" * 64, descr="[('a', '<f8')]"), npy("((2,), 2)"), npy("(2"),
    npy(str((10**30, 1))), npy("()", b"\0" * 8), npy("(0, 4)"), npy("(2, 2)", b"\0" * 32, descr="'<c8'"),
])  # fmt: skip
def test_a_damaged_array_is_bad_input(tmp_path, content):
    path = tmp_path / "z.npy"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"z\.npy"):
        READERS["npy"](path)


def test_an_archive_that_is_called_an_array_is_bad_input(tmp_path):
    path = tmp_path / "z.npy"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("heights.npy", npy("(10000, 10000)", b"\0" * 10**6))
    with pytest.raises(BadInput, match=r"z\.npy: cannot be read .*numpy\.save"):
        READERS["npy"](path)


def test_damaged_netcdf_is_bad_input(tmp_path):
    sound = tmp_path / "sound.nc"
    with scipy.io.netcdf_file(sound, "w") as file:
        for name in "yx":
            file.createDimension(name, 4)
            file.createVariable(name, "d", (name,))[:] = np.arange(4.0)
        file.createVariable("h", "d", ("y", "x"))[:] = 0.0
    assert READERS["nc"](sound).heights.shape == (4, 4)
    content, path = sound.read_bytes(), tmp_path / "it.nc"
    for at in range(0, len(content), 7):
        for damaged in (content[:at], content[:at] + b"\xff\xff\xff\x7f" + content[at + 4 :]):
            path.write_bytes(damaged)
            with contextlib.suppress(BadInput):  # and nothing else
                READERS["nc"](path)


@pytest.mark.parametrize("content", [
    b"", b"solid", b"\0" * 80 + struct.pack("<I", 2**32 - 1), b"\0" * 84,
    b"\0" * 80 + struct.pack("<I", 1) + b"\xff" * 50,
    b"solid x\nfacet normal a b c\nouter loop\nvertex 1\nendloop\nendfacet\nendsolid",
    np.random.default_rng(3).bytes(500),
])  # fmt: skip
def test_a_damaged_surface_is_bad_input(tmp_path, content):
    path = tmp_path / "it.stl"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"it\.stl"):
        READERS["stl"](path)


def test_a_surface_opens_no_other_file(tmp_path):
    os.mkfifo(tmp_path / "materials.mtl")
    (tmp_path / "it.obj").write_text("mtllib materials.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl a\nf 1 2 3\n")
    with pytest.raises(BadInput, match="not closed"):
        READERS["obj"](tmp_path / "it.obj")
