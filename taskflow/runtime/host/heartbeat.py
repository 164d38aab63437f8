"""The heartbeat of processes: reports within seconds whether they live, whatever they are doing.

A request cannot distinguish a busy process from a dead one: loading a library can hold the interpreter for half a
minute. So every worker sends a byte every half second, from a thread outside of the interpreter. No byte comes from a
process that was killed or stopped, nor from a host that has vanished while its connection seems intact. Bytes are sent
only to peers that present a token, which the worker sends over Dask's connections.
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
from taskflow.runtime.host.here import Here
from taskflow.runtime.machine.kernel.agreement import KernelError
from taskflow.runtime.machine.kernel.compile_host import library

if TYPE_CHECKING:
    from distributed import Client

INTERVAL = 0.5  # seconds between two beats
SILENCE = 4.0  # seconds without one after which a process is lost
TOKEN = 32  # bytes
AWAKE = 1.0  # most seconds of silence between two looks: in a longer gap this process was stopped or busy

_followed: weakref.WeakKeyDictionary[Client | Here, Heartbeats] = weakref.WeakKeyDictionary()
_lock = threading.RLock()  # reentrant: a client may be collected, and closed, meanwhile


class HeartbeatSource(NamedTuple):
    """The source of a heartbeat: a port, and the token to present there."""

    port: int
    token: bytes


def begin_heartbeat(dask_worker: Any) -> HeartbeatSource | None:
    """Start the heartbeat of this worker process, on the interface of the process's connections.

    Returns None if the worker is in the process of its client, has no compiler, or cannot open a port.
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
    """Start the thread that beats, for the life of the process."""
    run = library(Path(__file__).with_suffix(".cpp").read_text(encoding="utf-8")).heartbeat_run
    door = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    door.setblocking(False)  # do not wait for a peer that has left
    place = HeartbeatSource(int(door.getsockname()[1]), secrets.token_bytes(TOKEN))
    arguments = (door.detach(), int(1000 * INTERVAL), place.token, TOKEN)
    threading.Thread(target=run, args=arguments, name="taskflow-heartbeat", daemon=True).start()
    return place


@dataclass(eq=False)
class _Heartbeat:
    """The heartbeat of one worker. `silent`: seconds since its last beat, counted only while listening."""

    connection: socket.socket
    token: bytes  # its unsent rest
    heard: bool = False
    silent: float = 0.0
    looked: float = field(default_factory=time.monotonic)
    lost: str | None = None

    def listen(self, bound: float) -> str | None:
        """Return why the heartbeat has ended, or None. `bound`: seconds of silence that are tolerated."""
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
    """The heartbeats of a cluster's workers, as received by its client. `bound` seconds of silence are tolerated.

    A worker is monitored from its first beat on. If none ever comes, because the network blocks them, it is not
    reported. Thread-safe, for concurrent runs on one cluster.
    """

    def __init__(self) -> None:
        self.bound = SILENCE
        self._heartbeats: dict[str, _Heartbeat | None] = {}  # None: no heartbeat

    @classmethod
    def of(cls, client: Client | Here) -> Heartbeats:
        """Return the heartbeats of a client, for its lifetime."""
        with _lock:
            if client not in _followed:
                heartbeats = _followed[client] = cls()
                weakref.finalize(client, heartbeats.close)
            return _followed[client]

    def unknown(self, workers: Iterable[str]) -> list[str]:
        """Return the workers that are not monitored yet, or whose address another process may have taken."""
        with _lock:
            gone = {worker for worker, heartbeat in self._heartbeats.items() if heartbeat and heartbeat.lost}
            return [worker for worker in workers if worker not in self._heartbeats or worker in gone]

    def follow(self, places: Mapping[str, HeartbeatSource | None]) -> None:
        """Monitor these workers, by address, unless another thread does. Does not wait for them."""
        with _lock:
            for worker in self.unknown(places):
                self._leave(worker)
                host, place = urlsplit(worker).hostname, places[worker]
                heard = None if place is None or host is None else _Heartbeat(_connect(host, place.port), place.token)
                self._heartbeats[worker] = heard

    def lost(self, workers: Iterable[str]) -> dict[str, str]:
        """Return the lost ones of these workers, with the reasons. Call it at least every second while waiting."""
        with _lock:
            known = {worker: heartbeat for worker in workers if (heartbeat := self._heartbeats.get(worker))}
            heard = {worker: heartbeat.listen(self.bound) for worker, heartbeat in known.items()}
        return {worker: reason for worker, reason in heard.items() if reason is not None}

    def close(self) -> None:
        with _lock:
            for worker in tuple(self._heartbeats):
                self._leave(worker)

    def _leave(self, worker: str) -> None:
        if heartbeat := self._heartbeats.pop(worker, None):
            heartbeat.connection.close()


def _connect(host: str, port: int) -> socket.socket:
    """Start a connection without waiting for it."""
    connection = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    connection.setblocking(False)
    connection.connect_ex((host, port))
    return connection
