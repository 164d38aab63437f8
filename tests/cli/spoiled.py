"""Sound files with damage: bytes, numbers and words that are others, ends that are missing, and structures that lie."""

from __future__ import annotations

import json
import os
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from tests.cli.sound import KINDS

WORDS = (
    b"nan", b"inf", b"1e400", b"-1", b"0", b"999999999", b"1000000000000", b"4*0", b"0." + b"5" * 50_000, b"", b"x",
    b"\xff\xfe", b"1 " * 5000, b"1e-320", b"\0",
)  # fmt: skip
NUMBERS = (0, 1, -1, 2**31 - 1, -(2**31), 2**16, 2**24, 2**30, 65535)
LARGE = (2**33, 2**62, -1, 0, 1.5, "x", None, [2**31] * 3, [])


def spoil(folder: Path, chance: random.Random) -> None:
    """Damage one of the files in a folder, all but the case."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "case.toml")
    path = chance.choice(files)
    ways: list[Callable[[Path, random.Random], None]] = [_bytes, _number, _word, _torn, _doubled]
    if path.suffix in (".cgns", ".nc") and h5py.is_hdf5(path):
        ways += [_node] * 5
    elif path.suffix in (".json", ".zarray", ".zattrs", ".zgroup") or path.name.startswith(".z"):
        ways += [_key] * 8
    for _ in range(chance.choice([1, 1, 2])):
        with suppress(FileNotFoundError):
            chance.choice(ways)(path, chance)


def _bytes(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice([1, 3, 20])):
        if content:
            content[chance.randrange(len(content))] = chance.randrange(256)
    path.write_bytes(content)


def _number(path: Path, chance: random.Random) -> None:
    """Four or eight bytes, most of them near the beginning, where sizes are."""
    content, order = bytearray(path.read_bytes()), chance.choice("<>")
    at = chance.randrange(0, max(1, min(len(content), chance.choice([64, 512, 10**9])) - 8))
    value = chance.choice(NUMBERS)
    packed = chance.choice([
        struct.pack(f"{order}i", value), struct.pack(f"{order}q", value * chance.choice([1, 2**20])),
        struct.pack(f"{order}d", chance.choice([float("nan"), float("inf"), 1e300, -1e300, 1e-320])),
    ])  # fmt: skip
    content[at : at + len(packed)] = packed
    path.write_bytes(content)


def _word(path: Path, chance: random.Random) -> None:
    words = path.read_bytes().split(b" ")
    words[chance.randrange(len(words))] = chance.choice(WORDS)
    path.write_bytes(b" ".join(words))


def _torn(path: Path, chance: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content) + 1)])


def _doubled(path: Path, chance: random.Random) -> None:
    content = path.read_bytes()
    first = chance.randrange(len(content) + 1)
    path.write_bytes(content[:first] + content[first : first + 200] * chance.choice([2, 50]) + content[first:])


def _node(path: Path, chance: random.Random) -> None:
    """A dataset of HDF5 that claims to be large, is stored in other files, or is of another kind; or an attribute."""
    with suppress(OSError, KeyError, ValueError, RuntimeError), h5py.File(path, "r+") as file:
        names: list[str] = []
        file.visititems(lambda name, node: names.append(name) if isinstance(node, h5py.Dataset) else None)
        name = chance.choice(names)
        shape, rank = file[name].shape, len(file[name].shape)
        way = chance.randrange(7)
        if way == 6:
            node = chance.choice([file[name], file[name].parent])
            key = chance.choice([*node.attrs, "units", "label"])
            node.attrs[key] = chance.choice([0, np.nan, b"", b"\xff", "x" * 9])
            return
        del file[name]
        if way == 0:  # holes: a file of some bytes
            size = chance.choice([2**20, 2**28, 2**33])
            file.create_dataset(name, shape=(size,) + (1,) * (rank - 1), dtype="f8", chunks=True, compression="gzip")
        elif way == 1:
            outside = path.with_name("pipe")
            if not outside.exists():
                os.mkfifo(outside)
            where = chance.choice([outside, Path("/dev/zero"), path.with_name("case.toml")])
            file.create_dataset(name, shape=shape, dtype="f8", external=[(os.fsencode(where), 0, h5py.h5f.UNLIMITED)])
        elif way == 2:
            layout = h5py.VirtualLayout(shape=shape, dtype="f8")
            layout[...] = h5py.VirtualSource("/dev/zero", "x", shape=shape)
            file.create_virtual_dataset(name, layout)
        elif way == 3:
            file[name] = chance.choice([h5py.SoftLink("/"), h5py.SoftLink(name), h5py.ExternalLink("pipe", "/")])
        elif way == 4:
            kind = chance.choice(["i1", "u8", "S5", "c16", "f2", "O"])
            file.create_dataset(name, shape=shape, dtype=h5py.string_dtype() if kind == "O" else kind)
        else:
            file.create_dataset(name, data=np.full(shape or (1,), chance.choice([np.nan, np.inf, 1e300, -1e9])))


def _key(path: Path, chance: random.Random) -> None:
    """A value of the metadata of a Zarr store, however deep."""
    with suppress(ValueError, IndexError):  # no JSON, or nothing in it
        whole = json.loads(path.read_text())
        inner, key = chance.choice(list(_places(whole)))
        codecs: list[Any] = [
            {"id": "pickle", "protocol": 5}, {"id": "zlib", "level": 1}, [{"name": "numcodecs.pickle"}], "|O", "<f4",
            {"name": "gzip", "configuration": {"level": 5}}, "float16", "string",
        ]  # fmt: skip
        inner[key] = chance.choice([*LARGE, *codecs])
        path.write_text(json.dumps(whole))


def _places(inside: Any) -> Iterator[tuple[Any, Any]]:
    items = inside.items() if isinstance(inside, dict) else enumerate(inside) if isinstance(inside, list) else ()
    for key, value in list(items):
        yield inside, key
        yield from _places(value)


def spoiled(seed: int, sound: Path) -> Iterator[Callable[[Path], str]]:
    """Yield functions without end that put a case with a damaged file into a folder, and return what kind it is.

    `sound` is an empty folder, for sound files, which are made once.
    """
    for number, kind in enumerate(cycle(KINDS)):
        chance = random.Random(f"{seed} {number}")
        make = chance.choice(KINDS[kind])
        if not (sound / make.__name__).exists():
            (sound / make.__name__).mkdir()
            make(sound / make.__name__)

        def fill(folder: Path, name: str = make.__name__, kind: str = kind, chance: random.Random = chance) -> str:
            shutil.copytree(sound / name, folder, dirs_exist_ok=True)
            spoil(folder, chance)
            return kind

        yield fill
