"""Blosc into memory that is there already, beside threads that must not wait.

numcodecs packs into new memory, cuts from it what came out, and gives it back: some 6 ms for each 16 MB in which no
other thread has the interpreter, and half as long again as to pack them. So its library is called directly.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable
from functools import cache

import numpy as np
from numcodecs import Blosc, blosc

OVERHEAD = 16  # bytes, by which packed values may be longer than they were: BLOSC_MAX_OVERHEAD

Packed = bytes | memoryview


class Rooms:
    """Memory for what is packed, to be used again and again."""

    def __init__(self) -> None:
        self._free = deque[np.ndarray]()

    def take(self, nbytes: int) -> np.ndarray:
        """Room for so many bytes of values that are packed."""
        try:
            room = self._free.pop()
        except IndexError:
            room = np.empty(0, np.uint8)
        return room if room.size >= nbytes + OVERHEAD else np.empty(nbytes + OVERHEAD, np.uint8)

    def give(self, room: np.ndarray) -> None:
        """Nobody needs what is in it any more."""
        self._free.append(room)


def pack(codec: Blosc, values: np.ndarray, room: np.ndarray) -> Packed:
    """What `codec` makes of C-ordered values, in `room` where the library can be called."""
    compress = _compressor()
    if compress is None:
        return codec.encode(values)
    source, size = values.ctypes.data, values.nbytes
    how = (codec.clevel, codec.shuffle, values.itemsize)
    most = size + OVERHEAD  # however large the room is: what does not pack is copied from there on
    found = compress(*how, size, source, room.ctypes.data, most, codec.cname.encode(), codec.blocksize, 1)
    if found <= 0:
        raise RuntimeError(f"Blosc ({codec}) could not pack {size} bytes: error {found}")
    return room[:found].data


@cache
def _compressor() -> Callable[..., int] | None:
    """The function `blosc_compress_ctx` of the library that numcodecs has; None where that hides it."""
    try:
        function = ctypes.CDLL(blosc.__file__).blosc_compress_ctx
    except (OSError, AttributeError):
        return None
    number, size, place = ctypes.c_int, ctypes.c_size_t, ctypes.c_void_p
    function.argtypes = (number, number, size, size, place, place, size, ctypes.c_char_p, size, number)
    function.restype = number
    return function
