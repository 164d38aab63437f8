"""Asking the workers of a cluster, all at once, without waiting for one that does not answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from taskflow.errors import Lost, RunFailed, SchedulerGone, TaskflowError
from taskflow.runtime.host.heartbeat import Heartbeats, begin_heartbeat

if TYPE_CHECKING:
    from distributed import Client

ANSWER = 60.0  # seconds; a worker may have to load libraries
LOOK = 0.5  # seconds between two looks at whether those who have not answered are still there


def known_workers(client: Client) -> dict[str, Any]:
    """Ask the scheduler for its workers, by address. A client that has lost the scheduler looks for it as long as
    Dask does. Raises RunFailed where it has gone or does not answer.
    """
    until = time.monotonic() + ANSWER
    while client.status == "connecting" and time.monotonic() < until:
        time.sleep(LOOK)
    if client.status != "running":
        raise SchedulerGone("the scheduler has gone; begin again with another one")
    try:
        return dict(client.sync(client.scheduler.identity, n_workers=-1, callback_timeout=ANSWER)["workers"])
    except (OSError, ValueError) as error:
        raise RunFailed(f"the scheduler does not answer ({type(error).__name__}: {error})") from error


def run_on_workers(
    client: Client, function: Callable[..., Any], workers: Sequence[str], **options: Any
) -> dict[str, Any]:
    """Call `function(**options)` on each of these workers; the results, by address. Their heartbeats are followed
    from now on.

    Raises Lost where a worker is gone or does not answer, RunFailed where it cannot call the function.
    """
    heartbeats = Heartbeats.of(client)
    if unknown := heartbeats.unknown(workers):
        heartbeats.follow(_asked(client, begin_heartbeat, unknown, heartbeats, {}))
    return _asked(client, function, workers, heartbeats, options)


def _asked(
    client: Client, function: Callable[..., Any], workers: Sequence[str], heartbeats: Heartbeats, options: Mapping
) -> dict[str, Any]:
    async def one(worker: str) -> Any:
        return (await asyncio.wait_for(client.run(function, workers=[worker], **options), ANSWER))[worker]

    async def all_of_them() -> dict[str, Any]:
        asked = {worker: asyncio.ensure_future(one(worker)) for worker in workers}
        failures: dict[str, Any] = {}
        while waiting := {worker: call for worker, call in asked.items() if worker not in failures and not call.done()}:
            await asyncio.wait(waiting.values(), timeout=LOOK)
            for worker, reason in heartbeats.lost(waiting).items():
                if asked[worker].cancel():
                    failures[worker] = TimeoutError(reason)
        answers = await asyncio.gather(*asked.values(), return_exceptions=True)
        return dict(zip(asked, answers, strict=True)) | failures

    results = client.sync(all_of_them)
    for worker, answer in results.items():
        if isinstance(answer, TaskflowError):
            raise answer
        if isinstance(answer, OSError):
            lost = Lost(f"worker {worker} does not answer ({type(answer).__name__}: {answer})")
            lost.workers = frozenset([worker])
            raise lost
        if isinstance(answer, BaseException):
            reason = f"{type(answer).__name__}: {answer}"
            raise RunFailed(f"worker {worker} cannot do it ({reason}); is taskflow installed there?") from answer
    return dict(results)
