"""This process as the only worker of its cluster, without Dask: actors in an event loop on a thread.

It has what runs use of a Dask client. Loading Dask and starting its scheduler would take longer than a small run.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

from taskflow.common.errors import RunFailed
from taskflow.runtime.machine.actor import prompt
from taskflow.runtime.machine.channel import Home

_numbers = itertools.count(1)


class Here:
    """A cluster of one worker in this process. Close it.

    Actors are called as in Dask: every method is asynchronous, and returns a future.
    """

    def __init__(self) -> None:
        self.status, self.address = "running", f"inproc://{os.getpid()}/{next(_numbers)}"
        self.actors: dict[str, Any] = {}
        self._prompt: ExitStack | None = None
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="taskflow-actors", daemon=True)
        self._thread.start()

    def run(self, function: Callable[..., Any], **options: Any) -> Any:
        """Call a function, with this object if it has a parameter `dask_worker`."""
        asks = "dask_worker" in inspect.signature(function).parameters
        return function(**options, **({"dask_worker": self} if asks else {}))

    def submit(self, kind: Callable[..., Any], *arguments: Any, key: str, **_: object) -> Future[ActorHere]:
        """Make an actor, and return a future of it."""
        return asyncio.run_coroutine_threadsafe(self._made(kind, arguments, key), self.loop)

    async def _made(self, kind: Callable[..., Any], arguments: Sequence[Any], key: str) -> ActorHere:
        self.actors[key] = kind(*arguments, home=HomeHere(self, key))
        if self._prompt is None:  # from now on: the next actor need not make it so again
            self._prompt = ExitStack()
            self._prompt.enter_context(prompt)
        return ActorHere(self.actors[key], self.loop, key)

    def cancel(self, futures: Sequence[Future[ActorHere]]) -> None:
        """Release actors."""
        for future in futures:
            if future.done() and not future.exception():
                self.actors.pop(future.result().key, None)

    def as_current(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """Release all actors and end the thread."""
        self.status = "closed"
        self.actors.clear()
        if self._prompt is not None:
            self._prompt.close()
        asyncio.run_coroutine_threadsafe(_ended(), self.loop).result()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


async def _ended() -> None:
    """End the remaining tasks of an event loop."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


class ActorHere:
    """An actor as its client sees it."""

    def __init__(self, actor: Any, loop: asyncio.AbstractEventLoop, key: str) -> None:
        self.actor, self._loop, self.key = actor, loop, key

    def __getattr__(self, name: str) -> Callable[..., Future[Any]]:
        method = getattr(self.actor, name)
        return lambda *arguments: asyncio.run_coroutine_threadsafe(method(*arguments), self._loop)

    def start(self, jobs: Any, patience: float, seconds: float) -> JobHere | Future[Any]:
        """Start the job of a single block without the event loop: waking it takes longer than a small step."""
        try:
            job = self.actor.begin(jobs)
        except RunFailed as error:
            job = Future[Any]()
            job.set_exception(error)
            return job
        if job is not None:
            return JobHere(self.actor, job, patience)
        return asyncio.run_coroutine_threadsafe(self.actor.start(jobs, patience, seconds), self._loop)


class JobHere:
    """The status of a started job: when it has ended, or after `patience` seconds."""

    def __init__(self, actor: Any, job: Future[None], patience: float) -> None:
        self._actor, self._job, self._until = actor, job, time.monotonic() + patience

    def done(self) -> bool:
        return self._job.done() or time.monotonic() >= self._until

    def result(self, timeout: float) -> Any:
        """Return the status once the job has ended or the time is over. Raises TimeoutError if neither occurs within
        `timeout` seconds.
        """
        try:
            self._job.result(max(0.0, min(timeout, self._until - time.monotonic())))
        except TimeoutError:
            if not self.done():
                raise
        return self._actor.present


class HomeHere(Home):
    """This process as the home of an actor."""

    def __init__(self, here: Here, key: str) -> None:
        super().__init__(here.address, key, here.loop)
        self._here = here

    @property
    def actors(self) -> dict[str, Any]:
        return self._here.actors

    def of(self, key: str) -> HomeHere:
        return HomeHere(self._here, key)

    async def call(self, address: str, key: str, method: str, *arguments: Any) -> Any:
        return await getattr(self._here.actors[key], method)(*arguments)

    async def run(self, address: str, function: Callable[..., Any], **options: Any) -> Any:
        return self._here.run(function, **options)
