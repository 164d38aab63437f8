"""Copies of any number of boxes as one launch, or one call, from a table that is made once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from itertools import accumulate
from typing import Any

import numpy as np

from taskflow.runtime.machine.device import Array, Device, Lane
from taskflow.runtime.machine.kernel import compile_cuda, compile_host
from taskflow.runtime.machine.kernel.call import address, cuda_call
from taskflow.runtime.machine.kernel.part import CELLS, THREADS, VALUES, WIDEST, part_rows, word
from taskflow.runtime.machine.kernel.piece_table import uploaded
from taskflow.runtime.machine.kernel.text import INCLUDE, expanded

SHARED_PART = np.dtype([(name, np.uintc) for name in ("part", "n", "count")])  # struct SharedPart of copy_list.cu


def copy_lists(device: Device, pairs: Sequence[tuple[Array, Array]], lane: Lane | None) -> list[Callable[[], None]]:
    """Operations that do all `target[...] = source` of some pairs, views [z, y, x]: one for each size of values."""
    sizes: dict[int, list[tuple[Array, Array]]] = {}
    for target, source in ((target, source) for target, source in pairs if target.size):
        size = target.dtype.itemsize if device.kind == "cpu" else word([(target, source)])
        sizes.setdefault(size, []).append((target, source))
    make = _host_call if device.kind == "cpu" else _cuda_call
    return [make(device, size, group, lane) for size, group in sizes.items()]


def _host_call(
    device: Device, size: int, pairs: Sequence[tuple[Array, Array]], lane: Lane | None
) -> Callable[[], None]:
    rows = part_rows(size, pairs)
    begins = np.array([0, *accumulate(rows["cells"].tolist())], np.int64)
    function = _host_library(size).copy_list
    function.restype, function.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    places, count, threads = (rows.ctypes.data, begins.ctypes.data), len(rows), device.threads

    def call(_: object = (rows, begins, pairs)) -> None:
        function(*places, count, threads)

    return call


def _cuda_call(
    device: Device, size: int, pairs: Sequence[tuple[Array, Array]], lane: Lane | None
) -> Callable[[], None]:
    rows = part_rows(size, pairs)
    counts = np.minimum(WIDEST, -(-rows["cells"].astype(int) // (THREADS * CELLS)))
    blocks = np.zeros(int(counts.sum()), SHARED_PART)
    blocks["part"] = np.repeat(np.arange(len(rows)), counts)
    blocks["count"] = np.repeat(counts, counts)
    blocks["n"] = np.arange(len(blocks)) - np.repeat(np.cumsum(counts) - counts, counts)
    tables = [uploaded(device, rows), uploaded(device, blocks)]
    function = compile_cuda.module(_text(size)).get_function("copy_list")
    places = [address(device.pointer(table)) for table in tables]
    return cuda_call(function, ((len(blocks), 1, 1), (THREADS, 1, 1)), places, lane, (tables, list(pairs)))


@cache
def _text(size: int) -> str:
    return expanded(INCLUDE / "copy_list.cu", VALUES[size], {"declared.h": ""})


@cache
def _host_library(size: int) -> Any:
    return compile_host.library(_text(size))
