"""Copies of boxes between strided arrays, on every device: packing, unpacking, ghost cells across periodic faces."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.runtime.machine.device import Array, Device, Lane
from taskflow.runtime.machine.kernel import compile_cuda, compile_host
from taskflow.runtime.machine.kernel.call import address, cuda_call, cuda_shape, range_of
from taskflow.runtime.machine.kernel.host_call import Value, host_call, list_call, thunk
from taskflow.runtime.machine.kernel.includes import INCLUDE, expanded
from taskflow.runtime.machine.kernel.piece_table import uploaded
from taskflow.runtime.regions import Box, Triple

# struct Part of parts.h
PART = np.dtype(
    [("source", np.uint64), ("target", np.uint64)]
    + [(name, np.int64) for name in ("source_y", "source_z", "target_y", "target_z")]
    + [(name, np.uint32) for name in ("nx", "ny", "cells")]
    + [("source_x", np.int32)],
    align=True,
)
LARGEST = 8  # bytes per copy of a GPU thread
WORD = 16  # bytes per load of a GPU thread, if the memory of both arrays is contiguous
VALUES = {dtype.itemsize: dtype for dtype in map(np.dtype, ("u1", "u2", "f4", "f8"))}  # type of `real`, by bytes
THREADS, CELLS, WIDEST = 256, 4, 1024  # threads per thread block; cells per thread; most thread blocks per part
# struct Strides of copy.cu
STRIDES = np.dtype([(name, np.int64) for name in ("target_y", "target_z", "source_x", "source_y", "source_z")])
SHARED_PART = np.dtype([(name, np.uintc) for name in ("part", "n", "count")])  # struct SharedPart of copy_list.cu
STRAIGHT, TURNED = "copy_box", "copy_turned"  # rows of the source are contiguous, or not
PARTS = 32  # parts per launch: struct Parts of parts.h
SMALL = 8192  # fewer values are copied by one thread of a CPU, see visit_host.h
HIDDEN = 32  # thread blocks of a copy hidden by another launch, each in the place of one of it; at most flags.WAITING


def part_rows(size: int, pairs: Sequence[tuple[Array, Array]]) -> np.ndarray:
    """Return the structs Part of pairs of views, target and source, copied in units of `size` bytes."""
    rows = np.zeros(len(pairs), PART)
    for target, source in pairs:
        check(target, source)
    targets, sources = zip(*pairs, strict=True)
    for name, arrays in (("target", targets), ("source", sources)):
        rows[name] = [place(array) for array in arrays]
        rows[f"{name}_z"], rows[f"{name}_y"] = (np.array([a.strides[n] for a in arrays]) // size for n in (0, 1))
    rows["source_x"] = [s.strides[2] // s.dtype.itemsize if turned(s) else 1 for s in sources]
    rows["nx"] = [t.shape[2] * t.dtype.itemsize // size for t in targets]
    rows["ny"] = [t.shape[1] for t in targets]
    rows["cells"] = rows["nx"] * rows["ny"] * [t.shape[0] for t in targets]
    return rows


def place(array: Array) -> int:
    """Return the address of the first element of an array on any device."""
    return int(array.ctypes.data if isinstance(array, np.ndarray) else array.data.ptr)


def turned(source: Array) -> bool:
    """Return whether the rows of a view are not contiguous."""
    return bool(source.shape[-1] > 1 and source.strides[-1] != source.dtype.itemsize)


def word(pairs: Iterable[tuple[Array, Array]]) -> int:
    """Return the unit in bytes for copies between all CuPy views of the pairs, which have one dtype: one value, or
    several adjacent ones.
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


def copier(device: Device, target: Array, source: Array, lane: Lane | None = None) -> Callable[[], None]:
    """Return an operation `target[...] = source` between views [z, y, x] of one dtype and shape. The target must be
    contiguous along x.

    On a GPU it is one launch on `lane`, by default on the current stream of each call.
    """
    check(target, source)
    if device.kind == "gpu" and _whole(target) and _whole(source):
        return _cuda_whole(device, target, source, lane)
    values, size = _values(device, target, source), target.dtype.itemsize
    name = TURNED if turned(source) else STRAIGHT
    if device.kind == "cpu":  # other Python threads continue
        return host_call(_host_library(size), name, values, (target, source))
    shape = cuda_shape(target.shape[::-1], 1, 128, 512)
    return cuda_call(cuda_function("copy.cu", name, size), shape, values, lane, (target, source))


def copiers(device: Device, pairs: Iterable[tuple[Array, Array]], lane: Lane | None = None) -> list[Callable[[], None]]:
    """Return operations that do `target[...] = source` for all pairs, views [z, y, x] or [z, y, value, x]. They are
    merged on a GPU, and on CPUs if more than PARTS, or too small for several threads.
    """
    pairs = planes(pairs)
    if len(pairs) > PARTS or (device.kind == "cpu" and all(target.size < SMALL for target, _ in pairs)):
        return copy_lists(device, pairs, lane)
    if device.kind == "cpu":
        return [copier(device, target, source) for target, source in pairs]
    sizes: dict[int, list[tuple[Array, Array]]] = {}
    for target, source in pairs:
        sizes.setdefault(target.dtype.itemsize, []).append((target, source))
    return [_cuda_copies(group, lane) for group in sizes.values()]


def planes(pairs: Iterable[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
    """Return pairs of views [z, y, value, x] as views [z, y value, x] of the same memory: a box has all values of its
    cells, so the rows of a plane have one stride. If the source is turned, each value becomes a pair. Views [z, y,
    x] are returned unchanged.
    """
    flat = []
    for target, source in pairs:
        if target.ndim == 3:
            flat.append((target, source))
        elif turned(source) or source.strides[1] != source.shape[2] * source.strides[2]:
            flat += [(target[:, :, n], source[:, :, n]) for n in range(target.shape[2])]
        else:
            flat.append(tuple(view.reshape(view.shape[0], -1, view.shape[-1]) for view in (target, source)))
    return flat


def _cuda_copies(pairs: Sequence[tuple[Array, Array]], lane: Lane | None) -> Callable[[], None]:
    size = word(pairs)
    parts, shape = parts_of(size, pairs)
    return cuda_call(cuda_function("copy_parts.cu", "copy_parts", size), shape, [parts], lane, list(pairs))


def parts_of(
    size: int, pairs: Sequence[tuple[Array, Array]], *, hidden: bool = False
) -> tuple[np.ndarray, tuple[Triple, Triple]]:
    """Return the struct Parts of at most `PARTS` pairs of CuPy views, copied in units of `size` bytes, and their
    (blocks, threads). Few thread blocks are used if the copy is `hidden` behind another launch.
    """
    parts = np.zeros(PARTS, PART)
    parts[: len(pairs)] = part_rows(size, pairs)
    blocks = min(max(1, HIDDEN // len(pairs)) if hidden else WIDEST, -(-int(parts["cells"].max()) // (THREADS * CELLS)))
    return parts, ((blocks, len(pairs), 1), (THREADS, 1, 1))


def _whole(array: Array) -> bool:
    """Return whether an array is contiguous, in whole words of `WORD` bytes."""
    return bool(array.flags.c_contiguous and array.nbytes and not (array.nbytes | array.data.ptr) % WORD)


def _cuda_whole(device: Device, target: Array, source: Array, lane: Lane | None) -> Callable[[], None]:
    words = target.nbytes // WORD
    shape = (-(-words // (THREADS * CELLS)), 1, 1), (THREADS, 1, 1)
    values = [*(address(device.pointer(array)) for array in (target, source)), np.uint64(words)]
    return cuda_call(cuda_function("copy_whole.cu", "copy_whole", LARGEST), shape, values, lane, (target, source))


def _values(device: Device, target: Array, source: Array) -> list[Value]:
    size, strides = target.dtype.itemsize, np.zeros((), STRIDES)
    strides["source_x"] = source.strides[2] // size
    for name, array in (("target", target), ("source", source)):
        strides[f"{name}_z"], strides[f"{name}_y"] = array.strides[0] // size, array.strides[1] // size
    box = Box.of(target.shape[::-1])
    pointers = (address(device.pointer(array)) for array in (target, source))
    return [range_of(box, target.shape, device.threads), *pointers, strides]


@cache
def _text(file: str | Path, size: int) -> str:
    return expanded(INCLUDE / file, VALUES[size], {"declared.h": ""})


@cache
def _host_library(size: int) -> Any:
    thunks = (thunk(name, ("Range", "Out", "In", "Strides")) for name in (STRAIGHT, TURNED))
    return compile_host.library("".join((_text("copy.cu", size), *thunks)))


def cuda_function(file: str | Path, name: str, size: int) -> Any:
    """Return a function of a text, given by path or among taskflow's own, for values of `size` bytes, on the current
    device.
    """
    return compile_cuda.module(_text(file, size)).get_function(name)


def copy_lists(device: Device, pairs: Sequence[tuple[Array, Array]], lane: Lane | None) -> list[Callable[[], None]]:
    """Return operations that do `target[...] = source` for all pairs of views [z, y, x], one per size of values."""
    make = _host_list if device.kind == "cpu" else _cuda_list
    return [make(device, size, group, lane) for size, group in by_size(device, pairs).items()]


def by_size(device: Device, pairs: Iterable[tuple[Array, Array]]) -> dict[int, list[tuple[Array, Array]]]:
    """Return pairs of views [z, y, x] that are not empty, by the unit in which they are copied."""
    sizes: dict[int, list[tuple[Array, Array]]] = {}
    for target, source in ((target, source) for target, source in pairs if target.size):
        size = target.dtype.itemsize if device.kind == "cpu" else word([(target, source)])
        sizes.setdefault(size, []).append((target, source))
    return sizes


def _host_list(
    device: Device, size: int, pairs: Sequence[tuple[Array, Array]], lane: Lane | None
) -> Callable[[], None]:
    copies = HostCopies.of(size, pairs)
    return list_call(copies.function, copies.rows.ctypes.data, copies.begins, device.threads, copies)


@dataclass(frozen=True, eq=False)
class HostCopies:
    """The arguments of copy_list.cu on a CPU: a function, the structs Part of `pairs`, and the first cell of each."""

    function: Any
    rows: np.ndarray
    begins: np.ndarray
    pairs: Sequence[tuple[Array, Array]]

    @classmethod
    def of(cls, size: int, pairs: Sequence[tuple[Array, Array]]) -> HostCopies:
        """Return the copies of views [z, y, x] in units of `size` bytes."""
        rows = part_rows(size, pairs)
        begins = np.array([0, *accumulate(rows["cells"].tolist())], np.int64)
        return cls(compile_host.library(_text("copy_list.cu", size)).copy_list, rows, begins, pairs)


def _cuda_list(
    device: Device, size: int, pairs: Sequence[tuple[Array, Array]], lane: Lane | None
) -> Callable[[], None]:
    rows = part_rows(size, pairs)
    counts = np.minimum(WIDEST, -(-rows["cells"].astype(int) // (THREADS * CELLS)))
    blocks = np.zeros(int(counts.sum()), SHARED_PART)
    blocks["part"] = np.repeat(np.arange(len(rows)), counts)
    blocks["count"] = np.repeat(counts, counts)
    blocks["n"] = np.arange(len(blocks)) - np.repeat(np.cumsum(counts) - counts, counts)
    tables = [uploaded(device, rows), uploaded(device, blocks)]
    function = cuda_function("copy_list.cu", "copy_list", size)
    places = [address(device.pointer(table)) for table in tables]
    return cuda_call(function, ((len(blocks), 1, 1), (THREADS, 1, 1)), places, lane, (tables, list(pairs)))
