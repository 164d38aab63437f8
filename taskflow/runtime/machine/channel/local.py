"""Messages between blocks of one process: one copy, from the sender's buffer into the receiver's."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Collection, Mapping

from taskflow.errors import ChannelError
from taskflow.runtime.machine.channel.base import PROCESS, Address, Channel, Envelope, Pending
from taskflow.runtime.machine.channel.buffer import Buffer
from taskflow.runtime.machine.channel.mailbox import Half, Mailbox
from taskflow.runtime.machine.channel.stop import Stop

_open: weakref.WeakValueDictionary[tuple[str, int], LocalChannel] = weakref.WeakValueDictionary()
_guard = threading.Lock()


class LocalChannel(Channel):
    """A block's mailbox, found by its neighbours in this process under (run, block)."""

    name = "local"

    def __init__(self, run: str, block: int, stop: Stop) -> None:
        super().__init__(run, block, stop)
        self.mailbox = Mailbox(stop)
        self._peers: dict[int, LocalChannel] = {}
        self._closed = False
        with _guard:
            if (run, block) in _open:
                raise ChannelError(f"block {block} of this run is already open in this process")
            _open[run, block] = self

    def address(self) -> Address:
        return Address(self.run, self.block, PROCESS, {self.name: None})

    def connect(self, peers: Mapping[int, Address]) -> None:
        for peer in peers:
            channel = _open.get((self.run, peer))
            if channel is None:
                raise ChannelError(f"block {peer} of this run has no open channel in this process")
            self._peers[peer] = channel

    @property
    def peers(self) -> Collection[int]:
        return self._peers

    def send(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        half = Half(self.stop, Envelope(self.name, self.block, peer, sequence, True), buffer)
        self._known(self._peers, peer).mailbox.put((self.block, sequence), half)
        return half

    def receive(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        self._known(self._peers, peer)
        half = Half(self.stop, Envelope(self.name, self.block, peer, sequence, False), buffer)
        self.mailbox.take((peer, sequence), half)
        return half

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        reason = f"block {self.block} closed its channel"
        with _guard:
            _open.pop((self.run, self.block), None)
        for peer in self._peers.values():
            peer.mailbox.lose(self.block, reason)
        self.mailbox.close(reason)
        self._peers.clear()
