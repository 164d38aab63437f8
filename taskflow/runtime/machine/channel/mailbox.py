"""Where messages that come from this process meet the receives that await them."""

from __future__ import annotations

import threading
from collections import deque

from taskflow.errors import ChannelError
from taskflow.runtime.machine.channel import buffer as buffers
from taskflow.runtime.machine.channel.base import Envelope, Pending
from taskflow.runtime.machine.channel.buffer import Buffer
from taskflow.runtime.machine.channel.stop import Stop

Key = tuple[int, int]
"""(source block, sequence number) of a message to the owner of the mailbox."""


class Half(Pending):
    """One side of a message; whoever brings the other side finishes both."""

    def __init__(self, stop: Stop, message: Envelope, buffer: Buffer) -> None:
        super().__init__(stop, message)
        self.buffer = buffers.checked(buffer)
        self._finished = False
        self._error: str | None = None

    @property
    def done(self) -> bool:
        return self._finished

    def finish(self, error: str | None = None) -> None:
        """Done, well or not; wakes the waiter. Any thread."""
        self._error = error
        self._finished = True
        self.stop.bell.ring()

    def settle(self) -> None:
        if self._error is not None:
            raise ChannelError(f"{self.message}: {self._error}")


class Mailbox:
    """The messages to one block, by key; `put` by any thread, `take` by the owner's step thread.

    Whoever comes second copies, straight from the sender's buffer into the receiver's. A copy that involves a device
    is left to the owner's step thread, which makes it in its next wait, for whatever message, on its own stream.
    """

    descriptor = None

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._lock = threading.Lock()
        self._sent: dict[Key, Half] = {}
        self._awaited: dict[Key, Half] = {}
        self._met: deque[tuple[Half, Half]] = deque()
        self._lost: dict[int, str] = {}
        self._closed: str | None = None
        stop.bell.attach(self)

    def put(self, key: Key, half: Half) -> None:
        """A message for the owner; done when its bytes are in the receive's buffer."""
        self._meet(key, half, self._sent, self._awaited)

    def take(self, key: Key, half: Half) -> None:
        """A receive of the owner."""
        self._meet(key, half, self._awaited, self._sent)

    def _meet(self, key: Key, mine: Half, here: dict[Key, Half], there: dict[Key, Half]) -> None:
        with self._lock:
            other = there.pop(key, None)
            problem = self._closed or self._lost.get(key[0])
            if other is None and problem is None:
                if key in here:
                    raise ChannelError(f"{mine.message} was posted twice")
                here[key] = mine
                return
        if other is None:
            mine.finish(problem)
            return
        sent, awaited = (mine, other) if here is self._sent else (other, mine)
        if sent.buffer.size != awaited.buffer.size:
            problem = f"{sent.buffer.size} bytes were sent, {awaited.buffer.size} awaited"
            sent.finish(problem)
            awaited.finish(problem)
        elif buffers.on_device(sent.buffer) or buffers.on_device(awaited.buffer):
            self._met.append((sent, awaited))
            self._stop.bell.ring()
        else:
            self._carry([(sent, awaited)])

    @staticmethod
    def _carry(met: list[tuple[Half, Half]]) -> None:
        problem = None
        try:
            buffers.copy([(awaited.buffer, sent.buffer) for sent, awaited in met])
        except Exception as error:  # both sides must learn of it, whatever it is
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
        """Nothing more will come from `source`: what it has put stays, what else is awaited of it fails."""
        with self._lock:
            self._lost.setdefault(source, reason)
            failed = [self._awaited.pop(key) for key in list(self._awaited) if key[0] == source]
        for half in failed:
            half.finish(reason)

    def lost(self, source: int) -> str | None:
        """Why nothing more will come from `source`, or None."""
        return self._lost.get(source)

    def close(self, reason: str) -> None:
        """Fail all that is here and all that will come. Idempotent."""
        with self._lock:
            self._closed = self._closed or reason
            failed = [*self._sent.values(), *self._awaited.values()]
            self._sent.clear()
            self._awaited.clear()
        while self._met:
            failed.extend(self._met.popleft())
        self._stop.bell.detach(self)
        for half in failed:
            half.finish(reason)
