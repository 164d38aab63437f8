"""A cluster that has lost workers: whom a nanny replaces, and who is left."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING

from taskflow.errors import RunFailed

if TYPE_CHECKING:
    from distributed import Client

RETURN = 30.0  # seconds that new workers may take to come
KILL = 10.0  # seconds that a nanny may take to end a worker that does not end by itself
LOOK = 0.2


def mended(client: Client, lost: Collection[str], wanted: int) -> list[str]:
    """The workers that can be used after some were lost: as many as there were, if they come back soon.

    A nanny replaces a worker that died. One that does not answer, or whose process cannot use its GPU any more, it is
    asked to replace; without a nanny that one is left alone. Raises RunFailed where no worker is left, or no scheduler.
    """
    try:
        there = client.scheduler_info(n_workers=-1)["workers"]
        stale = {worker for worker in lost if worker in there}
        nannied = sorted(worker for worker in stale if there[worker]["nanny"])
        if nannied:
            ended = client.restart_workers(nannied, timeout=KILL, raise_for_error=False)
            stale -= {worker for worker, how in ended.items() if how == "OK"}
        until = time.monotonic() + RETURN
        while True:
            usable = sorted(set(client.scheduler_info(n_workers=-1)["workers"]) - stale)
            if len(usable) >= wanted or time.monotonic() > until:
                break
            time.sleep(LOOK)
    except (OSError, ValueError) as error:
        raise RunFailed(f"the scheduler does not answer ({type(error).__name__}: {error})") from error
    if not usable:
        raise RunFailed("no worker is left in the cluster")
    return usable
