"""A file of n bytes takes at most 100 n + 1 GB of memory, whatever it claims; a bad one is exit code 2."""

import bz2
import json
import os
import struct
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path

import h5py
import numpy as np
import pytest

from tests.everyday.cases import SLAB

# Each takes more than a second, and others of its kind are quick.
LONG = ("unpacks.zarr", "rows.csv", "lists.toml", "fan.obj", "mixed.obj", "tables.toml")
FILES = {}  # by name: what writes it, and the case that reads it, where it is no grid


def file(name, case=""):
    """Register what writes a damaged file."""

    def registered(write):
        FILES[name] = write, case
        return write

    return registered


def heights(name):
    return f'[[obstacles]]\ntype = "heights"\nfile = "{name}"\n'


def source(name):
    return f'[initial]\nsource = "{name}"\n'


def surface(name):
    return f'[[obstacles]]\ntype = "surface"\nfile = "{name}"\n'


# -------------------------------------------------------------------------------------------------------- grids
TEXTS = {
    "long_word.xyz": b"\n".join([b"40 40 2", *[b"0.5"] * (40 * 40 * 6 - 1), b"0." + b"5" * 100_000]),
    "short_words.xyz": b"1\n300 300 2\n" + b"10 " * 1_000_000,
    "claims.xyz": b"1\n16000000 16000000 16000000\n1 2 3\n",
    "empty_lines.xyz": b"1\n" + b"\n" * 1_000_000,
    "binary.xyz": struct.pack("<4i", 1, 2**23, 2**23, 2**23) + b"\0" * 1000,
    "records.xyz": struct.pack("<3i", 4, 1, 4) + b"\0" * 800_000,
}
MAPS = {
    "one_each.nmf": b"1\n" * 700_000,
    "words.nmf": b"1\n1 3 3 3\n" + b"1 2\n" * 500_000,
    "bad_sides.nmf": b"1\n1 3 3 3\n" + b"wall 1 9 1 3 1 3\n" * 100_000,
    "names.nmf": b"1\n1 3 3 3\n" + b"".join(b"w 1 1 1 3 1 3 ! side a%d\n" % n for n in range(30_000)),
    "digits.nmf": b"9" * 100_000 + b"\n",
}
OBJ = b"v 0 0 0\nv 1 0 0\nv 0 1 0\n"
SURFACES = {
    "fan.obj": OBJ + b"f " + b"1 2 3 " * 100_000 + b"\n",
    "objects.obj": OBJ + b"o a\nf 1 2 3\n" * 30_000,
    "materials.obj": OBJ + b"".join(b"usemtl %d\nf 1 2 3\n" % n for n in range(20_000)),
    "mixed.obj": OBJ + b"f 1 2 3 1\nf 1 2 3 1 2\n" * 30_000,
    "count.stl": b"x" * 80 + struct.pack("<I", 2**31 - 1) + b"\0" * 500,
    "solids.stl": b"solid\nendsolid\n" * 50_000,
}
NPY = b"\x93NUMPY\x01\x00"
ARRAYS = {
    "claims.npy": ("{'descr': '<f8', 'fortran_order': False, 'shape': (1048576, 1048576)}", 1000),
    "void.npy": ("{'descr': '|V0', 'fortran_order': False, 'shape': (1099511627776, 2)}", 0),
    "small.npy": ("{'descr': '|i1', 'fortran_order': False, 'shape': (2000, 1000)}", 2_000_000),
}
CASES = {
    "dots.toml": b"a" + b".a" * 400_000 + b" = 1\n",
    "tables.toml": b"".join(b"[t%d]\n" % n for n in range(5_000)),
    "lists.toml": b"a = [" + b"[]," * 300_000 + b"]\n",
}
TABLES = {"commas.csv": b"1," * 2_000_000, "rows.csv": b"0,1\n" * 1_000_000, "quotes.csv": b'"' * 1_000_000}
for name, content in {**TEXTS, **MAPS, **CASES}.items():
    file(name)(lambda path, content=content: path.write_bytes(content))
for name, content in SURFACES.items():
    file(name, surface(name))(lambda path, content=content: path.write_bytes(content))
for name, content in TABLES.items():
    inflow = f'x_min = {{ type = "inflow", table = "{name}" }}\nx_max = "outflow"'
    file(name, SLAB.replace('x = "periodic"', inflow))(lambda path, content=content: path.write_bytes(content))
for name, (header, size) in ARRAYS.items():
    about = NPY + struct.pack("<H", len(header) + 1) + header.encode() + b"\n" + b"\0" * size
    extent = "extent = [0.0, 1.0, 0.0, 1.0]\n"
    file(name, heights(name) + extent)(lambda path, content=about: path.write_bytes(content))


@file("packed.cgns")
def cgns(path):
    """A zone whose coordinates are 0, packed a thousand times."""
    from taskflow.geometry.grids.files.cgns import nodes

    with h5py.File(path, "w", track_order=True) as root:
        nodes.root(root)
        nodes.add_node(root, "CGNSLibraryVersion", "CGNSLibraryVersion_t", np.array([4.0], "f4"))
        base = nodes.add_node(root, "Base", "CGNSBase_t", np.array([3, 3], "i4"))
        zone = nodes.add_node(base, "zone", "Zone_t", np.array([[901] * 3, [900] * 3, [0] * 3], "i4"))
        nodes.add_node(zone, "ZoneType", "ZoneType_t", "Structured")
        grid = nodes.add_node(zone, "GridCoordinates", "GridCoordinates_t")
        for name in "XYZ":
            node = nodes.add_node(grid, f"Coordinate{name}", "DataArray_t")
            node.attrs.modify("type", np.array(b"R8", "S3"))
            node.create_dataset(" data", shape=(901,) * 3, dtype="f8", chunks=(64,) * 3, compression="gzip")


# ------------------------------------------------------------------------------------------ NetCDF and GeoTIFF
def netcdf(path, shape, chunks, long=None):
    with h5py.File(path, "w") as root:
        scales = [root.create_dataset(name, data=np.arange(float(n))) for name, n in zip("yx", shape, strict=True)]
        if long:
            del root["y"]
            scales[0] = root.create_dataset("y", shape=(long,), dtype="f8", chunks=(2**17,), compression="gzip")
        shape = (long or shape[0], shape[1])
        values = root.create_dataset("h", shape=shape, maxshape=(None, None), dtype="f4", chunks=chunks,
                                     compression="gzip")  # fmt: skip
        for number, scale in enumerate(scales):
            scale.make_scale("yx"[number])
            values.dims[number].attach_scale(scale)
        return root


@file("large.nc", heights("large.nc"))
def large(path):
    netcdf(path, (2**14, 2**13), (64, 64))


@file("chunk.nc", heights("chunk.nc"))
def chunk(path):
    netcdf(path, (8, 8), (2**14, 2**15))


@file("long.nc", source("long.nc"))
def long(path):
    netcdf(path, (8, 1), (2**17, 1), long=2**31)


@file("unpacks.nc", heights("unpacks.nc"))
def unpacks(path):
    """A chunk that claims 16 kB and unpacks to 3 GB."""
    netcdf(path, (64, 64), (64, 64))
    packer = zlib.compressobj(9, wbits=-15)
    piece = packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH)
    packed = b"\x78\x9c" + piece * 192 + b"\3\0" + bytes(4)
    with h5py.File(path, "r+") as root:
        root["h"].id.write_direct_chunk((0, 0), packed)


@file("classic.nc", heights("classic.nc"))
def classic(path):
    from scipy.io import netcdf_file

    with netcdf_file(path, "w") as data:
        for name in "yx":
            data.createDimension(name, 4)
            data.createVariable(name, "d", (name,))[:] = np.arange(4.0)
        data.createVariable("h", "d", ("y", "x"))[:] = 0
    content = bytearray(path.read_bytes())
    at = content.find(b"\0\0\0\1y\0\0\0") + 8
    content[at : at + 4] = struct.pack(">i", 2**30)
    path.write_bytes(content)


def geotiff(path, size, **options):
    rasterio = pytest.importorskip("rasterio")
    options = {"dtype": "float32", "compress": "deflate", "SPARSE_OK": "TRUE", "count": 1, **options}
    transform = rasterio.Affine(0.01, 0, 0, 0, -0.01, 1)
    rasterio.open(path, "w", driver="GTiff", height=size, width=size, transform=transform, **options).close()


@file("sparse.tif", heights("sparse.tif"))
def sparse(path):
    geotiff(path, 30_000, tiled=True)


@file("tile.tif", heights("tile.tif"))
def tile(path):
    geotiff(path, 16, tiled=True, blockxsize=2**14, blockysize=2**14)


# ------------------------------------------------------------------------------------------------------- Zarr
def store(path, **about):
    for name in "xyzuvw":
        shape, values = ([8], (np.arange(8) + 0.5) / 8) if name in "xyz" else ([8] * 3, np.zeros(512))
        array = {"zarr_format": 2, "shape": shape, "chunks": shape, "dtype": "<f8", "compressor": None,
                 "fill_value": 0.0, "order": "C", "filters": None, **(about if name == "x" else {})}  # fmt: skip
        (path / name).mkdir(parents=True)
        (path / name / ".zarray").write_text(json.dumps(array))
        dims = [name] if name in "xyz" else ["z", "y", "x"]
        (path / name / ".zattrs").write_text(json.dumps({"_ARRAY_DIMENSIONS": dims}))
        (path / name / ".".join("0" * len(shape))).write_bytes(values.tobytes())
    (path / ".zgroup").write_text('{"zarr_format": 2}')


@file("long.zarr", source("long.zarr"))
def long_store(path):
    store(path, shape=[2**33], chunks=[2**20])


@file("chunk.zarr", source("chunk.zarr"))
def chunk_store(path):
    store(path, chunks=[2**33])


@file("wide.zarr", source("wide.zarr"))
def wide_store(path):
    store(path, dtype="|S2000000000", fill_value="")


@file("unpacks.zarr", source("unpacks.zarr"))
def unpacking_store(path):
    store(path, compressor={"id": "bz2", "level": 9})
    (path / "x" / "0").write_bytes(bz2.compress(bytes(1 << 26)) * 32)


# ------------------------------------------------------------------------------------------------------------
def words(folder, name):
    """The command that reads a file."""
    path, case = folder / name, FILES[name][1]
    if path.suffix in (".xyz", ".cgns"):
        return ["grid", "check", str(path)]
    if path.suffix == ".nmf":
        return ["grid", "check", str(folder / "good"), "--map", str(path)]
    if path.suffix != ".toml":
        path = folder / f"{name}.toml"
        path.write_text(case if "[grid]" in case else SLAB + case)
    return ["check", str(path)]


def outcomes_of(folder, names):
    """Exit code, memory, messages and size of the check of each of these files."""
    new = ["grid", "new", "box", "--set", "grid.cells=[2,2,2]", "--set", "grid.lengths=[1,1,1]", "-o"]
    lines = [json.dumps([*new, str(folder / "good")])]
    for name in names:
        FILES[name][0](folder / name)
        lines.append(json.dumps(words(folder, name)))
    environment = {**os.environ, "COLUMNS": "200", "PYTHONWARNINGS": "ignore"}
    command, text = [sys.executable, Path(__file__).with_name("memory.py")], "\n".join(lines) + "\n"
    kept = {"capture_output": True, "text": True, "check": True}
    done = subprocess.run(command, input=text, env=environment, cwd=folder, **kept)
    results = [json.loads(line) for line in done.stdout.splitlines()][1:]
    sizes = [sum(f.stat().st_size for f in (folder / name, *(folder / name).rglob("*")) if f.is_file())
             for name in names]  # fmt: skip
    return {name: (*result, size) for name, result, size in zip(names, results, sizes, strict=True)}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """The outcome of the check of a file; one process checks all that are quick, and another the others."""
    quick = [name for name in FILES if name not in LONG]
    outcomes = cache(lambda names: outcomes_of(tmp_path_factory.mktemp("damaged"), names))
    return lambda name: outcomes(LONG if name in LONG else tuple(quick))[name]


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in FILES])
def test_memory_is_in_proportion_to_the_file(outcome, name):
    code, memory, said, size = outcome(name)
    assert code == 2, said
    assert memory <= 100 * size + 10**9, f"{memory} bytes of memory for {size} of a file: {said}"
    assert "Traceback" not in said
    assert "Warning" not in said
