"""Messages as calls between Dask actors: slow (a millisecond, through host memory), but available wherever Dask works.

Calls address the peer's worker (`worker.rpc`) instead of an actor handle: a handle never returns from a call to a dead
worker, while the underlying call fails immediately. Every block keeps one call open at each peer, its lifeline. It
returns when the peer closes and fails when the peer dies.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
from collections.abc import Mapping

import numpy as np

from taskflow.common.errors import ChannelError, ChannelTimeout
from taskflow.runtime.machine.channel.base import PROCESS, Address, Buffer, Envelope, Pending, checked, staged
from taskflow.runtime.machine.channel.home import Home
from taskflow.runtime.machine.channel.local import LocalMessage, Mailbox, MailboxChannel
from taskflow.runtime.machine.channel.stop import Stop

LIFELINE = -1
"""Sequence number of the call that stays open."""
SECONDS = 60.0
"""Time limit of a remote call, whether or not a thread waits for it."""


class ActorCall(Pending):
    """A remote call that carries a message. Done when the peer has the bytes."""

    def __init__(
        self, stop: Stop, message: Envelope, mailbox: Mailbox, future: concurrent.futures.Future[None]
    ) -> None:
        super().__init__(stop, message)
        self._mailbox = mailbox
        self._future = future
        future.add_done_callback(lambda _: stop.bell.ring())

    @property
    def done(self) -> bool:
        return self._future.done() or self._mailbox.lost(self.message.peer) is not None

    def settle(self) -> None:
        if not self._future.done():
            raise ChannelError(f"{self.message}: {self._mailbox.lost(self.message.peer)}")
        error = None if self._future.cancelled() else self._future.exception()
        if isinstance(error, TimeoutError):
            raise ChannelTimeout(f"{self.message} was not taken by the peer's actor")
        if error is not None or self._future.cancelled():
            raise ChannelError(f"{self.message}: {error or 'the call was cancelled'}")


class ActorChannel(MailboxChannel):
    """A mailbox that other actors fill by calling `deliver`.

    The owner of this channel must define `async def deliver(self, *message): await channel.deliver(*message)`.
    """

    name = "actor"

    def __init__(self, run: str, block: int, stop: Stop, home: Home) -> None:
        super().__init__(run, block, stop)
        self._home = home
        self._loop = home.loop
        self._closing = asyncio.Event()

    def address(self) -> Address:
        return Address(self.run, self.block, PROCESS, {self.name: (self._home.address, self._home.key)})

    def connect(self, peers: Mapping[int, Address]) -> None:
        for peer, address in peers.items():
            self._peers[peer] = address.offers[self.name]
            asyncio.run_coroutine_threadsafe(self._hold(peer), self._loop)

    def send(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        worker, _ = self._known(peer)
        payload = staged(checked(buffer))
        if worker.startswith("inproc"):  # Dask would pass the array itself, which the sender may overwrite too early
            payload = payload.copy()
        call = asyncio.wait_for(self._call(peer, sequence, payload), SECONDS)
        future = asyncio.run_coroutine_threadsafe(call, self._loop)
        return ActorCall(self.stop, self._envelope(peer, sequence, sends=True), self.mailbox, future)

    async def deliver(self, run: str, source: int, sequence: int, payload: np.ndarray) -> None:
        """Accept a message from the peer, in the worker's event loop. On return the bytes are received or stored."""
        if run != self.run or self._closing.is_set():
            raise ChannelError(f"block {self.block} is not, or no longer, part of that run")
        if sequence == LIFELINE:
            await self._closing.wait()
        else:
            message = LocalMessage(self.stop, self._envelope(source, sequence, sends=False), payload)
            self.mailbox.put((source, sequence), message)
            if message.done:  # the receive was posted: report a wrong size to the sender too
                message.settle()

    async def _call(self, peer: int, sequence: int, payload: np.ndarray) -> None:
        worker, key = self._peers[peer]
        await self._home.call(worker, key, "deliver", self.run, self.block, sequence, payload)

    async def _hold(self, peer: int) -> None:
        """Keep a lifeline to the peer."""
        reason = f"block {peer} closed its channel"
        try:
            await self._call(peer, LIFELINE, np.empty(0, np.uint8))
        except Exception as error:
            reason = f"block {peer} is lost ({error or type(error).__name__})"
        self.mailbox.lose(peer, reason)

    def close(self) -> None:
        self.mailbox.close(f"block {self.block} closed its channel")
        with contextlib.suppress(RuntimeError):  # the loop has ended, and with it every call
            self._loop.call_soon_threadsafe(self._closing.set)
