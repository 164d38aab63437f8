"""The workers of a cluster: concurrent calls, and replacement of lost workers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from taskflow.common.errors import Lost, RunFailed, SchedulerGone, TaskflowError
from taskflow.runtime.host.heartbeat import Heartbeats, begin_heartbeat
from taskflow.runtime.host.here import Here
from taskflow.runtime.machine.channel import run_on

if TYPE_CHECKING:
    from distributed import Client

ANSWER = 60.0  # seconds for an answer of the scheduler
LOADED = 600.0  # seconds for an answer of a worker, which may load libraries. Heartbeats notice losses earlier
LOOK = 0.5  # seconds between checks of workers that have not answered
RETURN = 30.0  # seconds for new workers to start
KILL = 10.0  # seconds for a nanny to end a worker that does not exit


def known_workers(client: Client | Here) -> dict[str, Any]:
    """Return the workers of the scheduler, by address. Waits for a lost connection to it up to ANSWER seconds.

    Raises RunFailed if the scheduler has gone or does not answer.
    """
    if isinstance(client, Here):
        return {client.address: {"nanny": None, "status": "running"}}
    until = time.monotonic() + ANSWER
    while client.status == "connecting" and time.monotonic() < until:
        time.sleep(LOOK)
    if client.status != "running":
        raise SchedulerGone("the scheduler has exited; start again with another one")
    try:
        return dict(client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER)["workers"])
    except (OSError, ValueError) as error:
        raise RunFailed(f"the scheduler does not answer ({type(error).__name__}: {error})") from error


def listen(client: Client | Here, workers: Sequence[str]) -> None:
    """Monitor the heartbeats of these workers from now on. Raises Lost if one is gone or does not answer."""
    if not isinstance(client, Here):
        heartbeats = Heartbeats.of(client)
        if unknown := heartbeats.unknown(workers):
            without: Mapping[str, Any] = {}
            sources = _asked(client, begin_heartbeat, dict.fromkeys(unknown, without), heartbeats)
            heartbeats.follow(_checked(sources))


def run_on_workers(
    client: Client | Here, function: Callable[..., Any], workers: Sequence[str], **options: Any
) -> dict[str, Any]:
    """Call `function(**options)` on each of these workers. The client asks one worker per host, whose heartbeat it
    monitors from now on, and this one asks the others.

    Returns the results by address. Raises Lost if a worker is gone or does not answer, RunFailed if it cannot call the
    function.
    """
    if isinstance(client, Here):
        return {worker: client.run(function, **options) for worker in workers}
    hosts: dict[str | None, list[str]] = {}
    for worker in workers:
        hosts.setdefault(urlsplit(worker).hostname, []).append(worker)
    listen(client, [first for first, *_ in hosts.values()])
    heartbeats = Heartbeats.of(client)
    alone = {first: options for first, *others in hosts.values() if not others}
    relaying = {
        mine[0]: {"do": function, "near": mine, "options": options, "silence": heartbeats.bound}
        for mine in hosts.values()
        if len(mine) > 1
    }
    answers = _asked(client, function, alone, heartbeats)
    for relay, relayed in _asked(client, ask_others, relaying, heartbeats).items():
        answers |= relayed if isinstance(relayed, dict) else {relay: relayed}
    return _checked({worker: answers[worker] for worker in workers if worker in answers})


def _asked(
    client: Client, function: Callable[..., Any], options: Mapping[str, Mapping[str, Any]], heartbeats: Heartbeats
) -> dict[str, Any]:
    """Call a function on workers with the options of each, and return the results, or errors, by address."""

    async def one(worker: str) -> Any:
        return (await client.run(function, workers=[worker], **options[worker]))[worker]

    return dict(client.sync(_gathered, one, options, heartbeats)) if options else {}


async def ask_others(
    do: Callable[..., Any], near: Sequence[str], options: Mapping[str, Any], silence: float, dask_worker: Any
) -> dict[str, Any]:
    """Call a function from this worker on the workers `near` it, and return the results, or errors, by address."""
    heartbeats = Heartbeats.of(dask_worker)
    heartbeats.bound = silence

    def asking(function: Callable[..., Any], given: Mapping[str, Any]) -> Callable[[str], Awaitable[Any]]:
        return lambda worker: run_on(dask_worker, worker, function, dict(given))

    sources = await _gathered(asking(begin_heartbeat, {}), heartbeats.unknown(near), heartbeats)
    heartbeats.follow({worker: one for worker, one in sources.items() if not isinstance(one, BaseException)})
    return await _gathered(asking(do, options), near, heartbeats)


async def _gathered(
    one: Callable[[str], Awaitable[Any]], workers: Collection[str], heartbeats: Heartbeats
) -> dict[str, Any]:
    """Await the answer of `one` worker for all of them concurrently. A lost worker has a TimeoutError."""
    asked = {worker: asyncio.ensure_future(asyncio.wait_for(one(worker), LOADED)) for worker in workers}
    failures: dict[str, Any] = {}
    try:
        while waiting := {worker: call for worker, call in asked.items() if worker not in failures and not call.done()}:
            await asyncio.wait(waiting.values(), timeout=LOOK)
            for worker, reason in heartbeats.lost(waiting).items():
                if asked[worker].cancel():
                    failures[worker] = TimeoutError(reason)
        answers = await asyncio.gather(*asked.values(), return_exceptions=True)
    finally:  # after a signal: the loop would print the error of a call that failed later
        for call in asked.values():
            call.cancel()
    return dict(zip(asked, answers, strict=True)) | failures


def _checked(answers: dict[str, Any]) -> dict[str, Any]:
    """Return the answers of workers. Raises an error among them, as `run_on_workers` does."""
    for worker, answer in answers.items():
        if isinstance(answer, TaskflowError):
            raise answer
        if isinstance(answer, OSError):
            lost = Lost(f"worker {worker} does not answer ({type(answer).__name__}: {answer})")
            lost.workers = frozenset([worker])
            raise lost
        if isinstance(answer, BaseException):
            reason = f"{type(answer).__name__}: {answer}"
            raise RunFailed(f"worker {worker} cannot do it ({reason}); is taskflow installed there?") from answer
    return answers


def remaining_workers(client: Client | Here, lost: Collection[str], count: int) -> list[str]:
    """Return the usable workers after some were lost: `count` of them, if they come back soon.

    A nanny replaces a worker that died. It is asked to replace one that does not answer, or whose process can no longer
    use its GPU; without a nanny such a worker is not used. Raises RunFailed if no worker or no scheduler is left.
    """
    known = known_workers(client)
    stale = {worker for worker in lost if worker in known}
    if isinstance(client, Here):  # nothing replaces the only worker, this process
        return _usable(known, stale)
    if nannied := sorted(worker for worker in stale if known[worker]["nanny"]):
        try:
            restarts = client.restart_workers(nannied, timeout=KILL, raise_for_error=False)
        except (OSError, ValueError):  # one has left meanwhile, or none can be reached
            restarts = {}
        stale -= {worker for worker, outcome in restarts.items() if outcome == "OK"}
    until = time.monotonic() + RETURN
    while len((known := known_workers(client)).keys() - stale) < count and time.monotonic() <= until:
        time.sleep(LOOK)
    return _usable(known, stale)


def _usable(known: Collection[str], stale: Collection[str]) -> list[str]:
    """Return the known workers that are not stale. Raises RunFailed if none is left."""
    if usable := sorted(worker for worker in known if worker not in stale):
        return usable
    raise RunFailed("no worker is left in the cluster")
