"""Lists of pieces: launches of one task on many boxes as one launch, with the bits of launches one after the other.

Each piece keeps the arguments that a launch of its own would have: other fields, constants and scalars, too.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from itertools import accumulate, groupby

import numpy as np

from taskflow.runtime.machine.device import Lane
from taskflow.runtime.machine.kernel import compile_host
from taskflow.runtime.machine.kernel.call import address, cuda_shapes, pointers
from taskflow.runtime.machine.kernel.kernel import Arguments, CudaKernel, Kernel, compile_together
from taskflow.runtime.machine.kernel.piece_table import piece_rows, thread_blocks
from taskflow.runtime.machine.kernel.text import defined
from taskflow.runtime.machine.kernel.texts import cuda_text, symbol, text_for
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import PlacedSweep


def bind_pieces(kernel: Kernel, listed: Sequence[Arguments], lane: Lane | None) -> Callable[[], None]:
    """An operation that does a task with all of these arguments, in their order where it reduces: on a GPU one launch
    on `lane`, or, where it reduces, one for each run of pieces that have thread blocks of one shape.
    """
    compile_together([(kernel.task, kernel.real, True)], kernel.device)
    pieces = [arguments for arguments in listed if not arguments.idle]
    if not isinstance(kernel, CudaKernel):
        return _host_call(kernel, pieces)
    if not kernel.task.reductions:
        return _cuda_call(kernel, pieces, *_shapes(kernel, pieces), lane)
    shapes, calls = [kernel.shape(piece.box, piece.tile) for piece in pieces], list[Callable[[], None]]()
    for threads, run in groupby(range(len(pieces)), lambda n: shapes[n][1]):
        numbers = list(run)
        grids = [shapes[n][0] for n in numbers]
        calls.append(_cuda_call(kernel, [pieces[n] for n in numbers], grids, threads, lane))
    return calls[0] if len(calls) == 1 else lambda: _in_turn(calls)


def _in_turn(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()


def _shapes(kernel: CudaKernel, pieces: Sequence[Arguments]) -> tuple[list[Triple], Triple]:
    """The thread blocks of each piece, and the threads of each block: all pieces together keep a GPU busy."""
    if any(isinstance(piece.tile, PlacedSweep) for piece in pieces):
        grids, threads = zip(*(kernel.shape(piece.box, piece.tile) for piece in pieces), strict=True)
        return list(grids), threads[0]
    text = cuda_text(kernel.task, kernel.real)
    x, y = kernel.threads(text)
    boxes, least = [piece.box.shape for piece in pieces], defined(text, "NARROWEST", 1)
    return cuda_shapes(boxes, defined(text, "UZ", 1), x, x * y, narrowest=least)


def _host_call(kernel: Kernel, pieces: Sequence[Arguments]) -> Callable[[], None]:
    library = compile_host.library(text_for(kernel.task, kernel.real, "cpu", True))
    blocks = [pointers(piece.values) for piece in pieces]
    table = (ctypes.c_void_p * len(blocks))(*map(ctypes.addressof, blocks))
    begins = np.array([0, *accumulate(piece.box.volume for piece in pieces)], np.int64)
    function = library[f"call_{symbol(kernel.task, True)}"]
    function.restype, function.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int]
    count, threads, cells = len(pieces), kernel.device.threads, begins.ctypes.data

    def call(_: object = (pieces, blocks, begins)) -> None:
        function(table, cells, count, threads)

    return call


def _cuda_call(
    kernel: CudaKernel, pieces: Sequence[Arguments], grids: Sequence[Triple], threads: Triple, lane: Lane | None
) -> Callable[[], None]:
    device, blocks = kernel.device, thread_blocks(kernel.device, tuple(grids))
    rows, memory = piece_rows(kernel.task, kernel.real, device, [piece.values for piece in pieces], grids)
    shape = (sum(map(math.prod, grids)), 1, 1), threads
    places = [address(device.pointer(array)) for array in (rows, blocks)]
    keep = memory, rows, blocks, [piece.keep for piece in pieces]
    return kernel.launch(shape, places, lane, keep, listed=True)
