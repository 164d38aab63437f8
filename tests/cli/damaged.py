"""Files that a case may name: sound, damaged, endless, special, or smaller than they say."""

from __future__ import annotations

import io
import os
import random
import zipfile
from functools import cache
from pathlib import Path

import numpy as np

NAMES = {
    "faces": ("f.txt",),
    "table": ("t.csv",),
    "surface": ("s.stl", "s.obj"),
    "heights": ("h.npy", "h.npz", "h.nc", "h.tif"),
}


def header(shape: tuple[int, ...], kind: str = "<f8") -> bytes:
    """The beginning of a .npy file."""
    words = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + (len(words) + 1).to_bytes(2, "little") + words + b"\n"


@cache
def _bomb() -> bytes:
    """A small archive of a large array."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("a.npy", header((1000, 1000)) + bytes(8_000_000))
    return packed.getvalue()


def _sound(chance: random.Random) -> bytes:
    array = io.BytesIO()
    np.save(array, np.array([[chance.random() for _ in range(4)] for _ in range(3)]))
    corners = b"".join(np.float32(chance.random()).tobytes() for _ in range(12)) + b"\0\0"
    x, y = (b"\0\0\0\1" + name + b"\0\0\0\x7f\xff\xff\xff" for name in (b"x", b"y"))
    cdf = b"CDF\x01" + bytes(4) + b"\0\0\0\x0a\0\0\0\2" + x + y
    variable = b"\0\0\0\1h\0\0\0\0\0\0\2\0\0\0\1\0\0\0\0" + bytes(8) + b"\0\0\0\6\x7f\xff\xff\xf0\0\0\0\x80"
    return chance.choice([
        array.getvalue(), _bomb(), header((10**6, 10**6)), header((10**12,)), header((4, 4),
        "|O") + b"\x80\x04.",
        header((2, 2), "<c16") + bytes(64), header((-1, 2)), header((1, 1), "<f8") + np.float64("nan").tobytes(),
        bytes(80) + b"\1\0\0\0" + corners, bytes(80) + b"\xff\xff\xff\xff",
        b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 1",
        b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nmtllib pipe\nusemtl a\n", b"f 1 2 99999999\n",
        b"v 1e308 1e308 1e308\n" * 3 + b"f 1 2 3",
        cdf + bytes(8) + b"\0\0\0\x0b\0\0\0\1" + variable, cdf, b"\x89HDF\r\n\x1a\n" + bytes(200),
        b"II*\0\x08\0\0\0\xff\xff" + bytes(50),
        b"z,u\n0,1\n1,1\n", b"y,z,u,T\n0,0,1,1\n", b"z,u\n0," + b"1" * 6000 + b"\n1,2\n", b"z,u\n0,1\n0.5\n1,x\n",
        b'z,u\n"0,1\n',
        b"0 0.25 0.5 1\n", b"0,0.1,nan", b"0 1e400 x", b",".join(b"%d" % n for n in range(5000)), b"\0" * 100, b"",
        b"\xff\xfe\n",
    ])  # fmt: skip


def place(folder: Path, chance: random.Random) -> None:
    """Puts a file of each name into a folder, each sound, damaged or special."""
    for name in (name for names in NAMES.values() for name in names):
        path = folder / name
        kind = chance.random()
        if kind < 0.04:
            os.mkfifo(path)
        elif kind < 0.08:
            path.symlink_to(chance.choice(["/dev/zero", "/dev/null", "nowhere", ".", name, "/proc/self/mem",
            "/dev/stdin"]))
        elif kind < 0.12:
            path.mkdir()
        elif kind < 0.16:
            with path.open("wb") as file:
                file.write(_sound(chance))
                file.truncate(chance.choice([10**7, 10**9, 10**12]))  # holes: it takes no place
        else:
            content = bytearray(_sound(chance))
            for _ in range(chance.choice([0, 0, 1, 5])):
                if content:
                    content[chance.randrange(len(content))] = chance.randrange(256)
            path.write_bytes(content[: chance.randint(0, len(content))] if chance.random() < 0.2 else content)
