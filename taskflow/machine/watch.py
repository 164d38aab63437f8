"""Watching a gang at work, from the client: progress, Ctrl-C, and blocks that fail."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from taskflow.machine.actor import Job, Status
from taskflow.machine.gang import Gang, cause

PATIENCE = 0.2  # seconds between two looks at blocks that are at work
END = 30.0  # seconds that blocks have to end once they were told to

Progress = Callable[[Mapping[str, Any]], None]


def unwatched(_: Mapping[str, Any]) -> None:
    """Nobody wants to know."""


def watch(
    gang: Gang, jobs: Sequence[Job], progress: Progress = unwatched, patience: float = PATIENCE
) -> tuple[list[Status], bool]:
    """Let every block do its job, until all have ended; returns how they did, and whether Ctrl-C was pressed.

    `progress` gets what block 0 last reported, and whether the blocks were asked to stop, every `patience` seconds.
    Where a block fails the others are told to give up; Ctrl-C asks all to stop after the present step.
    """
    with _interruption() as interrupted:
        gang.start(jobs)
        stopped, ending = False, None
        while True:
            statuses = gang.status(patience)
            progress({**statuses[0].progress, "stopping": stopped})
            states = {status.state for status in statuses}
            if states <= {"finished", "failed"}:
                return statuses, interrupted.is_set()
            if interrupted.is_set() and not stopped:
                stopped = True
                gang.stop()
            if "failed" in states and ending is None:
                ending = time.monotonic() + END
                gang.abort(f"another block failed: {cause(statuses)}")
            if ending is not None and time.monotonic() > ending:
                return statuses, interrupted.is_set()


@contextmanager
def _interruption() -> Iterator[threading.Event]:
    """An event that Ctrl-C sets. A second Ctrl-C acts as usual. Outside of the main thread nothing can be caught."""
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event
        return
    usual = signal.getsignal(signal.SIGINT)

    def note(*_: object) -> None:
        event.set()
        signal.signal(signal.SIGINT, usual)

    signal.signal(signal.SIGINT, note)
    try:
        yield event
    finally:
        signal.signal(signal.SIGINT, usual)
