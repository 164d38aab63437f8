"""Asking the workers of a cluster, all at once, without waiting for one that does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from taskflow.errors import Lost, RunFailed, TaskflowError

if TYPE_CHECKING:
    from distributed import Client

ANSWER = 60.0  # seconds; a worker may have to load libraries


def everywhere(client: Client, function: Callable[..., Any], workers: Sequence[str], **options: Any) -> dict[str, Any]:
    """What `function(**options)` returns on each of these workers, by address.

    Raises Lost where a worker is gone or does not answer, RunFailed where it cannot call the function.
    """

    async def one(worker: str) -> Any:
        return (await asyncio.wait_for(client.run(function, workers=[worker], **options), ANSWER))[worker]

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*map(one, workers), return_exceptions=True)

    found = dict(zip(workers, client.sync(all_of_them), strict=True))
    for worker, answer in found.items():
        if isinstance(answer, TaskflowError):
            raise answer
        if isinstance(answer, OSError):
            lost = Lost(f"worker {worker} does not answer ({type(answer).__name__}: {answer})")
            lost.workers = frozenset([worker])
            raise lost
        if isinstance(answer, BaseException):
            reason = f"{type(answer).__name__}: {answer}"
            raise RunFailed(f"worker {worker} cannot do it ({reason}); is taskflow installed there?") from answer
    return found
