"""Tables of lists on a GPU: the arguments of every piece, and the piece of each thread block.

Structs are laid out as in C, with the members of list texts (see `texts`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import cache
from weakref import WeakKeyDictionary

import numpy as np

from taskflow.runtime.machine.device import Array, Device
from taskflow.runtime.machine.kernel.agreement import SCALARS, parameters
from taskflow.runtime.machine.kernel.call import PARTIAL, RANGE, STRIDED
from taskflow.runtime.machine.kernel.host_call import Value
from taskflow.runtime.machine.kernel.sweeping import SWEEP
from taskflow.runtime.machine.kernel.text import struct_dtype
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import Sweep, Task

# structs Range and Partial of cell.h in a text of lists, and PlacedBlock of pieces_cuda.h
PLACED_RANGE = np.dtype(
    [(name, RANGE[name]) for name in RANGE.names or ()] + [(name, np.uintc, 3) for name in ("block", "blocks")],
    align=True,
)
PLACED_PARTIAL = np.dtype(
    [(name, PARTIAL[name]) for name in PARTIAL.names or ()]
    + [(name, np.uint64) for name in ("values", "finished")]
    + [(name, np.uintc) for name in ("piece", "pieces")],
    align=True,
)
PLACED_BLOCK = np.dtype([(name, np.uintc) for name in ("x", "y", "z", "piece")])
STRIDES = re.compile(r"Foreign|\w+(Values|Private)\w*<")  # fields that are more than an address

_lock = threading.Lock()
_tables: WeakKeyDictionary[Device, dict[tuple[Triple, ...], Array]] = WeakKeyDictionary()


@cache
def piece_dtype(task: Task, real: np.dtype, common: tuple[int, ...] = ()) -> np.dtype:
    """Return the memory of a piece: its range, and its arguments `of_0`, `of_1`, ..., without those in `common`."""
    kinds = [(n, *kind) for n, kind in enumerate(parameters(task)) if n not in common]
    arguments = [(f"of_{n}", *_member(task, real, kind, name)) for n, kind, name in kinds]
    return np.dtype([("range", PLACED_RANGE, ()), *arguments], align=True)


def _member(task: Task, real: np.dtype, kind: str, name: str) -> tuple[np.dtype, tuple[int, ...]]:
    if name in task.fields:
        return STRIDED if STRIDES.match(kind) else np.dtype(np.uint64), ()
    if name in task.constants:
        constant = task.constants[name]
        if constant in SCALARS:
            return real if SCALARS[constant] == "real" else np.dtype(np.intc), ()
        return SWEEP if issubclass(constant, Sweep) else struct_dtype(constant, real), ()
    many = (len(task.numbers[name].of(name)),) if name in task.numbers else ()
    return (PLACED_PARTIAL, many or (1,)) if "Partial" in kind else (np.dtype(np.uint64), many)


def piece_rows(
    dtype: np.dtype, device: Device, pieces: Sequence[Sequence[Value]], grids: Sequence[Triple]
) -> tuple[Array, list[Array]]:
    """Return the table of pieces, as `piece_dtype`, with their arguments and thread blocks, and the memory of their
    reductions.
    """
    memory, rows = list[Array](), np.zeros(len(pieces), dtype)
    for row, values, grid in zip(rows, pieces, grids, strict=True):
        spread, *arguments = map(np.asarray, values)
        _fill(row["range"], spread)
        row["range"]["blocks"] = grid
        for name, argument in ((f"of_{n}", argument) for n, argument in enumerate(arguments)):
            if name not in (dtype.names or ()):
                continue
            if dtype[name].base == PLACED_PARTIAL:
                _fill(row[name], argument)
            else:  # of a struct for an address, its first member
                row[name] = argument["field"] if dtype[name] == np.uint64 and argument.dtype == STRIDED else argument
    for name in rows.dtype.names or ():
        if rows.dtype[name].base == PLACED_PARTIAL:
            memory += _folded(device, rows[name])
    return uploaded(device, rows), memory


def _fill(target: np.ndarray, source: np.ndarray) -> None:
    """Copy the members that two structs share."""
    for name in source.dtype.names or ():
        target[name] = source[name]


def _folded(device: Device, partials: np.ndarray) -> list[Array]:
    """Complete the partials [piece, number] of a parameter: results of pieces are folded after the value before the
    first.
    """
    pieces, numbers = partials.shape
    values, finished = device.allocate((numbers, pieces), "f8"), device.allocate((1,), "u4")
    partials["values"] = device.pointer(values) + values.strides[0] * np.arange(numbers, dtype=np.uint64)
    partials["before"], partials["finished"] = partials["before"][0], device.pointer(finished)
    partials["piece"], partials["pieces"] = np.arange(pieces)[:, None], pieces
    return [values, finished]


def thread_blocks(device: Device, grids: tuple[Triple, ...]) -> Array:
    """Return the table of all thread blocks, piece after piece, cached for all lists of equal grids."""
    with _lock:
        tables = _tables.setdefault(device, {})
        if grids not in tables:
            tables[grids] = uploaded(device, np.concatenate([_places(n, grid) for n, grid in enumerate(grids)]))
        return tables[grids]


def _places(piece: int, grid: Triple) -> np.ndarray:
    blocks = np.zeros(grid[::-1], PLACED_BLOCK)
    blocks["z"], blocks["y"], blocks["x"] = np.indices(blocks.shape)
    blocks["piece"] = piece
    return blocks.ravel()


def uploaded(device: Device, rows: np.ndarray) -> Array:
    """Return the bytes of rows on the device."""
    return device.upload(np.ascontiguousarray(rows).view(np.uint8).reshape(-1))
