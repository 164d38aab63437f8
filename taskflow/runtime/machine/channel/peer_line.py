"""The line to one peer: messages matched by number over two rings of bytes.

What nobody awaits stays in the ring, so that a peer that runs ahead waits for us; unless it stands in the way of what
is awaited: then it is kept aside until its receive is posted.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from taskflow.errors import ChannelError
from taskflow.runtime.machine.channel.base import Buffer, BufferMessage, Envelope, copy, on_device, staged
from taskflow.runtime.machine.channel.peer_ring import PeerRings
from taskflow.runtime.machine.channel.stop import Stop


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
