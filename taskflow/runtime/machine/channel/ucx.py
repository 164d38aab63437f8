"""Messages between processes and hosts over UCX: a private worker per block, driven by the block's step thread.

The worker is not shared with Dask, and no progress thread causes wake-ups: a message moves while its block waits. The
core modules of ucxx are loaded on first use. They are private to ucxx but are what RAPIDS itself builds on; the extras
of this package pin their version.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from taskflow.common.errors import BadArgument, ChannelError
from taskflow.runtime.machine.channel.base import PROCESS, Address, Buffer, Channel, Envelope, Pending, checked
from taskflow.runtime.machine.channel.stop import Stop

OPTIONS = {"MM_ERROR_HANDLING": "on", "KEEPALIVE_INTERVAL": "1s"}
"""UCX options of our contexts. UCX_... variables of the user take precedence. With error handling UCX replaces shared
memory by TCP, eight times slower, unless MM_ERROR_HANDLING is on. The keepalive detects the death of a peer in
shared memory.
"""

ALONE = {"TLS": "all", "NET_DEVICES": ""}
"""UCX options on one host, which override the user's variables: memory and no network device. Over TCP, UCX listens on
every interface without a password, and any process that connects may write into the memory of this one.
"""

REMOTE = ("tcp/", "rc_", "dc_", "ud_")
"""Prefixes of the names of transports between hosts: TCP; InfiniBand and RoCE, reliable or datagrams."""

CLOSING = (100_000_000, 10)
"""Longest time to close one request or endpoint: (ns, attempts)."""

FAREWELL, FAREWELL_SECONDS = (1 << 36) - 1, 1.0
"""Sequence number of the byte that a closing block sends, because UCX does not report a close over shared memory; and
the longest time in seconds for it to leave."""


@functools.cache
def load() -> tuple[ModuleType, Any]:
    """Return the core of ucxx, and its buffer wrapper."""
    os.environ.setdefault("UCX_WARN_UNUSED_ENV_VARS", "n")  # ucxx sets variables unknown to UCX without CUDA
    import ucxx._lib.libucxx as core
    from ucxx._lib.arr import Array

    return core, Array


@functools.cache
def ucx_problem() -> str | None:
    """Return why UCX cannot be used in this process, or None if it can."""
    try:
        load()
    except Exception as error:  # a missing package, a missing or mismatched shared library
        return f"ucxx cannot be loaded ({error})"
    return None


def ways_between_hosts() -> tuple[str, ...]:
    """Return the transports of UCX here that reach other hosts, as transport/device, such as tcp/eth0 or
    rc_mlx5/mlx5_0:1.
    """
    core, _ = load()
    ways = re.findall(r"-- (\S+/\S+)", core.UCXContext({}, feature_flags=(core.Feature.TAG,)).info)
    return tuple(way for way in ways if way.startswith(REMOTE))


def open_worker(*, alone: bool) -> tuple[Any, Any]:
    """Return a context and its worker, with events to sleep on. Delete the worker first. If `alone`, only processes of
    this host and user can reach it.
    """
    core, _ = load()
    options = {key: value for key, value in OPTIONS.items() if f"UCX_{key}" not in os.environ}
    options |= ALONE if alone else {}
    context = core.UCXContext(options, feature_flags=(core.Feature.TAG, core.Feature.WAKEUP))
    worker = core.UCXWorker(context)
    worker.init_blocking_progress_mode()
    return context, worker


def guarded(operation: Callable[..., Any], *arguments: Any) -> tuple[Any, str | None]:
    """Return the result, or the error as text. Errors of ucxx cannot be pickled, nor, with Dask loaded, an exception
    whose context they are, but our errors must reach the client.
    """
    try:
        return operation(*arguments), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def secret(run: str) -> int:
    """Return 64 bits derived from the name of the run, which contains a secret."""
    return int.from_bytes(hashlib.blake2b(run.encode(), digest_size=8).digest(), "little")


def tag(run_secret: int, source: int, sequence: int) -> int:
    """Return the 64 bits by which UCX matches a message: source (28) | sequence (36), XOR the secret of the run. A
    worker accepts messages from any sender that reaches it; unmatched messages remain unread.
    """
    return run_secret ^ ((source & 0xFFFFFFF) << 36 | (sequence & 0xFFFFFFFFF))


class UCXRequest(NamedTuple):
    """A UCX request, and the buffer that UCX accesses without keeping it alive."""

    ucx: Any
    array: Any


class Peer(NamedTuple):
    """An endpoint, and the receive of the peer's farewell."""

    block: int
    endpoint: Any
    farewell: UCXRequest

    @property
    def gone(self) -> str | None:
        """Why no more messages will come from the peer, or None."""
        if not self.endpoint.alive:
            return f"block {self.block} died or its connection broke"
        return f"block {self.block} closed its channel" if self.farewell.ucx.completed else None


class UCXMessage(Pending):
    """A request on an endpoint, so that it fails when the peer dies.

    `held` keeps it and its buffer until it is settled or the channel is closed, because UCX may still write there after
    a wait was abandoned.
    """

    def __init__(self, stop: Stop, message: Envelope, peer: Peer, request: UCXRequest, held: set[Pending]) -> None:
        super().__init__(stop, message)
        self._peer = peer
        self._request = request
        self._held = held
        held.add(self)

    @property
    def done(self) -> bool:
        return self._request.ucx.completed or self._peer.gone is not None

    def settle(self) -> None:
        if not self._request.ucx.completed:
            raise ChannelError(f"{self.message}: {self._peer.gone}")
        self._held.discard(self)
        _, problem = guarded(self._request.ucx.check_error)
        if problem is not None:
            raise ChannelError(f"{self.message}: {self._peer.gone or problem}")


class UCXChannel(Channel):
    """A block's UCX worker and its endpoints to the peers.

    UCX does not report the length of a message: too few bytes go unnoticed, too many raise ChannelError. With a GPU,
    create the CUDA context before this object. A lock keeps `close` and the step thread apart. If `alone`, all blocks
    are on this host, and UCX listens to no network.
    """

    name = "ucx"

    def __init__(self, run: str, block: int, stop: Stop, *, alone: bool = True) -> None:
        problem = ucx_problem()
        if problem is not None:
            raise BadArgument("channel", '"ucx"', f": {problem}", 'install taskflow-cfd[ucx], or use "auto"')
        super().__init__(run, block, stop)
        self._core, self._array = load()
        self._context, self._worker = open_worker(alone=alone)
        self._secret = secret(run)
        self._address = bytes(self._worker.address)
        self.descriptor: int | None = self._worker.epoll_file_descriptor
        self._held: set[Pending] = set()
        self._lock = threading.Lock()
        self._closed = False
        stop.bell.attach(self)

    def address(self) -> Address:
        return Address(self.run, self.block, PROCESS, {self.name: self._address})

    def connect(self, peers: Mapping[int, Address]) -> None:
        with self._lock:
            for peer, address in peers.items():
                met, problem = guarded(self._meet, peer, address)
                if problem is not None:
                    raise ChannelError(f"block {self.block} cannot reach block {peer} over UCX: {problem}")
                self._peers[peer] = met

    def _meet(self, peer: int, address: Address) -> Peer:
        remote = self._core.UCXAddress.create_from_buffer(address.offers[self.name])
        endpoint = self._core.UCXEndpoint.create_from_worker_address(self._worker, remote, endpoint_error_handling=True)
        return Peer(peer, endpoint, self._post(endpoint.tag_recv, peer, FAREWELL, np.empty(1, np.uint8)))

    def _post(self, operation: Any, source: int, sequence: int, buffer: Buffer) -> UCXRequest:
        array = self._array(buffer)
        return UCXRequest(operation(array, self._core.UCXXTag(tag(self._secret, source, sequence))), array)

    def send(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        return self._exchange(self._envelope(peer, sequence, sends=True), self.block, buffer)

    def receive(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        return self._exchange(self._envelope(peer, sequence, sends=False), peer, buffer)

    def _exchange(self, message: Envelope, source: int, buffer: Buffer) -> Pending:
        checked(buffer)
        with self._lock:
            peer = self._known(message.peer)
            operation = peer.endpoint.tag_send if message.sends else peer.endpoint.tag_recv
            request, problem = guarded(self._post, operation, source, message.sequence, buffer)
            if problem is not None:
                raise ChannelError(f"{message}: {peer.gone or problem}")
            return UCXMessage(self.stop, message, peer, request, self._held)

    def progress(self) -> bool:
        with self._lock:
            if self._closed or not self._drive(self._worker.progress_once):
                return False
            self._drive(self._worker.progress)  # everything else
            return True

    def arm(self) -> bool:
        with self._lock:
            return self._closed or self._drive(self._worker.arm)

    def _drive(self, operation: Callable[[], bool]) -> bool:
        result, problem = guarded(operation)
        if problem is not None:
            raise ChannelError(f"UCX failed in block {self.block}: {problem}")
        return result

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self.stop.bell.detach(self)
            self._say_farewell()
            self._worker.cancel_inflight_requests(*CLOSING)
            for peer in self._peers.values():
                peer.endpoint.close_blocking(*CLOSING)
            self._peers.clear()
            self._held.clear()
            del self._worker, self._context  # in this order: a worker needs its context
        self.stop.bell.ring()

    def _say_farewell(self) -> None:
        """Notify the peers that still exist, and let earlier messages leave."""
        present = [peer.endpoint for peer in self._peers.values() if peer.gone is None]
        byte = np.zeros(1, np.uint8)
        leaving = [self._post(endpoint.tag_send, self.block, FAREWELL, byte) for endpoint in present]
        deadline = time.monotonic() + FAREWELL_SECONDS
        while self._worker.progress_once() or not all(request.ucx.completed for request in leaving):
            if time.monotonic() > deadline:
                return
