"""The heartbeat of processes: within seconds it is known whether they live, whatever they do meanwhile.

Whoever waits for an answer cannot tell a process that is busy from one that is no more: to load a library can hold the
interpreter, and with it all that answers, for half a minute. So every worker sends a byte every half second, from a
thread outside of the interpreter. None comes from a process that was killed or stopped, nor from a host that has
vanished, though the connection to it seems to be as it was. They are sent to who shows a token first, which the worker
tells over Dask's connections, and nobody else learns anything.
"""

from __future__ import annotations

import secrets
import socket
import threading
import time
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from taskflow.common.errors import BadInput
from taskflow.runtime.machine.kernel.agreement import KernelError
from taskflow.runtime.machine.kernel.compile_host import library

if TYPE_CHECKING:
    from distributed import Client

INTERVAL = 0.5  # seconds between two beats
SILENCE = 4.0  # seconds without one after which a process is lost
TOKEN = 32  # bytes
AWAKE = 1.0  # seconds between two looks that count; who looks later was stopped, or busy with something else

_followed: weakref.WeakKeyDictionary[Client, Heartbeats] = weakref.WeakKeyDictionary()
_lock = threading.RLock()  # a client that is collected meanwhile is no longer heard


class HeartbeatSource(NamedTuple):
    """The source of a heartbeat: a port, and the token to be shown there."""

    port: int
    token: bytes


def begin_heartbeat(dask_worker: Any) -> HeartbeatSource | None:
    """Begin the heartbeat of this worker process, on the interface of its own connections.

    Returns None where there is none: the worker lives in the process of its client, or has no compiler, or no such
    interface.
    """
    host = urlsplit(dask_worker.address).hostname
    if dask_worker.address.startswith("inproc") or host is None:
        return None
    try:
        return _beating(host)
    except (OSError, BadInput, KernelError):
        return None


@cache
def _beating(host: str) -> HeartbeatSource:
    """Begin the thread that beats, for as long as the process lives."""
    run = library(Path(__file__).with_suffix(".cpp").read_text(encoding="utf-8")).heartbeat_run
    door = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    door.setblocking(False)  # who has left before being let in is not waited for
    place = HeartbeatSource(int(door.getsockname()[1]), secrets.token_bytes(TOKEN))
    arguments = (door.detach(), int(1000 * INTERVAL), place.token, TOKEN)
    threading.Thread(target=run, args=arguments, name="taskflow-heartbeat", daemon=True).start()
    return place


@dataclass(eq=False)
class _Heartbeat:
    """The heartbeat of one worker: seconds since it was heard last, of those in which somebody listened."""

    connection: socket.socket
    token: bytes  # what of it has not been shown yet
    heard: bool = False
    silent: float = 0.0
    looked: float = field(default_factory=time.monotonic)
    lost: str | None = None

    def listen(self, bound: float) -> str | None:
        """Return why nothing more will come from it, if so, after so many seconds of silence."""
        now = time.monotonic()
        self.silent, self.looked = self.silent + min(now - self.looked, AWAKE), now
        try:
            if self.token:
                self.token = self.token[self.connection.send(self.token) :]
            while self.connection.recv(4096):
                self.heard, self.silent = True, 0.0
            ended: str | None = "its process has ended"
        except BlockingIOError:
            ended = f"no sign of life for {bound:g} s" if self.silent >= bound else None
        except OSError as error:
            ended = f"its connection broke ({error.strerror})"
        if self.heard and self.lost is None:
            self.lost = ended
        return self.lost


class Heartbeats:
    """The heartbeats of a cluster's workers, as its client hears them; `bound` seconds of silence are borne.

    A worker counts from its first beat on: where none ever comes, because the network lets none through, nothing is
    said of it. Threads may share them, as runs side by side on one cluster do.
    """

    def __init__(self) -> None:
        self.bound = SILENCE
        self._heartbeats: dict[str, _Heartbeat | None] = {}  # None: it has no heartbeat

    @classmethod
    def of(cls, client: Client) -> Heartbeats:
        """The heartbeats that a client hears, for as long as it lives."""
        with _lock:
            if client not in _followed:
                heartbeats = _followed[client] = cls()
                weakref.finalize(client, heartbeats.close)
            return _followed[client]

    def unknown(self, workers: Iterable[str]) -> list[str]:
        """Return the workers to whom nobody listens yet, or whose place another process may have taken."""
        with _lock:
            gone = {worker for worker, heartbeat in self._heartbeats.items() if heartbeat and heartbeat.lost}
            return [worker for worker in workers if worker not in self._heartbeats or worker in gone]

    def follow(self, places: Mapping[str, HeartbeatSource | None]) -> None:
        """Listen to these workers, by address, from now on, unless another thread does. Does not wait for them."""
        with _lock:
            for worker in self.unknown(places):
                self._leave(worker)
                host, place = urlsplit(worker).hostname, places[worker]
                heard = None if place is None or host is None else _Heartbeat(_connect(host, place.port), place.token)
                self._heartbeats[worker] = heard

    def lost(self, workers: Iterable[str]) -> dict[str, str]:
        """Return which of these workers are lost, and why. Call it every second, or more often, while waiting."""
        with _lock:
            known = {worker: heartbeat for worker in workers if (heartbeat := self._heartbeats.get(worker))}
            heard = {worker: heartbeat.listen(self.bound) for worker, heartbeat in known.items()}
        return {worker: reason for worker, reason in heard.items() if reason is not None}

    def close(self) -> None:
        """Stop to listen to anybody."""
        with _lock:
            for worker in tuple(self._heartbeats):
                self._leave(worker)

    def _leave(self, worker: str) -> None:
        if heartbeat := self._heartbeats.pop(worker, None):
            heartbeat.connection.close()


def _connect(host: str, port: int) -> socket.socket:
    """Begin a connection without waiting for it."""
    connection = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    connection.setblocking(False)
    connection.connect_ex((host, port))
    return connection
