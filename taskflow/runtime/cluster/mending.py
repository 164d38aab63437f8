"""A cluster that has lost workers: whom a nanny replaces, and who is left."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from taskflow.errors import RunFailed
from taskflow.runtime.host import known_workers

if TYPE_CHECKING:
    from distributed import Client

RETURN = 30.0  # seconds that new workers may take to come
KILL = 10.0  # seconds that a nanny may take to end a worker that does not end by itself
LOOK = 0.2


def mended(client: Client, lost: Collection[str], count: int) -> list[str]:
    """The workers that can be used after some were lost: as many as there were, if they come back soon.

    A nanny replaces a worker that died. One that does not answer, or whose process cannot use its GPU any more, it is
    asked to replace; without a nanny that one is left alone. Raises RunFailed where no worker is left, or no scheduler.
    """
    known = known_workers(client)
    stale = {worker for worker in lost if worker in known}
    if nannied := sorted(worker for worker in stale if known[worker]["nanny"]):
        stale -= _replaced(client, nannied)
    until = time.monotonic() + RETURN
    while True:
        usable = sorted(set(known_workers(client)) - stale)
        if len(usable) >= count or time.monotonic() > until:
            break
        time.sleep(LOOK)
    if not usable:
        raise RunFailed("no worker is left in the cluster")
    return usable


def _replaced(client: Client, workers: Sequence[str]) -> set[str]:
    """Have nannies replace these workers; returns the workers that were replaced."""
    try:
        ended = client.restart_workers(workers, timeout=KILL, raise_for_error=False)
    except (OSError, ValueError):  # one has left meanwhile, or none of them can be asked
        return set()
    return {worker for worker, how in ended.items() if how == "OK"}
