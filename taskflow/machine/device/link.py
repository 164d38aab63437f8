"""The way from a GPU's memory to the host's, beside the GPU's other work."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

PIECE = 64 * 2**20  # bytes


class Link:
    """Copies of arrays of one GPU in host memory, made in pieces on a stream of its own, for one thread at a time.

    Pieces come through pinned memory, at the full speed of the link. To pin whole arrays takes longer than to copy
    them, and a copy straight to memory that is not pinned may keep other threads from their GPU.
    """

    def __init__(self, cupy: Any, ordinal: int) -> None:
        import cupyx

        self._cupy, self._ordinal, self._turn = cupy, ordinal, threading.Lock()
        self._stream = cupy.cuda.Stream(non_blocking=True)
        self._piece: np.ndarray = cupyx.empty_pinned((PIECE,), np.uint8)

    def fetch(self, array: Any) -> np.ndarray:
        """The values of a C-ordered array. Whatever writes them must be done, which is not waited for."""
        runtime, found = self._cupy.cuda.runtime, np.empty(array.shape, array.dtype)
        whole = found.reshape(-1).view(np.uint8)
        with self._turn, self._cupy.cuda.Device(self._ordinal):
            for first in range(0, whole.size, PIECE):
                part = whole[first : first + PIECE]
                runtime.memcpyAsync(
                    self._piece.ctypes.data,
                    array.data.ptr + first,
                    part.size,
                    runtime.memcpyDeviceToHost,
                    self._stream.ptr,
                )
                self._stream.synchronize()
                np.copyto(part, self._piece[: part.size])
        return found
