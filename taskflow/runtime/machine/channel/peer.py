"""Messages between processes of one host through shared memory, moved by the step threads at both ends.

The block with the lower number of a pair creates the memory and passes it to the other. A message moves when it is
sent, or while its two blocks wait. A sleeping block is woken by its peer.

The memory is an unnamed file descriptor, passed over a local socket. The socket stays open as the bell by which a block
wakes its sleeping peer. The system closes it with its process, so the death of a peer is reported immediately. A crash
leaves nothing in any file system. Every user of the host can see the name of the socket and connect to it, so both
sides ask the system which user owns the process at the other end.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from taskflow.common.errors import BadArgument, ChannelError
from taskflow.runtime.machine.channel.base import PROCESS, Address, Buffer, Channel, Pending
from taskflow.runtime.machine.channel.peer_ring import PeerLine, PeerMessage, PeerRings, open_segment, ring_problem
from taskflow.runtime.machine.channel.stop import Stop

SECONDS = 5.0
"""Longest time in seconds between a peer's call and its introduction, which it sends right after."""
CREDENTIALS = struct.Struct("3i")
"""Result of SO_PEERCRED for the process at the other end: process, user, group."""


@cache
def host() -> str:
    """Return a name of the things that two processes must share to reach each other: a running system, its network
    namespace, its user namespace, and the user.

    Host names would not do: containers of one machine, and different machines, may have equal ones. Raises OSError if
    the system does not provide these names.
    """
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    spaces = [Path(f"/proc/self/ns/{space}").stat().st_ino for space in ("net", "user")]
    return ":".join(map(str, (boot, *spaces, os.getuid())))


@cache
def peer_problem() -> str | None:
    """Return why this process cannot share memory with others, or None if it can."""
    problem = ring_problem()
    if problem is not None:
        return problem
    try:
        host()
        os.close(open_segment())
        Door().close()
    except OSError as error:
        return f"this system does not let processes share memory ({error})"
    return None


class Visitor(NamedTuple):
    """A call: the caller's introduction, the memory to share, and the socket to the caller."""

    introduction: bytes
    segment: int
    bell: socket.socket


class Door:
    """A socket in the abstract namespace, where other processes of this user deliver memory. It does not block if no
    one has called.
    """

    def __init__(self) -> None:
        self.name = f"taskflow-{uuid.uuid4().hex}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self.socket.bind(f"\0{self.name}")
            self.socket.listen(socket.SOMAXCONN)
            self.socket.setblocking(False)
        except OSError:
            self.socket.close()
            raise

    def answer(self) -> Visitor | None:
        """Return the next visitor, or None if none has called or the caller is not valid."""
        try:
            bell, _ = self.socket.accept()
        except BlockingIOError:
            return None
        segments: list[int] = []
        try:
            _check_user(bell)  # do not wait for an unauthorised caller
            bell.settimeout(SECONDS)
            introduction, segments, _, _ = socket.recv_fds(bell, 4096, 1)
            if len(segments) == 1:
                bell.setblocking(False)
                return Visitor(introduction, segments[0], bell)
        except OSError:  # closed, or timed out
            pass
        for segment in segments:
            os.close(segment)
        bell.close()
        return None

    def close(self) -> None:
        self.socket.close()


def _check_user(connection: socket.socket) -> None:
    """Raises PermissionError if the process at the other end belongs to another user."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    _, user, _ = CREDENTIALS.unpack(credentials)
    if user != os.getuid():
        raise PermissionError(f"a process of user {user} is there")


def call(name: str, introduction: bytes, segment: int) -> socket.socket:
    """Deliver memory to the door `name`, and return the socket to the peer. Raises OSError without such a door."""
    bell = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        bell.settimeout(SECONDS)
        bell.connect(f"\0{name}")
        _check_user(bell)
        socket.send_fds(bell, [introduction], [segment])
        bell.setblocking(False)
    except OSError:
        bell.close()
        raise
    return bell


class PeerOffer(NamedTuple):
    """An offer to peers: the block's host (see `host`) and the name of its door."""

    host: str
    door: str


class PeerChannel(Channel):
    """A block's lines to its peers on the same host. A lock keeps `close` and the step thread apart."""

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
        self._bells: dict[int, tuple[socket.socket, int]] = {}  # by descriptor: socket and peer
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
        """Raises ChannelError if the system refuses: too many open files, no memory, a policy."""
        try:
            yield
        except (OSError, ValueError) as error:
            raise ChannelError(f"block {self.block} cannot share memory with block {peer}: {error}") from error

    def _introduction(self, block: int) -> bytes:
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
        """Handle an event of a socket, and return whether the state has changed."""
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
        if rings:  # the reason is in the shared memory
            return False
        self._events.unregister(descriptor)  # but not closed: bytes that have arrived are still read, which rings
        line = self._peers[peer]
        farewell = line.rings is not None and line.rings.closed()
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
