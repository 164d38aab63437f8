"""The home of a block actor: its process, and how actors of one cluster call each other."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from distributed import Worker


class Home(ABC):
    """The worker that hosts an actor, at an `address`, the worker's `key` for the actor, and the event loop of both."""

    def __init__(self, address: str, key: str, loop: asyncio.AbstractEventLoop) -> None:
        self.address, self.key, self.loop = address, key, loop

    @property
    def alone(self) -> bool:
        """True if the worker, and so its cluster, is reachable from this host or process only."""
        place = urlsplit(self.address)
        try:
            return place.scheme == "inproc" or ip_address(place.hostname or "").is_loopback
        except ValueError:  # a host name
            return place.hostname == "localhost"

    @property
    @abstractmethod
    def abandoned(self) -> str | None:
        """Why the actor has no client left, or None while its worker runs and keeps it."""

    @abstractmethod
    async def deliver(self, address: str, key: str, *message: Any) -> None:
        """Call `deliver` of another actor."""


class DaskHome(Home):
    """A Dask worker."""

    def __init__(self, worker: Worker, key: str) -> None:
        super().__init__(worker.address, key, worker.loop.asyncio_loop)
        self._worker = worker

    @classmethod
    def here(cls) -> DaskHome:
        """Return the home of the actor whose constructor calls this."""
        from distributed import get_worker

        worker = get_worker()
        return cls(worker, str(worker.get_current_task()))

    @property
    def abandoned(self) -> str | None:
        if self._worker.status.name in ("closing", "closed", "failed"):
            return "its worker is ending"
        return None if self.key in self._worker.state.actors else "its client is gone"

    async def deliver(self, address: str, key: str, *message: Any) -> None:
        from distributed.protocol import to_serialize

        *head, payload = message
        worker = self._worker.rpc(address)
        reply = await worker.actor_execute(
            function="deliver", actor=key, args=[*head, to_serialize(payload)], kwargs={}
        )
        if reply["status"] != "OK":
            raise reply["exception"]
