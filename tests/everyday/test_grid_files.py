"""Files of grids and tables as programs write them are read, or refused by their fault."""

import struct
from pathlib import Path

import h5py
import numpy as np
import pytest

from taskflow.common.errors import BadInput
from taskflow.common.hexahedra import cell_volumes
from taskflow.geometry.grids import read_grid
from tests.everyday.cases import LID
from tests.everyday.hdf5 import box, nodes, replaced


def units(parent, length):
    """Say the unit of length of a node of CGNS."""
    group = parent.create_group("DimensionalUnits")
    for key, value, size in (("name", "DimensionalUnits", 33), ("label", "DimensionalUnits_t", 33), ("type", "C1", 3)):
        group.attrs.create(key, np.bytes_(value.encode()), dtype=f"S{size}")
    group.attrs["flags"] = np.array([1], "i4")
    words = "".join(word.ljust(32) for word in ("Kilogram", length, "Second", "Kelvin", "Radian"))
    group.create_dataset(" data", data=np.frombuffer(words.encode(), "i1").reshape(5, 32))


@pytest.mark.parametrize("what", ["millimetres", "feet along x"])
def test_units_in_a_cgns_file_are_read_named_or_refused(command, what):
    path = box(command)
    with h5py.File(path, "r+") as file:
        if what == "millimetres":
            units(file["Base"], "Millimeter")
        else:
            units(file[next(name for name in nodes(file, b"DataArray_t") if name.endswith("CoordinateX"))], "Foot")
    status, told = command("grid", "info", path)
    assert status == 2 or any(word in told.lower() for word in ("millimet", "foot", "feet", "unit")), told


def test_a_zone_whose_size_is_no_number_is_refused_in_words_alone(process, command):
    path = box(command)
    with h5py.File(path, "r+") as file:
        zone = file[nodes(file, b"Zone_t")[0]]
        replaced(zone, data=np.full(zone[" data"].shape, np.nan))
    status, told = process("grid", "check", path)
    assert status == 2
    assert "Warning" not in told


def test_a_mesh_of_gmsh_is_known(command):
    """The message names a format that is read."""
    Path("mesh.msh").write_text("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n")
    status, told = command("grid", "info", "mesh.msh")
    assert status == 2
    assert "Gmsh" in told
    assert "CGNS" in told


# ------------------------------------------------------------------------------------------------------- PLOT3D

AXES = np.linspace(0, 4, 5), np.linspace(0, 1, 6), np.linspace(0, 2, 7)
BLOCK = np.stack(np.meshgrid(*AXES, indexing="ij"))
NEXT = BLOCK + np.array([4.0, 0, 0])[:, None, None, None]


def read(path="grid.xyz"):
    """The volumes of its charts, the number of its seams."""
    grid = read_grid(Path(path))
    return [round(float(cell_volumes(chart.vertices).sum()), 5) for chart in grid.charts], len(grid.seams)


def flat(values):
    return values.transpose(2, 1, 0).ravel()


def binary(*blocks, order="<", kind="f8", marks=True, several=True, iblank=False):
    def framed(data):
        mark = struct.pack(f"{order}i", len(data)) if marks else b""
        return mark + data + mark

    content = framed(np.array([len(blocks)], f"{order}i4").tobytes()) if several else b""
    content += framed(np.array([block.shape[1:] for block in blocks], f"{order}i4").tobytes())
    for block in blocks:
        values = b"".join(flat(component).astype(order + kind).tobytes() for component in block)
        content += framed(values + (np.ones(block[0].size, f"{order}i4").tobytes() if iblank else b""))
    Path("grid.xyz").write_bytes(content)


def text(block, pattern="%.16g", end="\n", change=lambda content: content):
    words = [pattern % value for component in block for value in flat(component)]
    lines = [" ".join(words[n : n + 4]) for n in range(0, len(words), 4)]
    content = change("1\n5 6 7\n" + "\n".join(lines) + "\n").replace("\n", end)
    Path("grid.xyz").write_text(content, newline="")


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("marks", [True, False])
@pytest.mark.parametrize("several", [True, False])
def test_binary_plot3d(here, order, kind, marks, several):
    binary(BLOCK, order=order, kind=kind, marks=marks, several=several)
    assert read() == ([8.0], 0)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_two_blocks_of_plot3d_have_a_seam_in_any_units(here, unit):
    binary(BLOCK * unit, NEXT * unit)
    volumes, seams = read()
    assert seams == 1
    assert unit != 1.0 or volumes == [8.0, 8.0]


def repeated(content):
    """Four zeros as Fortran's list-directed output writes them."""
    zeros = " 0 0 0 0\n" in content
    return content.replace(" 0 0 0 0\n", "\n4*0\n", 1) if zeros else content.replace("0 0 0 0\n", "4*0\n", 1)


@pytest.mark.parametrize("options", [
    pytest.param({}, id="plain"), pytest.param({"end": "\r\n"}, id="carriage returns"),
    pytest.param({"pattern": "%.9E", "change": lambda content: content.replace("E", "D")}, id="exponents of D"),
    pytest.param({"change": repeated}, id="repeat counts"),
])  # fmt: skip
def test_plot3d_as_text(here, options):
    text(BLOCK, **options)
    assert read() == ([8.0], 0)


@pytest.mark.parametrize(("block", "iblank", "word"), [(BLOCK, True, "iblank"), (BLOCK[:, ::-1], False, "left-handed")])
def test_plot3d_that_is_not_read_is_refused_by_its_name(here, block, iblank, word):
    binary(block, iblank=iblank)
    with pytest.raises(BadInput, match=word):
        read()


def test_a_plane_of_plot3d_is_refused(here):
    Path("grid.xyz").write_text("1\n5 6 1\n" + " ".join(map(str, range(90))))
    with pytest.raises(BadInput, match="one vertex"):
        read()


# ------------------------------------------------------------------------------------------------------- tables

READ = {
    "plain": b"0,0\n1,1\n", "mark and carriage returns": b"\xef\xbb\xbf0,0\r\n1,1\r\n",
    "header": b"time,speed\n0,0\n1,1\n\n", "blanks": b" 0 , 0\n1 ,1 \n", "exponents": b"0,0\n1E0,1.0e+00\n",
}  # fmt: skip
REFUSED = {
    "semicolons": b"0;0\n1;1\n", "decimal commas": b"0,0;0,0\n1,0;1,0\n", "three columns": b"0,0,0\n1,1,1\n",
    "not a number": b"0,0\n1,nan\n", "times that repeat": b"0,0\n0.5,1\n0.5,2\n1,3\n", "too short": b"0,0\n0.1,1\n",
    "empty": b"", "first line damaged": b"0,O\n0.05,0\n1,1\n",
}  # fmt: skip


@pytest.mark.parametrize("what", [*READ, *REFUSED])
def test_tables_as_spreadsheets_write_them(here, command, what):
    folder = here / "a b é #1"
    folder.mkdir()
    (folder / "case.toml").write_text(LID.format(lid='"vel.csv"', end=0.2, more=""))
    (folder / "vel.csv").write_bytes({**READ, **REFUSED}[what])
    status, told = command("check", folder / "case.toml")
    assert status == (0 if what in READ else 2), told
