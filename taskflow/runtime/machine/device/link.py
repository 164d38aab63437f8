"""The way from a GPU's memory to the host's, beside the GPU's other work."""

from __future__ import annotations

from queue import SimpleQueue
from typing import Any

import numpy as np

from taskflow.errors import Lost
from taskflow.runtime.machine.device.fatal import gpu_lost

PIECE = 16 * 2**20  # bytes
WAYS = 4  # for as many threads


class Link:
    """Copies of arrays of one GPU in host memory, made in pieces on streams of its own, for a few threads at a time:
    one core fills new memory more slowly than the link brings the values.

    Pieces come through pinned memory, at the full speed of the link. To pin whole arrays takes longer than to copy
    them, and a copy straight to memory that is not pinned may keep other threads from their GPU.
    """

    def __init__(self, cupy: Any, ordinal: int) -> None:
        import cupyx

        self._cupy, self._ordinal = cupy, ordinal
        self._ways = SimpleQueue[tuple[Any, np.ndarray]]()
        for _ in range(WAYS):
            self._ways.put((cupy.cuda.Stream(non_blocking=True), cupyx.empty_pinned((PIECE,), np.uint8)))

    def fetch(self, array: Any) -> np.ndarray:
        """The values of a C-ordered array. Whatever writes them must be done, which is not waited for. Raises Lost if
        the GPU is.
        """
        runtime, values = self._cupy.cuda.runtime, np.empty(array.shape, array.dtype)
        whole = values.reshape(-1).view(np.uint8)
        stream, piece = way = self._ways.get()
        try:
            with self._cupy.cuda.Device(self._ordinal):
                for first in range(0, whole.size, PIECE):
                    part, begin = whole[first : first + PIECE], array.data.ptr + first
                    runtime.memcpyAsync(piece.ctypes.data, begin, part.size, runtime.memcpyDeviceToHost, stream.ptr)
                    stream.synchronize()
                    np.copyto(part, piece[: part.size])
        except runtime.CUDARuntimeError as error:
            if gpu_lost(error):
                raise Lost(f"the GPU could not give its values: {error}") from error
            raise
        finally:
            self._ways.put(way)
        return values
