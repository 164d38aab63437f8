"""The way of two blocks of one host to shared memory: a file descriptor without a name, handed over a local socket.

The socket stays. It is the bell by which a block wakes its sleeping peer; and as the system closes it with its process,
it tells at once that the peer has died. Nothing of all this has a name in a file system that a crash could leave there.
Every user of a host can see the name of such a socket, and call it: both sides ask the system whose process is there.
"""

from __future__ import annotations

import os
import socket
import struct
import uuid
from functools import cache
from pathlib import Path
from typing import NamedTuple

from taskflow.runtime.machine.channel.peer_ring import open_segment, ring_problem

SECONDS = 5.0
"""Seconds that a peer may take between its call and its introduction, which are one piece of code."""
CREDENTIALS = struct.Struct("3i")
"""SO_PEERCRED tells of the process at the other end: process, user, group."""


@cache
def host() -> str:
    """Names what two processes must share to reach each other: a running system, its network space, and the user.

    Containers of one machine may have equal host names, and so may different machines: host names say nothing.
    Raises OSError where the system does not tell.
    """
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    spaces = [Path(f"/proc/self/ns/{space}").stat().st_ino for space in ("net", "user")]
    return ":".join(map(str, (boot, *spaces, os.getuid())))


@cache
def peer_problem() -> str | None:
    """Why this process cannot share memory with others; None if it can."""
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
    """A call: the caller's introduction, the memory to share, and the socket to it."""

    introduction: bytes
    segment: int
    bell: socket.socket


class Door:
    """A socket in the abstract namespace, where others of this user bring memory. It waits only for who has called."""

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
        """The next visitor; None where nobody calls, or one who has no business here."""
        try:
            bell, _ = self.socket.accept()
        except BlockingIOError:
            return None
        segments: list[int] = []
        try:
            _check_user(bell)  # who has no business here is not waited for
            bell.settimeout(SECONDS)
            introduction, segments, _, _ = socket.recv_fds(bell, 4096, 1)
            if len(segments) == 1:
                bell.setblocking(False)
                return Visitor(introduction, segments[0], bell)
        except OSError:  # hung up, or silent
            pass
        for segment in segments:
            os.close(segment)
        bell.close()
        return None

    def close(self) -> None:
        """Let nobody call any more."""
        self.socket.close()


def _check_user(connection: socket.socket) -> None:
    """Raises PermissionError where the process at the other end is another user's."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, CREDENTIALS.size)
    _, user, _ = CREDENTIALS.unpack(credentials)
    if user != os.getuid():
        raise PermissionError(f"a process of user {user} is there")


def call(name: str, introduction: bytes, segment: int) -> socket.socket:
    """Bring memory to the door of that name; returns the socket to the peer. Raises OSError if none is there."""
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
