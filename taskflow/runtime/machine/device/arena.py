"""Memory of a GPU that other processes can open: one allocation, from which arrays are cut."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np

ALIGN = 512  # bytes; arrays begin at multiples


class Arena:
    """`nbytes` of zeros, allocated at once by the driver itself: only then does a handle lead to its first byte.

    Raises MemoryError where the GPU has not so much left.
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
        """Bytes that an array takes."""
        return -(-math.prod(shape) * np.dtype(dtype).itemsize // ALIGN) * ALIGN

    def allocate(self, shape: tuple[int, ...], dtype: np.dtype | str) -> Any:
        """A C-ordered array of zeros from what is left. Raises MemoryError where that is too little."""
        room = self.room(shape, dtype)
        if self._used + room > self.nbytes:
            raise MemoryError(f"{room} bytes from an arena with {self.nbytes - self._used} bytes left")
        self._used += room
        return view(self._cupy, self.pointer + self._used - room, shape, dtype, self, self.device)

    def handle(self) -> bytes:
        """By which another process of this host opens the arena."""
        return bytes(self._cupy.cuda.runtime.ipcGetMemHandle(self.pointer))

    def __del__(self) -> None:
        if getattr(self, "pointer", 0):
            with suppress(Exception):  # the interpreter, and with it the driver, may be coming to its end
                self._free(self.pointer)


def view(cupy: Any, pointer: int, shape: tuple[int, ...], dtype: np.dtype | str, owner: object, device: int) -> Any:
    """The memory at an address as an array; keeps `owner` alive."""
    nbytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = cupy.cuda.UnownedMemory(pointer, nbytes, owner, device)
    return cupy.ndarray(shape, dtype, cupy.cuda.MemoryPointer(memory, 0))
