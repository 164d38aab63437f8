"""Watching a block group at work, from the client: progress, Ctrl-C, and blocks that fail."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from taskflow.errors import Lost
from taskflow.runtime.cluster.block_group import BlockGroup, cause
from taskflow.runtime.host.signals import noted
from taskflow.runtime.machine.actor import Job, Status

PATIENCE = 0.2  # seconds between two looks at blocks that are at work
END = 30.0  # seconds that blocks have to end once they were told to

Progress = Callable[[Mapping[str, Any]], None]


def unwatched(_: Mapping[str, Any]) -> None:
    """Nobody wants to know."""


def watch(
    group: BlockGroup,
    jobs: Sequence[Job],
    progress: Progress = unwatched,
    patience: float = PATIENCE,
    signals: Sequence[signal.Signals] = (signal.SIGINT,),
) -> tuple[list[Status], signal.Signals | Exception | None]:
    """Let every block do its job, until all have ended; returns how they did, and which of `signals` came, or what
    `progress` raised, if any.

    `progress` gets what block 0 last reported, and whether the blocks were asked to stop, every `patience` seconds.
    Where a block fails the others are told to give up; a signal asks all to stop after the present step, and so does an
    exception of `progress`, which is not called again.
    """
    with noted(signals) as came:
        with suppress(Lost):  # the others have begun: they have to be told
            group.start(jobs)
        stopped, ending = False, None
        raised: Exception | None = None
        while True:
            statuses = group.status(patience)
            try:
                progress({**statuses[0].progress, "stopping": stopped})
            except Exception as error:
                raised, progress = error, unwatched
            states = {status.state for status in statuses}
            if states <= {"finished", "failed"}:
                return statuses, next(iter(came), raised)
            if (came or raised) and not stopped:
                stopped = True
                group.stop()
            if "failed" in states and ending is None:
                ending = time.monotonic() + END
                group.abort(f"another block failed: {cause(statuses)}")
            if ending is not None and time.monotonic() > ending:
                return statuses, next(iter(came), raised)
