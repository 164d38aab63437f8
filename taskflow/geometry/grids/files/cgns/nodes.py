"""Nodes of a CGNS file: each has a name, a label, optionally an array, and ordered children."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.common import files, hdf5
from taskflow.common.errors import BadInput
from taskflow.geometry.grids.multiblock.grid import BadGrid
from taskflow.geometry.solids.libraries import library, unreadable

GIVE = "give a CGNS file of structured zones, in HDF5"
MOST = 100_000_000_000  # bytes
ADF = b"@(#)ADF"
COPIES = 5  # copies of its arrays, in double precision, in memory
NEEDED = "CGNS", "cgns"  # format that needs h5py, and the extra with it
DATA = " data"
LONGEST = 32  # bytes of a name or a label
TYPES = {"i4": "I4", "f4": "R4", "f8": "R8"}
ROOT = {" format": (b"IEEE_LITTLE_32", 15), " hdf5version": (b"HDF5 Version 1.10.0", 33)}


@dataclass(frozen=True)
class Node:
    """Node of an open file at `place`, the names on its path."""

    group: Any
    place: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.place[-1]

    @property
    def label(self) -> str:
        return _text(self.group.attrs.get("label", b""))

    def children(self, *labels: str) -> Iterator[Node]:
        """Yield the children with one of the labels. Raises BadInput for a link."""
        import h5py

        for name in self.group:
            if name == DATA:
                continue
            link = self.group.get(name, getlink=True)
            node = self.group[name] if isinstance(link, h5py.HardLink) else None
            if node is None or _text(node.attrs.get("type")) == "LK":
                problem = f"{self.within(name)}: a link"
                raise BadInput(f"{problem}, which is not available in this version; write the file without links")
            found = Node(node, (*self.place, name))
            if isinstance(node, h5py.Group) and found.label in labels:
                yield found

    def child(self, *labels: str) -> Node | None:
        """Return the first of these children, or None."""
        return next(self.children(*labels), None)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape of the stored array, with the last index of CGNS first, or None without an array."""
        return getattr(self.group[DATA], "shape", None) if DATA in self.group else None  # none of a link to a group

    @property
    def array(self) -> np.ndarray:
        return np.asarray(self.group[DATA][...])

    @property
    def integers(self) -> np.ndarray:
        """Array as integers. Raises BadInput if it has other values."""
        values = self.array
        if values.dtype.kind not in "iuf" or not (np.abs(values) < 2.0**53).all():
            raise BadInput(f"{self.within()}: its values are not integers; write the file again")
        return values.astype(np.int64)

    @property
    def text(self) -> str:
        if self.shape is None or np.prod(self.shape) > 10 * LONGEST:
            return ""
        return self.array.tobytes().decode("utf-8", "replace").rstrip("\0 ")

    def within(self, *names: str) -> str:
        """Return its path, or the path of a member, as text."""
        return "/".join((*self.place, *names))


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace").rstrip("\0 ") if isinstance(value, bytes) else str(value)


@contextmanager
def tree(path: Path) -> Iterator[Node]:
    """Open a file and yield its root. Raises BadInput if it is not a CGNS file in HDF5, or is damaged."""
    try:
        with files.opened(path, MOST, GIVE) as file:
            begin = file.read(8)
            if begin.startswith(ADF):
                raise BadInput("an ADF file, which is not available in this version; convert it by adf2hdf of CGNS")
            if not begin:
                raise BadInput(f"the file is empty; {GIVE}")
            if not begin.startswith(hdf5.SIGNATURE):
                raise BadInput(f"no HDF5 file; {GIVE}")
            h5py = library("h5py", *NEEDED)
            file.seek(0)
            try:
                with h5py.File(file, "r") as root:
                    claimed = sum(map(hdf5.nbytes, hdf5.sound(root)))
                    files.fits(COPIES * claimed, f"{claimed} bytes of arrays", root.id.get_filesize())
                    yield Node(root, (str(path),))
            except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
                raise unreadable(path, error, "write the file again") from None
    except BadGrid:  # each of its problems gets the name of the file from `read_grid`
        raise
    except BadInput as error:
        raise error if str(path) in str(error) else BadInput(f"{path}: {error}") from None


def root(file: Any) -> None:
    """Turn an empty file into a CGNS file."""
    _mark(file, "HDF5 MotherNode", "Root Node of HDF5 File", "MT")
    for name, (text, size) in ROOT.items():
        file.create_dataset(name, data=np.frombuffer(text.ljust(size, b"\0"), np.int8))


def add_node(parent: Any, name: str, label: str, value: np.ndarray | str | None = None) -> Any:
    """Add a node to an open one, with an array in memory order, and return it."""
    node = parent.create_group(name, track_order=True)
    if isinstance(value, str):
        value = np.frombuffer(value.encode(), np.int8)
    kind = "MT" if value is None else TYPES.get(value.dtype.str[1:], "C1")
    _mark(node, name, label, kind)
    node.attrs.create("flags", [1], dtype="<i4")
    if value is not None:
        node.create_dataset(DATA, data=value)
    return node


def _mark(node: Any, name: str, label: str, kind: str) -> None:
    import h5py

    for key, text, size in (("name", name, LONGEST), ("label", label, LONGEST), ("type", kind, 2)):
        form = h5py.h5t.C_S1.copy()
        form.set_size(size + 1)
        space = h5py.h5s.create(h5py.h5s.SCALAR)
        place = h5py.h5a.create(node.id, key.encode(), form, space)
        place.write(np.array(text.encode(), f"S{size + 1}"))
