"""Counts of Dask's messages."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

BEATS = ("heartbeat_worker", "heartbeat-client", "keep-alive")  # periodic messages
GREETING = "pickle-protocol"  # key in the first message of a connection


@contextmanager
def dask_messages() -> Iterator[Counter[str]]:
    """Count, by operation, the messages that Dask sends from this process over TCP in this context. Steps send none.

    An answer counts as "answer". Heartbeats and greetings of new connections do not count.
    """
    from distributed.comm.tcp import TCP

    sent: Counter[str] = Counter()
    usual = TCP.write

    async def write(self: Any, message: Any, *arguments: Any, **options: Any) -> Any:
        for part in message if isinstance(message, list | tuple) else [message]:
            content = part if isinstance(part, dict) else {}
            if content.get("op") not in BEATS and GREETING not in content:
                sent[content.get("op", "answer")] += 1
        return await usual(self, message, *arguments, **options)

    TCP.write = write
    try:
        yield sent
    finally:
        TCP.write = usual
