"""Parts of copies: boxes of strided arrays, as kernels take many of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from taskflow.runtime.machine.device import Array

# struct Part of parts.h
PART = np.dtype(
    [("source", np.uint64), ("target", np.uint64)]
    + [(name, np.int64) for name in ("source_y", "source_z", "target_y", "target_z")]
    + [(name, np.uint32) for name in ("nx", "ny", "cells")]
    + [("source_x", np.int32)],
    align=True,
)
LARGEST = 8  # bytes that a thread of a GPU copies at once
VALUES = {dtype.itemsize: dtype for dtype in map(np.dtype, ("u1", "u2", "f4", "f8"))}  # what `real` is, by bytes
THREADS, CELLS, WIDEST = 256, 4, 1024  # per thread block; cells per thread; thread blocks for a part at most


def part_rows(size: int, pairs: Sequence[tuple[Array, Array]]) -> np.ndarray:
    """The structs Part of pairs of views, target and source, of which `size` bytes are copied at once."""
    rows = np.zeros(len(pairs), PART)
    for part, (target, source) in zip(rows, pairs, strict=True):
        check(target, source)
        part["source"], part["target"] = place(source), place(target)
        part["source_x"] = source.strides[2] // target.dtype.itemsize if turned(source) else 1
        for name, array in (("source", source), ("target", target)):
            part[f"{name}_z"], part[f"{name}_y"] = array.strides[0] // size, array.strides[1] // size
        part["nx"], part["ny"] = target.shape[2] * target.dtype.itemsize // size, target.shape[1]
        part["cells"] = part["nx"] * part["ny"] * target.shape[0]
    return rows


def place(array: Array) -> int:
    """The address of the first element of an array, of whichever device."""
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


def turned(source: Array) -> bool:
    """Whether the rows of a view are not contiguous."""
    return bool(source.shape[-1] > 1 and source.strides[-1] != source.dtype.itemsize)


def word(pairs: Iterable[tuple[Array, Array]]) -> int:
    """The bytes that can be copied at once between all CuPy views of the pairs, which are of one dtype: those of a
    value, or of several side by side.
    """
    arrays = [array for pair in pairs for array in pair]
    size = int(arrays[0].dtype.itemsize)
    places = [n for array in arrays for n in (array.data.ptr, *array.strides[:2], array.shape[2] * size)]
    if any(map(turned, arrays)):
        return size
    return LARGEST if all(n % LARGEST == 0 for n in places) else size


def check(target: Array, source: Array) -> None:
    size = target.dtype.itemsize
    if target.ndim != 3 or target.shape != source.shape or target.dtype != source.dtype or size not in VALUES:
        raise ValueError(f"cannot copy {source.dtype} {source.shape} to {target.dtype} {target.shape}")
    if target.shape[2] > 1 and target.strides[2] != size:
        raise ValueError("cannot copy to a view that is not contiguous along x")
