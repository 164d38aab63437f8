"""A small sound CGNS file, and ways to change it."""

from __future__ import annotations

import h5py
import numpy as np


def box(command, name="box.cgns"):
    """A box of 6 x 6 x 6 cells as a CGNS file."""
    sizes = ("--set", "grid.cells=[6,6,6]", "--set", "grid.lengths=[1,1,1]")
    for words in (("grid", "new", "box", *sizes, "-o", "box.xyz"), ("grid", "convert", "box.xyz", name)):
        status, told = command(*words)
        assert status == 0, told
    return name


def nodes(file: h5py.File, label: bytes) -> list[str]:
    """The names of the nodes with a label."""
    found: list[str] = []

    def look(name, node):
        if bytes(node.attrs.get("label", b"")).rstrip(b"\0 ") == label:
            found.append(name)

    file.visititems(look)
    return found


def replaced(group: h5py.Group, **how) -> h5py.Dataset:
    """Other data of a node."""
    del group[" data"]
    return group.create_dataset(" data", **how)


def labelled(parent: h5py.Group, name: str, label: str, kind: str = "MT") -> h5py.Group:
    """A new node."""
    group = parent.create_group(name, track_order=True)
    for key, value in (("name", name), ("label", label), ("type", kind)):
        group.attrs[key] = np.bytes_(value)
    return group
