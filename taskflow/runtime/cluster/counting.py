"""Counting what Dask sends: a run of steps has to do without it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

BEATS = ("heartbeat_worker", "heartbeat-client", "keep-alive")  # at intervals of time, whatever happens
GREETING = "pickle-protocol"  # is in the first message of a connection


@contextmanager
def dask_messages() -> Iterator[Counter[str]]:
    """Counts, by operation, the messages that Dask sends from this process over TCP meanwhile.

    An answer counts as "answer". Heartbeats do not count, nor do greetings of new connections, which carry nothing.
    """
    from distributed.comm.tcp import TCP

    sent: Counter[str] = Counter()
    usual = TCP.write

    async def write(self: Any, message: Any, *arguments: Any, **options: Any) -> Any:
        for part in message if isinstance(message, list | tuple) else [message]:
            known = part if isinstance(part, dict) else {}
            if known.get("op") not in BEATS and GREETING not in known:
                sent[known.get("op", "answer")] += 1
        return await usual(self, message, *arguments, **options)

    TCP.write = write
    try:
        yield sent
    finally:
        TCP.write = usual
