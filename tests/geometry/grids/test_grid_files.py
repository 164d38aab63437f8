"""Grids as files: what is written is read back to the bit, whoever wrote it; and files that cannot be read."""

import struct
from itertools import groupby
from pathlib import Path

import h5py
import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.geometry.grids import Chart, read_grid, shape, write_grid
from taskflow.geometry.grids.files.plot3d import read_plot3d
from taskflow.geometry.grids.files.plot3d_writing import write_plot3d
from taskflow.geometry.grids.multiblock.assembly import Part, assembled
from taskflow.runtime.regions import ROTATIONS
from tests.geometry.grids.test_shapes import ROUND, SMALL

MORE = [
    ("box", {"cells": (9, 8, 10), "charts": (2, 2, 1), "distortion": 0.1, "turned": True, "periodic": ["x", "y"]}),
    ("box", {"cells": (8, 6, 1), "lengths": (0.1, 1 / 3, 1e-3), "periodic": ["z"]}),
    ("annulus", {"charts": 4, "cells": (8, 32, 5), "periodic": True}),
    ("pipe", {"periodic": True, "first": 0.01}),
    ("step", {"upstream": 0.0}),
    ("c-grid", {"section": "naca4412", "first": 0.01, "periodic": True}),
    ("duct-bend", ROUND),
    ("bifurcation", {"cells": (16, 9, 4), "periodic": True}),
]
CASES = [*((name, {}) for name in SMALL), *MORE]


def one_chart():
    """A distorted box of 4 x 5 x 6 cells: its vertices [xyz, k, j, i]."""
    return shape("box", {"cells": (4, 5, 6), "lengths": (1, 1, 1), "distortion": 0.1}).grid().charts[0].vertices


@pytest.mark.parametrize(("name", "keys", "form"), [
    pytest.param(name, keys, form, marks=pytest.mark.slow if form == "cgns" and (keys or name == "pipe") else ())
    for name, keys in CASES for form in ("binary", "text", "cgns")
])  # fmt: skip
def test_a_grid_is_read_back_as_it_was(tmp_path, name, keys, form):
    grid = shape(name, {**SMALL[name], **keys}).grid()
    path, another = (tmp_path / f"{stem}.{'cgns' if form == 'cgns' else 'xyz'}" for stem in ("grid", "again"))
    again = read_grid(path, write_grid(path, grid, text=form == "text"))
    assert (again.seams, again.sides) == (grid.seams, grid.sides)
    assert list(again.sides) == list(grid.sides)
    for chart, other in zip(grid.charts, again.charts, strict=True):
        assert chart.vertices.tobytes() == other.vertices.tobytes()
    write_grid(another, again, text=form == "text")
    if form != "cgns" or h5py.version.hdf5_version_tuple >= (2, 0, 0):  # earlier versions write the time
        assert another.read_bytes() == path.read_bytes()
    if form != "cgns":
        assert another.with_suffix(".nmf").read_bytes() == path.with_suffix(".nmf").read_bytes()


@pytest.mark.parametrize("turn", ROTATIONS)
def test_a_map_says_how_charts_are_turned(tmp_path, turn):
    first, second = (Part(c.vertices, {}) for c in shape("box", {**SMALL["box"], "charts": (2, 1, 1)}).grid().charts)
    grid = assembled([first, second.turned(turn)])
    again = read_grid(tmp_path / "grid.xyz", write_grid(tmp_path / "grid.xyz", grid))
    assert again.seams == grid.seams
    assert len(grid.seams) == 1


@pytest.mark.parametrize(
    ("name", "keys"), [case for case in CASES if "periodic" not in case[1] and case[0] != "wavy-channel"]
)
def test_without_a_map_the_same_seams_are_found(tmp_path, name, keys):
    grid = shape(name, {**SMALL[name], **keys}).grid()
    write_grid(tmp_path / "grid.xyz", grid)
    again = read_grid(tmp_path / "grid.xyz")
    assert again.seams == grid.seams
    patches = sorted(patch for patches in grid.sides.values() for patch in patches)
    assert sorted(patch for patches in again.sides.values() for patch in patches) == patches
    assert all(name == f"{p.side}_{p.chart + 1}" for name, patches in again.sides.items() for p in patches)


def packed(order, precision, marks, several, blocks):
    """A file as other programs write it."""
    dims = [list(reversed(block.shape[1:])) for block in blocks]
    head = [np.array([len(blocks)], f"{order}i4")] if several else []
    records = [*head, np.array(dims, f"{order}i4"), *(block.astype(f"{order}{precision}") for block in blocks)]
    mark = (lambda record: struct.pack(f"{order}i", record.nbytes)) if marks else lambda _: b""
    return b"".join(mark(record) + record.tobytes() + mark(record) for record in records)


@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize("marks", [True, False])
@pytest.mark.parametrize("precision", ["f8", "f4"])
@pytest.mark.parametrize("order", ["<", ">"])
def test_what_a_binary_file_is_is_found_out(tmp_path, order, precision, marks, several):
    blocks = [one_chart(), one_chart() + 2.0][: 2 if several else 1]
    (tmp_path / "grid.x").write_bytes(packed(order, precision, marks, several, blocks))
    charts = read_plot3d(tmp_path / "grid.x")
    for chart, block in zip(charts, blocks, strict=True):
        np.testing.assert_array_equal(chart.vertices, block.astype(precision))


@pytest.mark.parametrize("several", [True, False])
def test_text_of_other_programs(tmp_path, several):
    """Numbers in columns, with the exponents of Fortran."""
    block = one_chart()
    numbers = "\n".join(f"  {value:.17E}".replace("E", "D") for value in block.ravel())
    (tmp_path / "grid.x").write_text(f"{'1' if several else ''}\n 5 6 7\n{numbers}\n")
    (chart,) = read_plot3d(tmp_path / "grid.x")
    np.testing.assert_array_equal(chart.vertices, block)


def repeated(words):
    """The words with repeat counts, as list-directed output of Fortran writes them."""
    runs = [(word, len(list(same))) for word, same in groupby(words)]
    return " ".join(word if count == 1 else f"{count}*{word}" for word, count in runs)


def test_text_with_repeat_counts(tmp_path):
    box = shape("box", {"cells": (3, 3, 4), "lengths": (3, 3, 1)}).grid().charts[0].vertices
    words = f"1 4 4 5 {' '.join(f'{value:.17E}'.replace('E', 'D') for value in box.ravel())}".split()
    text = repeated(words)
    assert "2*4 5" in text
    assert "16*0.0" in text
    (tmp_path / "grid.x").write_text(text)
    (chart,) = read_plot3d(tmp_path / "grid.x")
    np.testing.assert_array_equal(chart.vertices, box)


def test_scale(tmp_path):
    grid = shape("pipe", SMALL["pipe"]).grid()
    beside = write_grid(tmp_path / "grid.xyz", grid)
    again = read_grid(tmp_path / "grid.xyz", beside, 0.5)
    np.testing.assert_array_equal(again.charts[3].vertices, grid.charts[3].vertices / 2)


GOOD = packed("<", "f8", True, True, [one_chart()])
BARE = packed("<", "f8", False, True, [one_chart()])
TEXT = "1\n2 2 2\n" + " ".join(["0"] * 24)
IBLANK = np.ones((7, 6, 5), "<i4").tobytes()
SWAPPED = BARE[:16] + one_chart().astype(">f8").tobytes()
FILES = [
    ("empty", b"", r"the file is empty; give a PLOT3D grid"),
    ("truncated", GOOD[:-100], r"truncated in record 3, which says that it has 5040 bytes, while 4948 bytes"),
    ("without marks, truncated", BARE[:-100], r"truncated, or trailing data: 1 blocks \(5 x 6 x 7 vertices\) take"),
    ("trailing", BARE + b"1234", r"trailing data: 1 blocks \(5 x 6 x 7 vertices\) take 5056 or 2536 bytes, and it has"),
    ("trailing, behind records", GOOD + b"12345", r"trailing data: 5 bytes are left after the last record; write the"),
    ("a record of another length", GOOD[:32] + struct.pack("<i", 16) + bytes(16) + struct.pack("<i", 16),
     r"block 1: 16 bytes for 5 x 6 x 7 vertices, not 2520 in single precision, 5040 in double; give"),
    ("a header of something else", struct.pack("<iiiiiii", 4, 7, 4, 8, 1, 2, 8), r"grid\.xyz: "),
    ("a record too many", GOOD + GOOD[-5048:], r"1 blocks by its header, and 2 records of vertices, more than that"),
    ("iblank", BARE + IBLANK, r"iblank \(blanked vertices\) is not available in this version; write the"),
    ("iblank in a record", struct.pack("<iiiiiiii", 4, 1, 4, 12, 5, 6, 7, 12) + struct.pack("<i", 5880)
     + one_chart().tobytes() + IBLANK + struct.pack("<i", 5880), r"iblank \(blanked vertices\) is not available"),
    ("iblank in a text", (TEXT + " 1" * 8).encode(), r"iblank \(blanked vertices\) is not available"),
    ("numbers of the other endianness", SWAPPED, r"block 1: its numbers have another endianness"),
    ("no numbers", b"\0\0solid cube\nfacet\n", r"does not begin with numbers of vertices, as text"),
    ("a word", TEXT.replace("0", "x", 1).encode(), r"line 3: 'x' is no number; write the grid as text of numbers"),
    ("a repeat count of nothing", TEXT.replace("0", "4*", 1).encode(), r"line 3: '4\*' is no number; write the grid"),
    ("a repeat count of 0", TEXT.replace("0", "0*1", 1).encode(), r"line 3: '0\*1' is no number; write the grid"),
    ("a repeat count of a word", TEXT.replace("0", "2*x", 1).encode(), r"line 3: '2\*x' is no number; write the grid"),
    ("a repeat count too large", b"1\n2 2 2\n999999999*0", r"its repeat counts make 1000000003 numbers, too many for"),
    ("text, truncated", TEXT[:-2].encode(), r"truncated: 1 blocks \(2 x 2 x 2 vertices\) take 28 numbers, and"),
    ("text, trailing", (TEXT + " 7").encode(), r"trailing data: .* take 28 numbers, and it has 29"),
    ("not finite", (TEXT + " nan").replace("0", "", 1).encode(), r"block 1: coordinates that are not finite, or"),
    ("two dimensions", b"1\n2 2\n 0 1 0 1 0 0 1 1", r"a grid in two dimensions, without z; give a grid one cell thick"),
    ("one plane", b"1\n2 2 1\n 0 1 0 1 0 0 1 1 0 0 0 0", r"a block has one vertex along a direction; give a"),
    ("damaged marks", GOOD[:12] + b"\x0c\0\0\0" + GOOD[16:28] + b"\x63\0\0\0" + GOOD[32:], r"truncated in record 2"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), [case[1:] for case in FILES], ids=[case[0] for case in FILES])
def test_file_that_cannot_be_read(tmp_path, content, message):
    path = tmp_path / "grid.xyz"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=message) as caught:
        read_grid(path)
    assert str(path) in str(caught.value)


def test_no_file(tmp_path):
    with pytest.raises(BadInput, match=r"none\.xyz: file not found; give a PLOT3D grid"):
        read_grid(tmp_path / "none.xyz")
    with pytest.raises(BadInput, match=r"none\.cgns: file not found; give a CGNS file of structured zones"):
        read_grid(tmp_path / "none.cgns")
    with pytest.raises(BadInput, match=r"cannot be read \(it is a device\)"):
        read_plot3d(Path("/dev/zero"))


def test_a_block_that_no_record_holds_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.setattr("taskflow.geometry.grids.files.plot3d_writing.RECORD", one_chart().nbytes - 1)
    small, large = shape("box", {"cells": (4, 4, 4), "lengths": (1, 1, 1)}).grid().charts[0], Chart(one_chart())
    with pytest.raises(BadInput, match=r"xyz: block 2 has more than the \d+ bytes of a record; cut it into several"):
        write_plot3d(tmp_path / "grid.xyz", [small, large])
    assert not (tmp_path / "grid.xyz").exists()
    write_plot3d(tmp_path / "grid.xyz", [small, large], text=True)  # which has no records
    np.testing.assert_array_equal(read_plot3d(tmp_path / "grid.xyz")[1].vertices, large.vertices)
