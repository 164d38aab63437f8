"""Lists of pieces: launches of one task on many boxes as one launch, bitwise identical to sequential launches.

Each piece keeps the arguments of a separate launch, including fields, constants and scalars.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, groupby

import numpy as np

from taskflow.runtime.machine.device import Lane
from taskflow.runtime.machine.kernel import compile_host
from taskflow.runtime.machine.kernel.call import address, cuda_shapes
from taskflow.runtime.machine.kernel.host_call import Value, list_call, pointers
from taskflow.runtime.machine.kernel.kernel import Arguments, CudaKernel, Kernel, compile_together
from taskflow.runtime.machine.kernel.piece_table import piece_dtype, piece_rows, thread_blocks
from taskflow.runtime.machine.kernel.texts import common, symbol, text_for
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import PlacedSweep


def bind_pieces(kernel: Kernel, listed: Sequence[Arguments], lane: Lane | None) -> Callable[[], None]:
    """Return an operation that does a task with all of these arguments, in order if it reduces. On a GPU it is one
    launch on `lane`, or several: pieces of a launch share the arguments that it has once and, if it reduces, the
    thread block shape.
    """
    compile_together([(kernel.task, kernel.real, True)], kernel.device)
    pieces = [arguments for arguments in listed if not arguments.idle]
    if not isinstance(kernel, CudaKernel):
        return _host_call(kernel, pieces)
    alike = partial(_alike, kernel)
    runs = groupby(pieces if kernel.task.reductions else sorted(pieces, key=alike), alike)
    calls = [_cuda_call(kernel, list(run), lane) for _, run in runs]
    return calls[0] if len(calls) == 1 else lambda: _in_turn(calls)


def _alike(kernel: CudaKernel, piece: Arguments) -> tuple[Triple, bytes]:
    """Return a key that is equal for pieces that one launch can do."""
    threads = kernel.shape(piece.box, piece.tile)[1] if kernel.task.reductions else (0, 0, 0)
    return threads, b"".join(np.asarray(value).tobytes() for value in _common(kernel, piece))


def _common(kernel: Kernel, piece: Arguments) -> list[Value]:
    """Return the arguments of a piece that a launch has once."""
    return [piece.values[1 + n] for n in common(kernel.task, kernel.real)]


def _in_turn(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()


def _shapes(kernel: CudaKernel, pieces: Sequence[Arguments]) -> tuple[list[Triple], Triple]:
    """Return the thread blocks of each piece, and the threads per block. All pieces together fill the GPU. In
    reductions and sweeps each piece has the shape of a separate launch, for which its memory was allocated.
    """
    if kernel.task.reductions or any(isinstance(piece.tile, PlacedSweep) for piece in pieces):
        grids, threads = zip(*(kernel.shape(piece.box, piece.tile) for piece in pieces), strict=True)
        return list(grids), threads[0]
    (x, y), boxes = kernel.threads, [piece.box.shape for piece in pieces]
    return cuda_shapes(boxes, kernel.setting("UZ"), x, x * y, narrowest=kernel.setting("NARROWEST"))


def _host_call(kernel: Kernel, pieces: Sequence[Arguments]) -> Callable[[], None]:
    library = compile_host.library(text_for(kernel.task, kernel.real, "cpu", True))
    blocks = [pointers(piece.values) for piece in pieces]
    table = (ctypes.c_void_p * len(blocks))(*map(ctypes.addressof, blocks))
    begins = np.array([0, *accumulate(piece.box.volume for piece in pieces)], np.int64)
    function = library[f"call_{symbol(kernel.task, True)}"]
    return list_call(function, ctypes.addressof(table), begins, kernel.device.threads, (pieces, blocks, table))


def _cuda_call(kernel: CudaKernel, pieces: Sequence[Arguments], lane: Lane | None) -> Callable[[], None]:
    grids, threads = _shapes(kernel, pieces)
    device, blocks = kernel.device, thread_blocks(kernel.device, tuple(grids))
    dtype = piece_dtype(kernel.task, kernel.real, common(kernel.task, kernel.real))
    rows, memory = piece_rows(dtype, device, [piece.values for piece in pieces], grids)
    shape = (sum(map(math.prod, grids)), 1, 1), threads
    values = [*(address(device.pointer(array)) for array in (rows, blocks)), *_common(kernel, pieces[0])]
    keep = memory, rows, blocks, [piece.keep for piece in pieces]
    return kernel.launch(shape, values, lane, keep, listed=True)
