"""Calls of compiled kernels: arguments are prepared once, so that a call is one foreign function or one launch. Also
the thread blocks of a launch.

Tables are uploaded once, and kept with the device. A march is the sequence of planes through which a thread block moves
with its tile (see twice.h).
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.runtime.machine.device import Array, Device, Lane
from taskflow.runtime.machine.device.driver import launch
from taskflow.runtime.machine.kernel.host_call import Value
from taskflow.runtime.regions import Box, Triple, triple
from taskflow.runtime.tasks import LookupTable, Privilege

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
# struct PrivateOf of stored.h, on a CPU
PRIVATE = np.dtype([("field", np.uint64)] + [(name, np.intc, 3) for name in ("lo", "size", "bits")], align=True)
NO_TILES = (30, 30, 30)  # bits: more cells than any box has
BX, BY = 128, 4  # the largest thread blocks of a kernel, by default
WARP = 32
SHORT = 8  # cells of a column that is never shortened, as in visit_cuda.h
ENOUGH = 512  # thread blocks that occupy a whole GPU
_lock = threading.Lock()
_uploaded: WeakKeyDictionary[Device, dict[tuple[LookupTable, np.dtype], Array]] = WeakKeyDictionary()
AGAIN = 2  # planes of a march that its neighbours also compute
SHORTEST, LONGEST = 8, 168  # planes: shorter marches repeat too much, longer ones drift apart from their neighbours
WAVES = 3  # least waves of a cut launch: copies in it wait for a free place, and delay one thread block
COPIES = (32, 8)  # thread blocks of such copies, and their duration in planes
Marches = tuple[tuple[int, int], ...]  # (thread blocks, planes of each), in order
BUNDLE = 16  # rows that a reduction on a CPU folds into one part, as in visit_host.h


def range_of(box: Box, shape: tuple[int, ...], threads: int, march: int = 0) -> np.ndarray:
    """Return the struct Range of a box, for C-ordered fields of a shape [z, y, x]: for `threads` threads of a CPU, or
    in marches of `march` planes on a GPU.
    """
    memory = np.zeros((), RANGE)
    memory["lo"], memory["hi"], memory["threads"], memory["march"] = box.lo, box.hi, threads, march
    memory["y"], memory["z"] = shape[2], shape[1] * shape[2]
    return memory


def address(pointer: int) -> np.uint64:
    """Return an address as a kernel receives it. It may be outside of all memory until kernels add offsets."""
    return np.uint64(pointer % 2**64)


def strided_field(pointer: int, shape: tuple[int, ...], *, private: bool = False) -> np.ndarray:
    """Return the struct Foreign, or ValuesOf, of a C-ordered field [z, y, x] or [z, y, value, x] whose cell (0, 0, 0)
    would be at `pointer`. Also PrivateRowsOf and, on a GPU, PrivateOf, with strides in cells. StoredOf is the
    beginning of the struct.
    """
    plane = shape[1] * (shape[-1] if private else math.prod(shape[2:]))
    return np.array((address(pointer), shape[-1], plane), STRIDED)


def private_field(pointer: int, layout: Layout) -> np.ndarray:
    """Return the struct PrivateOf of a field whose memory on a CPU begins at `pointer`."""
    bits = tuple(n.bit_length() - 1 for n in layout.tile) if layout.tile else NO_TILES
    return np.array((address(pointer), layout.origin, layout.box.shape, bits), PRIVATE)


def field_value(device: Device, array: Array, layout: Layout, privilege: Privilege, declared: Privilege) -> Value:
    """Return a field as a kernel takes it. The privilege `declared` by its task may leave the precision open."""
    begin = device.pointer(array)
    if privilege.together and device.tiled:
        return private_field(begin, layout)
    first = begin - layout.offset(together=privilege.together) * array.dtype.itemsize
    own = privilege.precision is not None and declared.precision == "any"
    if own or privilege.foreign or privilege.values > 1:
        return strided_field(first, layout.shape, private=privilege.unshared)
    return address(first)


def table_address(table: LookupTable, real: np.dtype, device: Device) -> int:
    """Return the address on a device of the (possibly absent) entry 0 of a table."""
    with _lock:
        arrays = _uploaded.setdefault(device, {})
        if (table, real) not in arrays:
            arrays[table, real] = device.upload(np.array(table.values, real))
    return device.pointer(arrays[table, real]) - table.first * real.itemsize


def cuda_shape(
    cells: Triple, column: int, widest: int, threads: int, *, whole: bool = False, narrowest: int = 1
) -> tuple[Triple, Triple]:
    """Return (blocks, threads per block) that visit a box of `cells` in columns of `column` cells along z.

    A thread block is as wide as the box, from `narrowest` to `widest`, in whole warps, with at most `threads` threads.
    Columns of more than SHORT cells are halved until the launch has ENOUGH thread blocks, unless a thread needs `whole`
    ones.
    """
    (grid,), shape = cuda_shapes([cells], column, widest, threads, whole=whole, narrowest=narrowest)
    return grid, shape


def cuda_shapes(
    boxes: Sequence[Triple], column: int, widest: int, threads: int, *, whole: bool = False, narrowest: int = 1
) -> tuple[list[Triple], Triple]:
    """Return the blocks of each box, and the common threads per block, that visit them in one launch."""
    shapes = [triple(max(1, n) for n in cells) for cells in boxes]
    bx = min(widest, max(narrowest, _power(max(nx for nx, _, _ in shapes))))
    by = min(threads // bx, max(_power(max(ny for _, ny, _ in shapes)), -(-WARP // bx)))
    if column > SHORT and not whole:
        while column > 2 and sum(-(-x // bx) * -(-y // by) * -(-z // column) for x, y, z in shapes) < ENOUGH:
            column //= 2
    return [(-(-x // bx), -(-y // by), -(-z // column)) for x, y, z in shapes], (bx, by, 1)


def tiled_shape(cells: Triple, tile: Triple, threads: Triple) -> tuple[Triple, Triple]:
    """Return (blocks, threads per block) that visit a box of `cells` in tiles, one per thread block."""
    x, y, z = (max(1, -(-n // size)) for n, size in zip(cells, tile, strict=True))
    return (x, y, z), threads


def _power(n: int) -> int:
    """Return the smallest power of two >= n."""
    return 1 << (n - 1).bit_length()


def cuda_call(
    function: Any, shape: tuple[Triple, Triple], values: Sequence[Value], lane: Lane | None, keep: object,
    shared: int = 0,
) -> Callable[[], None]:  # fmt: skip
    """Return a launch with `shared` bytes of dynamic shared memory, on a lane, or on the current stream of each call.
    Keeps `keep` alive.
    """
    return launch(function.kernel, *shape, values, None if lane is None else lane.stream, keep, shared)


@cache
def march(tiles: int, planes: int, room: int, edges: int | None = None) -> int:
    """Return the march length, in planes, with which the last thread block ends earliest. The box has `planes` planes
    of `tiles` tiles, and the GPU holds `room` thread blocks at a time. The last march takes the remainder.

    A launch that is cut has `edges` edges along z (0: along x and y only), of one march each. Its middle then has at
    least half of the planes, and `WAVES` waves if marches of `SHORTEST` planes permit, during which the results travel.

    The constants above bring this closest to the fastest marches on an H200: 0.6 % slower on average
    (docs/notes/performance_log.md).
    """
    longest = min(planes, LONGEST)
    if edges is not None:
        half = planes // (2 * edges) if edges else planes
        longest = min(longest, max(SHORTEST, min(half, tiles * planes // (WAVES * room))))
    earliest, length = float("inf"), 1
    for candidate in range(longest, min(SHORTEST, longest) - 1, -1):
        pieces = marches(tiles, planes, candidate)
        if sum(count * deep for count, deep in pieces) >= earliest * room:
            break  # shorter ones repeat even more
        last = end(pieces if edges is None else (*pieces[:edges], COPIES, *pieces[edges:]), room)
        if last < earliest:
            earliest, length = last, candidate
    return length


def marches(tiles: int, planes: int, length: int) -> Marches:
    return tuple((tiles, AGAIN + min(length, planes - first)) for first in range(0, planes, length))


def end(pieces: Marches, room: int) -> int:
    """Return when the last thread block ends, in planes, if each begins as soon as one of `room` places is free. Thread
    blocks come in waves, and an incomplete last wave costs as much as a full one.
    """
    free, last = Counter({0: room}), 0
    for count, planes in pieces:
        while count:
            begin = min(free)
            taken = min(free[begin], count)
            free[begin] -= taken
            if not free[begin]:
                del free[begin]
            free[begin + planes] += taken
            count, last = count - taken, max(last, begin + planes)
    return last


def partial_bytes(box: Box, device: str) -> int:
    """Return the bytes of the partial results of a reduction over a box; on a GPU for the default shape."""
    if device == "cpu":
        return 8 * host_parts(box)
    return 8 * int(np.prod(cuda_shape(box.shape, 1, BX, BX * BY)[0])) + 4  # and the count of finished thread blocks


def host_parts(box: Box) -> int:
    """Return the number of partial results of a reduction over a box on a CPU."""
    _, ny, nz = box.shape
    return max(1, -(-ny * nz // BUNDLE))


@dataclass(frozen=True)
class Layout:
    """The memory of fields: C-ordered arrays [z, y, x] or [z, y, value, x] whose first element is the cell `origin`."""

    origin: Triple
    shape: tuple[int, ...]
    tile: Triple | None = None  # cells are stored by tiles, in arrays [cell] or [cell, value]

    def of(self, values: int) -> Layout:
        """Return the layout for `values` values per cell."""
        return self if values == 1 else Layout(self.origin, (*self.shape[:2], values, self.shape[2]), self.tile)

    @cached_property
    def memory(self) -> tuple[int, ...]:
        """Shape of the arrays."""
        if self.tile is None:
            return self.shape
        return (self.box.volume, *self.shape[2:-1])

    @cached_property
    def box(self) -> Box:
        """The cells that have memory."""
        return Box(self.origin, self.origin).expand((0, 0, 0), (self.shape[-1], self.shape[1], self.shape[0]))

    def offset(self, *, together: bool = False) -> int:
        """Return the elements from the cell (0, 0, 0) to the first in memory. The values of a cell are a row apart, or
        contiguous (`together`).
        """
        x, y, z = self.origin
        row = math.prod(self.shape[2:])
        return x * (row // self.shape[-1] if together else 1) + row * (y + self.shape[1] * z)
