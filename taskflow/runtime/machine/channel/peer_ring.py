"""The line to one peer: messages matched by number over two rings of bytes in memory that two processes have mapped.

The rings are what `peer_ring.cpp` does, one end of it, for Python. Atomic operations are the compiler's: nothing in
Python or NumPy promises in which order another core sees two stores. The calls release the interpreter.

What nobody awaits stays in the ring, so that a peer that runs ahead waits for us; unless it stands in the way of what
is awaited: then it is kept aside until its receive is posted.
"""

from __future__ import annotations

import ctypes
import mmap
import os
from collections import deque
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np

from taskflow.common.errors import BadInput, ChannelError
from taskflow.runtime.machine.channel.base import Buffer, BufferMessage, Envelope, copy, on_device, staged
from taskflow.runtime.machine.channel.stop import Stop
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

    `begin(sequence, address, size)` begins a message: the bytes that went in at once, or -1 without room for its
    header; `put(address, size)` goes on with it: the bytes that went in. `take(address, size)` takes bytes of a
    message: how many came out. `await_bytes()` and `await_room()` ask to be woken when there are bytes, or room: 0 if
    so already; `awake()` not to be woken any more. `close()` tells the peer that nothing more will come, `closed()`
    whether it has done so.
    """

    def __init__(self, descriptor: int, side: int, bell: int) -> None:
        self._memory = mmap.mmap(descriptor, segment_bytes())  # unmapped with the last reference to it
        self._start = ctypes.c_char.from_buffer(self._memory)
        first, size = ctypes.addressof(self._start), segment_bytes() // 2
        written, read = first + side * size, first + (1 - side) * size
        self._header, ring = (ctypes.c_uint64 * 2)(), operations()
        self.begin, self.put = partial(ring.ring_begin, written, bell), partial(ring.ring_put, written, bell)
        self.take = partial(ring.ring_take, read, bell)
        self._next = partial(ring.ring_next, read, bell, ctypes.addressof(self._header))
        self.await_bytes, self.await_room = partial(ring.ring_await_bytes, read), partial(ring.ring_await_room, written)
        self.awake, self.close = partial(ring.ring_awake, read, written), partial(ring.ring_close, written)
        self.closed = partial(ring.ring_closed, read)

    def next(self) -> tuple[int, int] | None:
        """Sequence number and size of the message that comes next, if its header is there. Its bytes follow."""
        return (self._header[0], self._header[1]) if self._next() else None


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


class PeerMessage(BufferMessage):
    """One side of a message; `host` is its buffer, or what stands for it in host memory."""

    def __init__(self, stop: Stop, message: Envelope, buffer: Buffer) -> None:
        super().__init__(stop, message, buffer)
        self.host = staged(buffer) if message.sends or not on_device(buffer) else np.empty(buffer.size, np.uint8)
        self.address, self.size = address(self.host), self.host.size

    def settle(self) -> None:
        super().settle()
        if self.host is not self.buffer and not self.message.sends:
            copy([(self.buffer, self.host)])


@dataclass
class Arrival:
    """The message that is coming out of the ring."""

    sequence: int
    target: np.ndarray
    address: int
    taken: int = 0


class PeerLine:
    """The messages to and from one peer. `rings` is None until both have met; what is sent before waits."""

    def __init__(self) -> None:
        self.rings: PeerRings | None = None
        self.gone: str | None = None
        self._going: deque[PeerMessage] = deque()
        self._put = -1  # bytes of the first of them that went; -1 before its header has
        self._awaited: dict[int, PeerMessage] = {}
        self._early: dict[int, np.ndarray] = {}
        self._arrival: Arrival | None = None
        self._armed = False

    def send(self, message: PeerMessage) -> None:
        """Send a message, which is done once its bytes are in the ring."""
        if self.gone is not None:
            message.finish(self.gone)
        else:
            self._going.append(message)
            self._push()

    def receive(self, message: PeerMessage) -> None:
        """Post a receive, which is done once the bytes are in its buffer."""
        sequence = message.message.sequence
        if sequence in self._awaited:
            raise ChannelError(f"{message.message} was posted twice")
        early = self._early.pop(sequence, None)
        if early is not None:
            self._hand_over(message, early)
        else:
            self._awaited[sequence] = message
            if self.gone is not None:
                self.lose(self.gone)

    def move(self) -> bool:
        """Move bytes both ways; return whether any did."""
        if self._armed and self.rings is not None:
            self.rings.awake()
            self._armed = False
        moved = self._push()
        return self._pull() or moved

    def arm(self) -> bool:
        """Ask to be woken by the peer when there is something to do; False if there is already."""
        if self.rings is None or self.gone is not None:
            return True
        self._armed = True
        ready = (self._awaited and not self.rings.await_bytes()) or (self._going and not self.rings.await_room())
        return not ready

    def lose(self, reason: str) -> None:
        """Expect no more to come or go: what has come already is still received, all else fails."""
        self.gone = reason
        self._pull()
        self._fail(reason)

    def close(self, reason: str) -> None:
        """Say farewell; all that is under way fails."""
        if self.rings is not None:
            self.rings.close()
        self._fail(reason)

    def _fail(self, reason: str) -> None:
        for message in (*self._going, *self._awaited.values()):
            message.finish(reason)
        self._going.clear()
        self._awaited.clear()

    def _push(self) -> bool:
        rings, moved = self.rings, False
        while self._going and rings is not None:
            first = self._going[0]
            if self._put < 0:
                went = rings.begin(first.message.sequence, first.address, first.size)
                moved |= went >= 0
                self._put = went
            else:
                went = rings.put(first.address + self._put, first.size - self._put)
                moved |= went > 0
                self._put += went
            if self._put < first.size:
                break
            self._put = -1
            self._going.popleft().finish()
        return moved

    def _pull(self) -> bool:
        rings, moved = self.rings, False
        while self._awaited and rings is not None:
            if self._arrival is None:
                header = rings.next()
                if header is None:
                    break
                self._arrival = self._arriving(*header)
                moved = True
            arrival = self._arrival
            took = rings.take(arrival.address + arrival.taken, arrival.target.size - arrival.taken)
            moved |= took > 0
            arrival.taken += took
            if arrival.taken < arrival.target.size:
                break
            self._arrival = None
            self._arrived(arrival)
        return moved

    def _arriving(self, sequence: int, size: int) -> Arrival:
        """A message that comes next: into the buffer of its receive, or into memory of its own."""
        message = self._awaited.get(sequence)
        if message is not None and message.size == size:
            return Arrival(sequence, message.host, message.address)
        aside = np.empty(size, np.uint8)
        return Arrival(sequence, aside, address(aside))

    def _arrived(self, arrival: Arrival) -> None:
        message = self._awaited.pop(arrival.sequence, None)
        if message is None:
            self._early[arrival.sequence] = arrival.target
        elif arrival.target is message.host:
            message.finish()
        else:
            self._hand_over(message, arrival.target)

    @staticmethod
    def _hand_over(message: PeerMessage, early: np.ndarray) -> None:
        if message.size != early.size:
            message.finish(f"{early.size} bytes were sent, {message.size} awaited")
        else:
            np.copyto(message.host, early)
            message.finish()
