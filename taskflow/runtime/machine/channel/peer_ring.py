"""The line to one peer: messages matched by number over two byte rings in memory that both processes have mapped.

`peer_ring.cpp` implements the rings; this module wraps one end. The compiler provides the atomic operations, because
neither Python nor NumPy guarantees the order in which another core sees two stores. The calls release the interpreter
lock.

Messages without a posted receive stay in the ring, so a peer that runs ahead waits for this block. If such a message
precedes an expected one, it is stored until its receive is posted.
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
    """Return the compiled operations. Raises BadInput without a compiler, KernelError if it rejects the text."""
    loaded = library(Path(__file__).with_suffix(".cpp").read_text(encoding="utf-8"))
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(loaded, f"ring_{name}")
        function.restype, function.argtypes = result, arguments
    return loaded


@cache
def ring_problem() -> str | None:
    """Return why this process cannot use rings, or None if it can."""
    if not hasattr(os, "memfd_create"):
        return "it needs Linux: memory without a name in a file system"
    try:
        operations()
    except (BadInput, KernelError) as error:
        return str(error)
    return None


def segment_bytes() -> int:
    """Return the size of the memory that two blocks share."""
    return 2 * int(operations().ring_bytes())


def open_segment() -> int:
    """Return a file descriptor of new, empty memory for two blocks. It has no name: a crash leaves no file."""
    descriptor = os.memfd_create("taskflow-peer", os.MFD_CLOEXEC)
    os.ftruncate(descriptor, segment_bytes())
    return descriptor


class PeerRings:
    """One end of a segment: a ring to write and a ring to read. `side` is 0 or 1; `bell` is the socket that wakes the
    peer.

    - `begin(sequence, address, size)`: start a message. Returns the bytes written, or -1 if its header does not fit.
    - `put(address, size)`: write more bytes of it. Returns the bytes written.
    - `take(address, size)`: read bytes of a message. Returns the bytes read.
    - `await_bytes()`, `await_room()`: request to be woken when bytes, or room, are available. Return 0 if they are
      already.
    - `awake()`: withdraw these requests.
    - `close()`: announce that nothing more will be written. `closed()`: whether the peer has done so.
    """

    def __init__(self, descriptor: int, side: int, bell: int) -> None:
        self._memory = mmap.mmap(descriptor, segment_bytes())  # unmapped with its last reference
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
        """Return sequence number and size of the next message if its header has arrived. Its bytes follow."""
        return (self._header[0], self._header[1]) if self._next() else None


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


class PeerMessage(BufferMessage):
    """One side of a message. `host` is its buffer, or a host copy of a device buffer."""

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
    """The message that is being read from the ring."""

    sequence: int
    target: np.ndarray
    address: int
    taken: int = 0


class PeerLine:
    """The messages to and from one peer. `rings` is None until the two have connected. Earlier messages wait."""

    def __init__(self) -> None:
        self.rings: PeerRings | None = None
        self.gone: str | None = None
        self._going: deque[PeerMessage] = deque()
        self._put = -1  # bytes written of the first one; -1 before its header
        self._awaited: dict[int, PeerMessage] = {}
        self._early: dict[int, np.ndarray] = {}
        self._arrival: Arrival | None = None
        self._armed = False

    def send(self, message: PeerMessage) -> None:
        """Send a message. It is done once its bytes are in the ring."""
        if self.gone is not None:
            message.finish(self.gone)
        else:
            self._going.append(message)
            self._push()

    def receive(self, message: PeerMessage) -> None:
        """Post a receive. It is done once the bytes are in its buffer."""
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
        """Move bytes in both directions, and return whether any moved."""
        if self._armed and self.rings is not None:
            self.rings.awake()
            self._armed = False
        moved = self._push()
        return self._pull() or moved

    def arm(self) -> bool:
        """Request to be woken by the peer when work arrives. Returns False if some is present."""
        if self.rings is None or self.gone is not None:
            return True
        self._armed = True
        ready = (self._awaited and not self.rings.await_bytes()) or (self._going and not self.rings.await_room())
        return not ready

    def lose(self, reason: str) -> None:
        """Mark the peer as lost: bytes that have arrived are still received, all other messages fail."""
        self.gone = reason
        self._pull()
        self._fail(reason)

    def close(self, reason: str) -> None:
        """Announce the end to the peer, and fail all messages in progress."""
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
        """Return the next message, read into the buffer of its receive, or into separate memory."""
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
            message.finish(f"{early.size} bytes were sent, {message.size} expected")
        else:
            np.copyto(message.host, early)
            message.finish()
