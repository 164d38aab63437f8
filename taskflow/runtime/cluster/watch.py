"""The client follows a job: progress, signals, and an abort of all blocks if one fails."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from taskflow.common.errors import ChannelError, Lost, TaskflowError
from taskflow.runtime.cluster.block_group import BlockGroup
from taskflow.runtime.host.signals import noted
from taskflow.runtime.machine.actor import Job, Status

PATIENCE = 0.2  # seconds between status calls to working blocks
END = 30.0  # seconds for blocks to end after an abort

Progress = Callable[[Mapping[str, Any]], None]


def cause(statuses: Sequence[Status]) -> TaskflowError | None:
    """Return the original error: the earliest that does not merely report the loss of another block."""
    failed = [status for status in statuses if status.error is not None]
    first = min(failed, key=lambda status: (isinstance(status.error, ChannelError), status.failed_at), default=None)
    return None if first is None else first.error


def unwatched(_: Mapping[str, Any]) -> None:
    """Ignore progress."""


def watch(
    group: BlockGroup,
    jobs: Sequence[Job],
    progress: Progress = unwatched,
    signals: Sequence[signal.Signals] = (signal.SIGINT,),
) -> tuple[list[Status], signal.Signals | Exception | None]:
    """Let every block do its job, until all have ended. Returns their statuses, and the signal that came, or the
    exception of `progress`, if any.

    `progress` gets the last progress of block 0, and whether a stop was requested, every PATIENCE seconds. If a block
    fails, the others are aborted. One of `signals`, or an exception of `progress`, stops all after the current step.
    After an exception `progress` is not called again.
    """
    with noted(signals) as came:
        stopped, ending = False, None
        raised: Exception | None = None
        began = time.monotonic()
        try:
            statuses = group.start(jobs, PATIENCE)
        except Lost:  # the others have started and must be aborted
            statuses = group.status()
        while True:
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
            time.sleep(max(0.0, began + PATIENCE - time.monotonic()))  # if all answered early, and none has ended
            began = time.monotonic()
            statuses = group.poll(PATIENCE)
