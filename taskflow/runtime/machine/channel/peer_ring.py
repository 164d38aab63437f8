"""Two rings of bytes in memory that two processes have mapped: what `peer_ring.cpp` does, one end of it, for Python.

Atomic operations are the compiler's: nothing in Python or NumPy promises in which order another core sees two stores.
The calls release the interpreter.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from functools import cache
from pathlib import Path

from taskflow.errors import BadInput
from taskflow.runtime.machine.kernel.agreement import KernelError
from taskflow.runtime.machine.kernel.compile_host import library

POINTER, BYTES, SOCKET = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int
SIGNATURES = {
    "bytes": (BYTES, []),
    "put": (ctypes.c_int64, [POINTER, SOCKET, POINTER, BYTES]),
    "begin": (ctypes.c_int64, [POINTER, SOCKET, BYTES, POINTER, BYTES]),
    "take": (ctypes.c_int64, [POINTER, SOCKET, POINTER, BYTES]),
    "next": (ctypes.c_int, [POINTER, SOCKET, POINTER]),
    "await_bytes": (ctypes.c_int, [POINTER]),
    "await_room": (ctypes.c_int, [POINTER]),
    "awake": (None, [POINTER, POINTER]),
    "close": (None, [POINTER]),
    "closed": (ctypes.c_int, [POINTER]),
}


@cache
def operations() -> ctypes.CDLL:
    """The compiled operations. Raises BadInput without a compiler, KernelError where it refuses the text."""
    loaded = library(Path(__file__).with_suffix(".cpp").read_text(encoding="utf-8"))
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(loaded, f"ring_{name}")
        function.restype, function.argtypes = result, arguments
    return loaded


@cache
def ring_problem() -> str | None:
    """Why there can be no rings in this process; None if there can."""
    if not hasattr(os, "memfd_create"):
        return "it needs Linux: memory without a name in a file system"
    try:
        operations()
    except (BadInput, KernelError) as error:
        return str(error)
    return None


def segment_bytes() -> int:
    """Size of the memory that two blocks share."""
    return 2 * int(operations().ring_bytes())


def open_segment() -> int:
    """New memory for two blocks, empty: a file descriptor. It has no name: whoever dies leaves nothing behind."""
    descriptor = os.memfd_create("taskflow-peer", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, segment_bytes())
    return descriptor


class PeerRings:
    """One end of a segment: a ring to write and a ring to read. `side` is 0 at one end, 1 at the other; `bell` is the
    socket whose other end wakes the peer.
    """

    def __init__(self, descriptor: int, side: int, bell: int) -> None:
        self._memory = mmap.mmap(descriptor, segment_bytes())  # unmapped with the last reference to it
        self._start = ctypes.c_char.from_buffer(self._memory)
        first, size = ctypes.addressof(self._start), segment_bytes() // 2
        self._written, self._read = first + side * size, first + (1 - side) * size
        self._bell = bell
        self._header = (ctypes.c_uint64 * 2)()
        self._header_at = ctypes.addressof(self._header)
        self._ring = operations()

    def begin(self, sequence: int, address: int, size: int) -> int:
        """Begin a message; return the bytes that went in at once, or -1 without room for its header."""
        return self._ring.ring_begin(self._written, self._bell, sequence, address, size)

    def put(self, address: int, size: int) -> int:
        """Go on with the message; return the bytes that went in."""
        return self._ring.ring_put(self._written, self._bell, address, size)

    def next(self) -> tuple[int, int] | None:
        """Sequence number and size of the message that comes next, if its header is there. Its bytes follow."""
        if self._ring.ring_next(self._read, self._bell, self._header_at):
            return self._header[0], self._header[1]
        return None

    def take(self, address: int, size: int) -> int:
        """Take bytes of a message; return how many came out."""
        return self._ring.ring_take(self._read, self._bell, address, size)

    def await_bytes(self) -> bool:
        """Ask to be woken when bytes come; False if there are some."""
        return bool(self._ring.ring_await_bytes(self._read))

    def await_room(self) -> bool:
        """Ask to be woken when there is room; False if there is."""
        return bool(self._ring.ring_await_room(self._written))

    def awake(self) -> None:
        """Ask not to be woken any more."""
        self._ring.ring_awake(self._read, self._written)

    def close(self) -> None:
        """Tell the peer that nothing more will come."""
        self._ring.ring_close(self._written)

    @property
    def closed(self) -> bool:
        """Whether the peer has closed its end."""
        return bool(self._ring.ring_closed(self._read))
