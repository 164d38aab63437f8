"""Channels: byte messages between a block and its neighbours, over any transport.

A new transport is a subclass of `Channel` with its own `Pending`:

- `address()` describes how peers reach this block. The client gathers all addresses for `connect`.
- `send` and `receive` post and return immediately. A message is identified by (source, target, sequence), so the two
  sides may post in any order, and a message may arrive before its receive is posted.
- All waiting happens in `Pending.wait`, which is implemented here. A transport only reports when a message is `done`,
  and completes it in `settle`. A thread that completes a message rings `stop.bell`. A transport that must be driven
  attaches itself to the bell as an `Engine`.
- If a peer dies or closes, its messages become done with a `ChannelError` within seconds, without a request.

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
from taskflow.runtime.machine.channel.stop import Stop

PROCESS = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
"""Identifies this process among all processes of all hosts. The random part distinguishes containers with equal names.
"""

SEQUENCES = 1 << 35
"""Sequence numbers of a program are 0 <= n < SEQUENCES. The next SEQUENCES numbers belong to collectives (`allreduce`).
"""

GREETING, GREETING_BYTES = 2 * SEQUENCES - 2, 1 << 16
"""Sequence number and size of a greeting, large enough to use the path of large messages. UCX detects the death of a
peer in shared memory only after the paths in use have been answered."""

LIFELINE = GREETING - 1
"""Sequence number of a message that is never sent: its receive ends only when the peer closes or dies."""

Buffer: TypeAlias = Any
"""The bytes of a message: a 1-D contiguous uint8 `numpy.ndarray`, or a device array of the same form
(`__cuda_array_interface__`).
"""


@dataclass(frozen=True)
class Deadline:
    """A time on the monotonic clock, and the seconds until then when it was set."""

    seconds: float
    expires: float

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(seconds, time.monotonic() + seconds)

    @property
    def remaining(self) -> float:
        """Seconds until the deadline; negative afterwards."""
        return self.expires - time.monotonic()


@dataclass(frozen=True)
class Address:
    """Address of one block of one run. Picklable: the client gathers addresses and passes them to `connect` of the
    peers.

    `offers` maps a transport to the data that `connect` needs; `refusals` maps an unavailable transport to the reason.
    """

    run: str
    block: int
    process: str
    offers: Mapping[str, Any]
    refusals: Mapping[str, str] = field(default_factory=dict)


class Envelope(NamedTuple):
    """One side of a message: its identity within a run, and its description in errors."""

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
        """True if `wait` will not sleep: the message was delivered or has failed."""

    @abstractmethod
    def settle(self) -> None:
        """Complete a message that is done, in the waiting thread. Raises ChannelError if it failed."""

    def wait(self, deadline: Deadline) -> None:
        """Wait for the message, in the step thread. On return sent bytes may be overwritten, and received bytes are
        complete.

        Raises Aborted (the block was stopped), ChannelTimeout (names blocks, sequence, seconds) or ChannelError (the
        peer died, closed, or sent a different number of bytes). Close the channel after any of them.
        """
        while True:
            self.stop.check()
            if self.done:
                return self.settle()
            remaining = deadline.remaining
            if remaining <= 0:
                state = "taken" if self.message.sends else "there"
                raise ChannelTimeout(f"{self.message} was not {state} after {deadline.seconds:g} s")
            self.stop.bell.sleep(min(remaining, self.stop.slice))


class BufferMessage(Pending):
    """One side of a message that is copied from or to a buffer. The thread that copies it calls `finish`."""

    def __init__(self, stop: Stop, message: Envelope, buffer: Buffer) -> None:
        super().__init__(stop, message)
        self.buffer = checked(buffer)
        self._finished = False
        self._error: str | None = None

    @property
    def done(self) -> bool:
        return self._finished

    def finish(self, error: str | None = None) -> None:
        self._error = error
        self._finished = True

    def settle(self) -> None:
        if self._error is not None:
            raise ChannelError(f"{self.message}: {self._error}")


class Channel(ABC):
    """One block's end of a transport, for one run. `run` identifies the run and its attempt, so that their messages
    never mix. It contains a secret, which stops others from sending in its name, and must not appear in messages to
    users.

    Order of calls: construct, `address`, `connect`, `greet`, any number of `send` and `receive`, `close`. The step
    thread greets, sends, receives and waits. The other calls may come from any thread, but not concurrently.
    Connections are mutual: if A is connected to B, then B to A. A send may complete before the peer has received it, so
    a successful run closes its channels after *all* blocks have finished waiting.
    """

    name: ClassVar[str]
    direct = False
    """Whether GPUs of one host may fill each other's ghost cells directly, without the channel."""

    def __init__(self, run: str, block: int, stop: Stop) -> None:
        self.run = run
        self.block = block
        self.stop = stop
        self._peers: dict[int, Any] = {}

    @abstractmethod
    def address(self) -> Address:
        """Return the address by which peers connect to this block. Valid until `close`."""

    @abstractmethod
    def connect(self, peers: Mapping[int, Address]) -> None:
        """Prepare to exchange messages with these blocks, which may include unused ones. Does not wait for them.

        Raises ChannelError if a block is unreachable.
        """

    @property
    def peers(self) -> Collection[int]:
        return self._peers

    @property
    def routes(self) -> dict[int, str]:
        """The transport to each connected block."""
        return dict.fromkeys(self._peers, self.name)

    def greet(self, deadline: Deadline) -> None:
        """Exchange a message with every peer. Collective. On return every peer has answered, every path works, and the
        death of a peer ends the waits for it within seconds. Raises as `Pending.wait`.
        """
        outbox = np.zeros(GREETING_BYTES, np.uint8)
        sizes = {peer: self.greeting(peer) for peer in self.peers}
        pending = [self.receive(peer, GREETING, np.empty(size, np.uint8)) for peer, size in sizes.items()]
        pending += [self.send(peer, GREETING, outbox[:size]) for peer, size in sizes.items()]
        for message in pending:
            message.wait(deadline)

    def greeting(self, peer: int) -> int:
        """Return the bytes of a greeting with a peer."""
        return GREETING_BYTES

    @abstractmethod
    def send(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        """Post a message. Its bytes must be ready (on a GPU: event synchronised) and stay unchanged until `wait`
        returns.
        """

    @abstractmethod
    def receive(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        """Post a receive of as many bytes as the peer sends. Kernels that read them may be enqueued after `wait`."""

    @abstractmethod
    def close(self) -> None:
        """Release everything within a few seconds. Peers that still wait for this block get a ChannelError.

        May be called from any thread. Idempotent.
        """

    def _known(self, peer: int) -> Any:
        if peer not in self._peers:
            raise ChannelError(f"block {self.block} is not connected to block {peer} ({self.name})")
        return self._peers[peer]

    def _envelope(self, peer: int, sequence: int, *, sends: bool) -> Envelope:
        return Envelope(self.name, self.block, peer, sequence, sends)


def on_device(buffer: Buffer) -> bool:
    return hasattr(buffer, "__cuda_array_interface__")


def checked(buffer: Buffer) -> Buffer:
    """Return `buffer`. Raises BadInput if it cannot hold a message."""
    if buffer.ndim != 1 or buffer.dtype != np.uint8 or not buffer.flags.c_contiguous:
        raise BadInput(
            f"a message is a contiguous 1-D uint8 array, not {buffer.dtype} of shape {buffer.shape}: "
            "pass array.reshape(-1).view('u1')"
        )
    return buffer


def copy(pairs: Iterable[tuple[Buffer, Buffer]]) -> None:
    """Copy each (target, source) of equal size. On return all bytes are copied, and the sources are no longer read.

    Pairs with a device array are copied on the caller's current CUDA stream, which is synchronised once at the end.
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
    """Return the bytes in host memory: the buffer itself, or a copy of a device array."""
    if not on_device(buffer):
        return buffer
    host = np.empty(buffer.size, np.uint8)
    copy([(host, buffer)])
    return host


def _copy_on_stream(pairs: Iterable[tuple[Buffer, Buffer]]) -> None:
    from cupy.cuda import get_current_stream, runtime

    stream = get_current_stream()
    for target, source in pairs:  # memcpyDefault: the driver infers device or host from the pointers
        runtime.memcpyAsync(_pointer(target), _pointer(source), target.size, runtime.memcpyDefault, stream.ptr)
    stream.synchronize()


def _pointer(buffer: Buffer) -> int:
    if on_device(buffer):
        return buffer.__cuda_array_interface__["data"][0]
    return buffer.ctypes.data
