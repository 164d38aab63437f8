"""The home of an actor: its process, and how processes of one cluster call each other."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
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
    def actors(self) -> dict[str, Any]:
        """The actors of the worker, by key."""

    @property
    def abandoned(self) -> str | None:
        """Why the actor has no client left, or None while its worker runs and keeps it."""
        return None if self.key in self.actors else "its client is gone"

    @abstractmethod
    def of(self, key: str) -> Home:
        """Return the home of another actor of the worker."""

    @abstractmethod
    async def call(self, address: str, key: str, method: str, *arguments: Any) -> Any:
        """Call a method of an actor of any worker. Raises its error, or OSError if the worker has gone."""

    @abstractmethod
    async def run(self, address: str, function: Callable[..., Any], **options: Any) -> Any:
        """Call a function on any worker, with the worker if it has a parameter `dask_worker`. Raises as `call`."""


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
    def actors(self) -> dict[str, Any]:
        actors: dict[Any, Any] = self._worker.state.actors
        return actors

    @property
    def abandoned(self) -> str | None:
        ends = self._worker.status.name in ("closing", "closed", "failed")
        return "its worker is ending" if ends else super().abandoned

    def of(self, key: str) -> DaskHome:
        return DaskHome(self._worker, key)

    async def call(self, address: str, key: str, method: str, *arguments: Any) -> Any:
        from distributed.protocol import to_serialize

        sent = [to_serialize(argument) for argument in arguments]
        reply = await self._worker.rpc(address).actor_execute(function=method, actor=key, args=sent, kwargs={})
        return _result(reply)

    async def run(self, address: str, function: Callable[..., Any], **options: Any) -> Any:
        return await run_on(self._worker, address, function, options)


async def run_on(worker: Worker, address: str, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Call a function from one worker on another, as `Client.run` does. Raises as `Home.call`."""
    from distributed.protocol.pickle import dumps

    return _result(await worker.rpc(address).run(function=dumps(function), kwargs=dumps(options)))


def _result(reply: dict[str, Any]) -> Any:
    from distributed.core import clean_exception

    if reply["status"] != "OK":
        _, error, _ = clean_exception(reply["exception"])
        raise error or RuntimeError("a call failed without an error")
    return reply["result"]
