"""Memory of a GPU: allocations that other processes can open, copies to host memory, and an alarm word on the host."""

from __future__ import annotations

import math
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

import numpy as np

from taskflow.common.errors import Lost, RunFailed
from taskflow.runtime.machine.device.driver import gpu_lost

ALIGN = 512  # bytes: alignment of arrays
PIECE = 16 * 2**20  # bytes copied to the host at a time,
WAYS = 4  # by each of these threads


class Arena:
    """`nbytes` of zeros in one allocation, made by the driver itself so that its handle refers to the first byte.

    Raises MemoryError if the GPU has too little memory.
    """

    def __init__(self, cupy: Any, nbytes: int) -> None:
        self._cupy, self.nbytes, self._used = cupy, nbytes, 0
        runtime = cupy.cuda.runtime
        self.device = cupy.cuda.Device().id
        cupy.get_default_memory_pool().free_all_blocks()
        try:
            self.pointer = int(runtime.malloc(nbytes))
        except runtime.CUDARuntimeError as error:
            free, total = runtime.memGetInfo()
            raise MemoryError(f"{nbytes} bytes on a GPU with {free} of {total} bytes free ({error})") from None
        self._free = runtime.free
        runtime.memset(self.pointer, 0, nbytes)

    @staticmethod
    def room(shape: tuple[int, ...], dtype: np.dtype | str) -> int:
        """Return the bytes that an array occupies."""
        return -(-math.prod(shape) * np.dtype(dtype).itemsize // ALIGN) * ALIGN

    def allocate(self, shape: tuple[int, ...], dtype: np.dtype | str) -> Any:
        """Return a C-ordered array of zeros from the remaining memory. Raises MemoryError if it is too small."""
        room = self.room(shape, dtype)
        if self._used + room > self.nbytes:
            raise MemoryError(f"{room} bytes from an arena with {self.nbytes - self._used} bytes left")
        self._used += room
        return view(self._cupy, self.pointer + self._used - room, shape, dtype, self, self.device)

    def handle(self) -> bytes:
        """Return the handle by which another process of this host opens the arena."""
        return bytes(self._cupy.cuda.runtime.ipcGetMemHandle(self.pointer))

    def __del__(self) -> None:
        if getattr(self, "pointer", 0):
            with suppress(Exception):  # interpreter and driver may be shutting down
                self._free(self.pointer)


class Alarm:
    """A word of the host that a kernel writes if a wait of it has timed out."""

    def __init__(self, word: np.ndarray) -> None:
        self._word = word
        word[:] = 0

    @property
    def pointer(self) -> int:
        """Address of the word, on host and device."""
        return int(self._word.ctypes.data)

    def check(self) -> bool:
        """Return True. Raises RunFailed if the word has been written since the last check."""
        if number := int(self._word[0]):
            self._word[0] = 0
            raise RunFailed(f"sweep aborted: thread block {number} timed out waiting for earlier blocks")
        return True


def view(cupy: Any, pointer: int, shape: tuple[int, ...], dtype: np.dtype | str, owner: object, device: int) -> Any:
    """Return the memory at an address as an array that keeps `owner` alive."""
    nbytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = cupy.cuda.UnownedMemory(pointer, nbytes, owner, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))


class HostCopier:
    """Copies arrays of one GPU to host memory, in pieces, on separate streams, for up to WAYS threads: one core fills
    new memory more slowly than the link delivers values.

    Pieces pass through pinned memory, at the full speed of the link. Pinning whole arrays takes longer than the copy,
    and a direct copy to unpinned memory may block other threads from their GPU.
    """

    def __init__(self, cupy: Any, ordinal: int) -> None:
        import cupyx

        self._cupy, self._ordinal = cupy, ordinal
        self._ways = SimpleQueue[tuple[Any, np.ndarray]]()
        for _ in range(WAYS):
            self._ways.put((cupy.cuda.Stream(non_blocking=True), cupyx.empty_pinned((PIECE,), np.uint8)))

    def fetch(self, array: Any) -> np.ndarray:
        """Return the values of a C-ordered array whose writes are done. Raises Lost if the GPU is lost."""
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
