"""Calls of compiled kernels: argument blocks prepared once, so that a call is one foreign function or one launch.

Tables are uploaded once, and kept as long as the device is.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from taskflow.runtime.machine.device import Array, Device, Lane
from taskflow.runtime.machine.device.driver import launch
from taskflow.runtime.regions import Box, Triple, triple
from taskflow.runtime.tasks import LookupTable

# struct Range of cell.h
RANGE = np.dtype(
    [("lo", np.intc, 3), ("hi", np.intc, 3), ("y", np.int64), ("z", np.int64)]
    + [(name, np.intc) for name in ("threads", "march")],
    align=True,
)
# struct Partial of cell.h
PARTIAL = np.dtype([(name, np.uint64) for name in ("result", "parts", "ticket", "before")], align=True)
# structs Foreign and ValuesOf of cell.h
STRIDED = np.dtype([("field", np.uint64), ("y", np.int64), ("z", np.int64)], align=True)
BX, BY = 128, 4  # the largest thread blocks of a kernel that defines none of its own
WARP = 32
SHORT = 8  # cells of a column that a kernel has in any case, as in visit_cuda.h
ENOUGH = 512  # thread blocks that give all of a GPU something to do
Value = np.ndarray | np.uint64  # a struct, or an address
_lock = threading.Lock()
_uploaded: WeakKeyDictionary[Device, dict[tuple[LookupTable, np.dtype], Array]] = WeakKeyDictionary()


def range_of(box: Box, shape: tuple[int, ...], threads: int, march: int = 0) -> np.ndarray:
    """The struct Range of a box, for fields that are C-ordered arrays of a shape [z, y, x]: done by so many threads of
    a CPU, or in marches of so many planes on a GPU.
    """
    memory = np.zeros((), RANGE)
    memory["lo"], memory["hi"], memory["threads"], memory["march"] = box.lo, box.hi, threads, march
    memory["y"], memory["z"] = shape[2], shape[1] * shape[2]
    return memory


def address(pointer: int) -> np.uint64:
    """An address as a kernel receives it. It may lie outside of all memory: kernels add what leads inside."""
    return np.uint64(pointer % 2**64)


def strided_field(pointer: int, shape: tuple[int, ...], *, private: bool = False) -> np.ndarray:
    """The struct Foreign, or ValuesOf, of a field whose cell (0, 0, 0) would be at `pointer`, a C-ordered array
    [z, y, x] or [z, y, value, x]; or PrivateOf, with distances in cells. That of StoredOf is its begin.
    """
    plane = shape[1] * (shape[-1] if private else math.prod(shape[2:]))
    return np.array((address(pointer), shape[-1], plane), STRIDED)


def table_address(table: LookupTable, real: np.dtype, device: Device) -> int:
    """Return the address on a device at which the number 0 of a table is, or would be."""
    with _lock:
        arrays = _uploaded.setdefault(device, {})
        if (table, real) not in arrays:
            array = arrays[table, real] = device.allocate((len(table.values),), real)
            array[...] = device.xp.asarray(np.array(table.values, real))
            device.synchronize()  # kernels on other streams read it
    return device.pointer(arrays[table, real]) - table.first * real.itemsize


def thunk(name: str, kinds: Sequence[str]) -> str:
    """C++ that calls a kernel through an array of pointers: to the structs among its parameters, and those it takes."""
    pointers = ("In", "InByte", "InShort", "Out", "OutByte", "OutShort", "InOut", "InOutByte", "InOutShort", "In64")
    values = [
        f"({kind})block[{n}]" if kind in pointers else f"*(const {kind}*)block[{n}]" for n, kind in enumerate(kinds)
    ]
    return f'extern "C" void call_{name}(void** block) {{ {name}({", ".join(values)}); }}\n'


def pointers(values: Sequence[Value]) -> ctypes.Array[ctypes.c_void_p]:
    """Return what a thunk takes: pointers to structs, which have to be kept, and addresses."""
    places = [int(value) if isinstance(value, np.uint64) else value.ctypes.data for value in values]
    return (ctypes.c_void_p * len(values))(*places)


def host_call(library: ctypes.CDLL, name: str, values: Sequence[Value], keep: object) -> Callable[[], None]:
    """A call through a thunk with structs (as arrays) and addresses. The call keeps alive what its pointers lead to."""
    block = pointers(values)
    function = library[f"call_{name}"]
    function.restype, function.argtypes = None, [ctypes.c_void_p]

    def call(_: object = (values, keep)) -> None:
        function(block)

    return call


def cuda_shape(
    cells: Triple, column: int, widest: int, threads: int, *, whole: bool = False, narrowest: int = 1
) -> tuple[Triple, Triple]:
    """(blocks, threads per block) that visit a box of so many cells with columns of `column` cells along z.

    A thread block is as wide as the box, from `narrowest` to `widest`, of whole warps, and has at most `threads`
    threads. Columns of more than SHORT cells are halved until there are ENOUGH thread blocks, unless a thread has to
    have `whole` ones.
    """
    (grid,), shape = cuda_shapes([cells], column, widest, threads, whole=whole, narrowest=narrowest)
    return grid, shape


def cuda_shapes(
    boxes: Sequence[Triple], column: int, widest: int, threads: int, *, whole: bool = False, narrowest: int = 1
) -> tuple[list[Triple], Triple]:
    """The blocks of each of some boxes, and the threads per block of all, that visit them in one launch."""
    shapes = [triple(max(1, n) for n in cells) for cells in boxes]
    bx = min(widest, max(narrowest, _power(max(nx for nx, _, _ in shapes))))
    by = min(threads // bx, max(_power(max(ny for _, ny, _ in shapes)), -(-WARP // bx)))
    if column > SHORT and not whole:
        while column > 2 and sum(-(-x // bx) * -(-y // by) * -(-z // column) for x, y, z in shapes) < ENOUGH:
            column //= 2
    return [(-(-x // bx), -(-y // by), -(-z // column)) for x, y, z in shapes], (bx, by, 1)


def tiled_shape(cells: Triple, tile: Triple, threads: Triple) -> tuple[Triple, Triple]:
    """(blocks, threads per block) that visit a box of so many cells in tiles, one per thread block."""
    x, y, z = (max(1, -(-n // size)) for n, size in zip(cells, tile, strict=True))
    return (x, y, z), threads


def _power(n: int) -> int:
    """The smallest power of two that is not less than n."""
    return 1 << (n - 1).bit_length()


def cuda_call(
    function: Any, shape: tuple[Triple, Triple], values: Sequence[Value], lane: Lane | None, keep: object,
    shared: int = 0,
) -> Callable[[], None]:  # fmt: skip
    """A launch with so many bytes of shared memory, beside those of the text, on a lane, or on the stream that is
    current when it is called; keeps alive what its pointers lead to.
    """
    return launch(function.kernel, *shape, values, None if lane is None else lane.stream, keep, shared)
