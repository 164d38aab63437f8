"""Channels: one block's way to exchange byte messages with its neighbours, whatever carries them.

A new transport is a subclass of `Channel` with a `Pending` of its own:

- `address()` offers what a peer must know to reach this block; the client gathers all offers for `connect`;
- `send` and `receive` post and return at once; a message is known by (source, target, sequence) alone, so the two
  sides may post in any order, and a message may arrive before its receive is posted;
- all waiting happens in `Pending.wait`, written once, here: a transport only says when a message is `done` and what
  is left to do then (`settle`). Whatever completes a message in another thread rings `stop.bell`; a transport that
  must be driven attaches itself to the bell as an `Engine`;
- a dead or closed peer makes its messages done with a `ChannelError`, within seconds and without being asked.

The tests in `tests/runtime/machine/channel` run every transport through the same scenarios.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from taskflow.common.errors import BadInput, ChannelError, ChannelTimeout
from taskflow.runtime.machine.channel.stop import SLICE, Stop

PROCESS = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
"""Names this process among all processes of all hosts; the random part tells containers with equal names apart."""

SEQUENCES = 1 << 35
"""Sequence numbers of a program are 0 <= n < SEQUENCES; the next as many belong to collectives (`allreduce`)."""

GREETING, GREETING_BYTES = 2 * SEQUENCES - 2, 1 << 16
"""Sequence number and size of a greeting: large enough to take the path of large messages too. UCX sees the death of a
peer in shared memory only once the paths that are in use have been answered."""

LIFELINE = GREETING - 1
"""Sequence number of a message that nobody sends: who posts its receive learns from it that the peer is gone."""

Buffer: TypeAlias = Any
"""The bytes of a message: a 1-D contiguous uint8 `numpy.ndarray`, or an array of a device of the same shape
(`__cuda_array_interface__`)."""


@dataclass(frozen=True)
class Deadline:
    """A moment on the monotonic clock, and how many seconds lay before it when it was set."""

    seconds: float
    expires: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(seconds, time.monotonic() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds left; negative once it has passed."""
        return self.expires - time.monotonic()


@dataclass(frozen=True)
class Address:
    """How to reach one block of one run. Picklable; to be gathered by the client and given to every peer's `connect`.

    `offers` maps a transport to what its `connect` needs; `refusals` maps the others to why this block has them not.
    """

    run: str
    block: int
    process: str
    offers: Mapping[str, Any]
    refusals: Mapping[str, str] = field(default_factory=dict)


class Envelope(NamedTuple):
    """One side of one message, in words for errors and as its identity within a run."""

    transport: str
    block: int
    peer: int
    sequence: int
    sends: bool

    def __str__(self) -> str:
        source, target = (self.block, self.peer) if self.sends else (self.peer, self.block)
        return f"message {self.sequence} from block {source} to block {target} ({self.transport})"


class Pending(ABC):
    """A posted message. Its buffer belongs to the channel until `wait` returns."""

    def __init__(self, stop: Stop, message: Envelope) -> None:
        self.stop = stop
        self.message = message

    @property
    @abstractmethod
    def done(self) -> bool:
        """True once `wait` will not sleep: the message was carried, or failed."""

    @abstractmethod
    def settle(self) -> None:
        """Finish a message that is done, in the thread that waits for it; raises `ChannelError` if it failed."""

    def wait(self, deadline: Deadline) -> None:
        """On return the bytes sent may be overwritten; the bytes received are all there. Only the step thread waits.

        Raises `Aborted` (the block was told to stop), `ChannelTimeout` (names blocks, sequence, seconds) or
        `ChannelError` (the peer died, closed, or sent another number of bytes). After any of them close the channel.
        """
        while True:
            self.stop.check()
            if self.done:
                return self.settle()
            remaining = deadline.remaining
            if remaining <= 0:
                state = "taken" if self.message.sends else "there"
                raise ChannelTimeout(f"{self.message} was not {state} after {deadline.seconds:g} s")
            self.stop.bell.sleep(min(remaining, SLICE))


class BufferMessage(Pending):
    """One side of a message that is copied from or to a buffer. Whoever copies it calls `finish`, on any thread."""

    def __init__(self, stop: Stop, message: Envelope, buffer: Buffer) -> None:
        super().__init__(stop, message)
        self.buffer = checked(buffer)
        self._finished = False
        self._error: str | None = None

    @property
    def done(self) -> bool:
        return self._finished

    def finish(self, error: str | None = None) -> None:
        """Note that the message is done, well or not."""
        self._error = error
        self._finished = True

    def settle(self) -> None:
        if self._error is not None:
            raise ChannelError(f"{self.message}: {self._error}")


class Channel(ABC):
    """One block's end of a transport, for one run. `run` names the run and its attempt: no two of them ever mix. It
    holds a secret, so that nobody else sends in its name: no message for people shows it.

    Order of calls: construct, `address`, `connect`, `greet`, any number of `send` and `receive`, `close`. The step
    thread greets, sends, receives and waits; the other calls may come from any thread, but not at the same time.
    Connections are mutual: who connects to a peer is among that peer's `peers`. A send may complete before the peer has
    received, so a run that went well closes its channels after *all* blocks have finished waiting.
    """

    name: ClassVar[str]
    direct = False
    """Whether GPUs of one host may fill each other's ghost cells themselves, past the channel."""

    def __init__(self, run: str, block: int, stop: Stop) -> None:
        self.run = run
        self.block = block
        self.stop = stop
        self._peers: dict[int, Any] = {}

    @abstractmethod
    def address(self) -> Address:
        """The address by which peers connect to this block; valid until `close`."""

    @abstractmethod
    def connect(self, peers: Mapping[int, Address]) -> None:
        """Prepare to exchange messages with these blocks (a superset of those used will do); does not wait for them.

        Raises `ChannelError` if one cannot be reached in principle.
        """

    @property
    def peers(self) -> Collection[int]:
        """The blocks to which this one is connected."""
        return self._peers

    def greet(self, deadline: Deadline) -> None:
        """Exchange a message with every peer, all blocks at once. On return each is there, every path works, and from
        now on the death of a peer ends the waits for it within seconds. Raises as `Pending.wait` does."""
        inbox, outbox = np.empty((len(self.peers), GREETING_BYTES), np.uint8), np.zeros(GREETING_BYTES, np.uint8)
        pending = [self.receive(peer, GREETING, row) for peer, row in zip(self.peers, inbox, strict=True)]
        pending += [self.send(peer, GREETING, outbox) for peer in self.peers]
        for message in pending:
            message.wait(deadline)

    @abstractmethod
    def send(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        """Post a message. The bytes must be ready (on a GPU: event synchronised) and stay untouched until `wait`."""

    @abstractmethod
    def receive(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        """Post a receive for as many bytes as the peer sends. After `wait` kernels that read them may be enqueued."""

    @abstractmethod
    def close(self) -> None:
        """Give everything back within a few seconds; peers that still wait for this block get a `ChannelError`.

        Any thread; idempotent.
        """

    def _known(self, peer: int) -> Any:
        """The entry of a connected peer."""
        if peer not in self._peers:
            raise ChannelError(f"block {self.block} is not connected to block {peer} ({self.name})")
        return self._peers[peer]

    def _envelope(self, peer: int, sequence: int, *, sends: bool) -> Envelope:
        return Envelope(self.name, self.block, peer, sequence, sends)


def on_device(buffer: Buffer) -> bool:
    return hasattr(buffer, "__cuda_array_interface__")


def checked(buffer: Buffer) -> Buffer:
    """Return the buffer. Raises BadInput where it is none of a message."""
    if buffer.ndim != 1 or buffer.dtype != np.uint8 or not buffer.flags.c_contiguous:
        raise BadInput(
            f"a message is a contiguous 1-D uint8 array, not {buffer.dtype} of shape {buffer.shape}: "
            "pass array.reshape(-1).view('u1')"
        )
    return buffer


def copy(pairs: Iterable[tuple[Buffer, Buffer]]) -> None:
    """Copy each (target, source) of equal size; on return all bytes are there, and nothing reads the sources any more.

    Pairs with a device array are copied on the caller's current CUDA stream, which is synchronised once, at the end.
    """
    device = []
    for target, source in pairs:
        if on_device(target) or on_device(source):
            device.append((target, source))
        else:
            np.copyto(target, source)
    if device:
        _copy_on_stream(device)


def staged(buffer: Buffer) -> np.ndarray:
    """The bytes in host memory: the buffer itself, or a copy of a device array."""
    if not on_device(buffer):
        return buffer
    host = np.empty(buffer.size, np.uint8)
    copy([(host, buffer)])
    return host


def _copy_on_stream(pairs: Iterable[tuple[Buffer, Buffer]]) -> None:
    from cupy.cuda import get_current_stream, runtime

    stream = get_current_stream()
    for target, source in pairs:  # memcpyDefault: the driver sees from a pointer on which device, or host, it is
        runtime.memcpyAsync(_pointer(target), _pointer(source), target.size, runtime.memcpyDefault, stream.ptr)
    stream.synchronize()


def _pointer(buffer: Buffer) -> int:
    if on_device(buffer):
        return buffer.__cuda_array_interface__["data"][0]
    return buffer.ctypes.data
