"""Messages between blocks of one process: one copy, from the sender's buffer into the receiver's.

A mailbox matches the messages sent to a block with the receives that it has posted.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Mapping

from taskflow.common.errors import ChannelError
from taskflow.runtime.machine.channel.base import (
    PROCESS,
    Address,
    Buffer,
    BufferMessage,
    Channel,
    Pending,
    copy,
    on_device,
)
from taskflow.runtime.machine.channel.stop import Stop

Key = tuple[int, int]
"""(source block, sequence number) of a message to the owner of the mailbox."""
Waiting = dict[Key, "LocalMessage"]

_open: weakref.WeakValueDictionary[tuple[str, int], LocalChannel] = weakref.WeakValueDictionary()
_guard = threading.Lock()


class LocalMessage(BufferMessage):
    """One side of a message. The thread that adds the second side finishes both."""

    def finish(self, error: str | None = None) -> None:
        super().finish(error)
        self.stop.bell.ring()


class Mailbox:
    """The messages to one block, by key. Any thread may `put`; the owner's step thread calls `take`.

    The second side to arrive copies directly from the sender's buffer into the receiver's. Copies from or to a device
    are left to the owner's step thread, which makes them on its own stream in its next wait, for any message.
    """

    descriptor = None

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._lock = threading.Lock()
        self._sent, self._awaited = Waiting(), Waiting()
        self._met: deque[tuple[LocalMessage, LocalMessage]] = deque()
        self._lost: dict[int, str] = {}
        self._closed: str | None = None
        stop.bell.attach(self)

    def put(self, key: Key, message: LocalMessage) -> None:
        """Add a message to the owner. It is done when its bytes are in the buffer of the receive."""
        self._meet(key, message, self._sent, self._awaited)

    def take(self, key: Key, message: LocalMessage) -> None:
        """Add a receive of the owner."""
        self._meet(key, message, self._awaited, self._sent)

    def _meet(self, key: Key, mine: LocalMessage, waiting: Waiting, opposite: Waiting) -> None:
        with self._lock:
            other = opposite.pop(key, None)
            problem = self._closed or self._lost.get(key[0])
            if other is None and problem is None:
                if key in waiting:
                    raise ChannelError(f"{mine.message} was posted twice")
                waiting[key] = mine
                return
        if other is None:
            mine.finish(problem)
            return
        sent, awaited = (mine, other) if waiting is self._sent else (other, mine)
        if sent.buffer.size != awaited.buffer.size:
            problem = f"{sent.buffer.size} bytes were sent, {awaited.buffer.size} expected"
            sent.finish(problem)
            awaited.finish(problem)
        elif on_device(sent.buffer) or on_device(awaited.buffer):
            self._met.append((sent, awaited))
            self._stop.bell.ring()
        else:
            self._carry([(sent, awaited)])

    @staticmethod
    def _carry(met: list[tuple[LocalMessage, LocalMessage]]) -> None:
        problem = None
        try:
            copy([(awaited.buffer, sent.buffer) for sent, awaited in met])
        except Exception as error:  # reported to both sides
            problem = f"the copy failed: {error!r}"
        for sent, awaited in met:
            sent.finish(problem)
            awaited.finish(problem)

    def progress(self) -> bool:
        met = [self._met.popleft() for _ in range(len(self._met))]
        if met:
            self._carry(met)
        return bool(met)

    def arm(self) -> bool:
        return not self._met

    def lose(self, source: int, reason: str) -> None:
        """Expect no more messages from `source`: those already put remain, other receives from it fail."""
        with self._lock:
            self._lost.setdefault(source, reason)
            failed = [self._awaited.pop(key) for key in list(self._awaited) if key[0] == source]
        for message in failed:
            message.finish(reason)

    def lost(self, source: int) -> str | None:
        """Return why no more messages will come from `source`, or None."""
        return self._lost.get(source)

    def close(self, reason: str) -> None:
        """Fail all present and future messages. Idempotent."""
        with self._lock:
            self._closed = self._closed or reason
            failed = [*self._sent.values(), *self._awaited.values()]
            self._sent.clear()
            self._awaited.clear()
        while self._met:
            failed.extend(self._met.popleft())
        self._stop.bell.detach(self)
        for message in failed:
            message.finish(reason)


class MailboxChannel(Channel):
    """A channel that receives through a mailbox."""

    def __init__(self, run: str, block: int, stop: Stop) -> None:
        super().__init__(run, block, stop)
        self.mailbox = Mailbox(stop)

    def receive(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        self._known(peer)
        message = LocalMessage(self.stop, self._envelope(peer, sequence, sends=False), buffer)
        self.mailbox.take((peer, sequence), message)
        return message


class LocalChannel(MailboxChannel):
    """A block's mailbox, registered for its neighbours in this process under (run, block)."""

    name = "local"

    def __init__(self, run: str, block: int, stop: Stop) -> None:
        super().__init__(run, block, stop)
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

    def greeting(self, peer: int) -> int:
        return 1  # messages of all sizes take the same path

    def send(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        message = LocalMessage(self.stop, self._envelope(peer, sequence, sends=True), buffer)
        self._known(peer).mailbox.put((self.block, sequence), message)
        return message

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
