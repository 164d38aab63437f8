"""Messages between processes of one host through shared memory, moved by the step threads at both ends.

The block with the lower number of a pair opens the memory and brings it to the other. A message moves while its two
blocks wait, or as it is sent; a block that sleeps is woken by its peer.
"""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from taskflow.errors import BadArgument, ChannelError
from taskflow.runtime.machine.channel.base import PROCESS, Address, Buffer, Channel, Pending
from taskflow.runtime.machine.channel.peer_door import Door, call, host, peer_problem
from taskflow.runtime.machine.channel.peer_line import PeerLine, PeerMessage
from taskflow.runtime.machine.channel.peer_ring import PeerRings, open_segment
from taskflow.runtime.machine.channel.stop import Stop


class PeerOffer(NamedTuple):
    """An offer to peers: the host on which the block lives (see `host`), and the name of its door."""

    host: str
    door: str


class PeerChannel(Channel):
    """A block's lines to its peers of the same host. A lock keeps `close` and the step thread apart."""

    name = "peer"

    def __init__(self, run: str, block: int, stop: Stop) -> None:
        problem = peer_problem()
        if problem is not None:
            raise BadArgument("channel", '"peer"', f": {problem}", 'use "auto"')
        super().__init__(run, block, stop)
        self._door = Door()
        self._events = select.epoll()
        self._events.register(self._door.socket, select.EPOLLIN)
        self.descriptor: int | None = self._events.fileno()
        self._bells: dict[int, tuple[socket.socket, int]] = {}  # by descriptor: the socket, and to whom
        self._lock = threading.Lock()
        self._closed: str | None = None
        stop.bell.attach(self)

    def address(self) -> Address:
        return Address(self.run, self.block, PROCESS, {self.name: PeerOffer(host(), self._door.name)})

    def connect(self, peers: Mapping[int, Address]) -> None:
        with self._lock:
            for peer, address in peers.items():
                self._peers[peer] = PeerLine()
                if self.block < peer:
                    self._visit(peer, address.offers[self.name].door)

    def _visit(self, peer: int, door: str) -> None:
        with self._sharing(peer):
            segment = open_segment()
            try:
                self._attach(peer, call(door, self._introduction(self.block), segment), segment, side=0)
            except ConnectionRefusedError:
                self._peers[peer].lose(f"block {peer} closed its channel or died before this block connected")
            finally:
                os.close(segment)

    @contextmanager
    def _sharing(self, peer: int) -> Iterator[None]:
        """Raises ChannelError where the system refuses: too many open files, no memory, a policy."""
        try:
            yield
        except (OSError, ValueError) as error:
            raise ChannelError(f"block {self.block} cannot share memory with block {peer}: {error}") from error

    def _introduction(self, block: int) -> bytes:
        """The introduction of a block of this run."""
        return f"{self.run}\0{block}".encode()

    def _attach(self, peer: int, bell: socket.socket, segment: int, side: int) -> None:
        self._bells[bell.fileno()] = bell, peer
        self._peers[peer].rings = PeerRings(segment, side, bell.fileno())
        self._events.register(bell, select.EPOLLIN)

    def send(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        message = PeerMessage(self.stop, self._envelope(peer, sequence, sends=True), buffer)
        with self._lock:
            self._known(peer).send(message)
        return message

    def receive(self, peer: int, sequence: int, buffer: Buffer) -> Pending:
        message = PeerMessage(self.stop, self._envelope(peer, sequence, sends=False), buffer)
        with self._lock:
            self._known(peer).receive(message)
        return message

    def progress(self) -> bool:
        moved = False
        with self._lock:
            for line in self._peers.values():
                moved |= line.move()
        return moved

    def arm(self) -> bool:
        with self._lock:
            if self._closed is not None:
                return True
            happened = [self._attend(descriptor) for descriptor, _ in self._events.poll(0)]
            return not any(happened) and all(line.arm() for line in self._peers.values())

    def _attend(self, descriptor: int) -> bool:
        """See to a socket; return whether something is different now."""
        if descriptor == self._door.socket.fileno():
            self._welcome()
            return True
        bell, peer = self._bells[descriptor]
        try:
            rings = len(bell.recv(4096))
        except BlockingIOError:
            return False
        except OSError:
            rings = 0
        if rings:  # what for is looked up in the memory
            return False
        self._events.unregister(descriptor)  # but not closed: what has come is still taken, with rings for the peer
        line = self._peers[peer]
        farewell = line.rings is not None and line.rings.closed
        line.lose(f"block {peer} {'closed its channel' if farewell else 'died or its connection broke'}")
        return True

    def _welcome(self) -> None:
        visitor = self._door.answer()
        if visitor is None:
            return
        expected = {self._introduction(peer): peer for peer, line in self._peers.items() if line.rings is None}
        peer = expected.get(visitor.introduction)
        try:
            if peer is None:
                visitor.bell.close()
            else:
                with self._sharing(peer):
                    self._attach(peer, visitor.bell, visitor.segment, side=1)
        finally:
            os.close(visitor.segment)

    def close(self) -> None:
        with self._lock:
            if self._closed is not None:
                return
            self._closed = f"block {self.block} closed its channel"
            self.stop.bell.detach(self)
            for line in self._peers.values():
                line.close(self._closed)
            self._peers.clear()
            for bell, _ in self._bells.values():
                bell.close()
            self._door.close()
            self._events.close()
        self.stop.bell.ring()
