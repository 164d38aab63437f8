"""Waiting for what others answer: for all at once, and no longer than they may be silent."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any, Protocol

SLICE = 0.5  # seconds of one wait


class Answer(Protocol):
    """What a remote call will return."""

    def done(self) -> bool: ...
    def result(self, timeout: float) -> Any: ...


def await_all(answers: Sequence[Answer], seconds: float) -> None:
    """Return when all are done, or after so many seconds.

    Only seconds count in which this process was awake: one that was stopped (Ctrl-Z), or whose machine slept, must not
    take its own silence for that of others.
    """
    for answer in answers:
        while not answer.done():
            if seconds <= 0:
                return
            with contextlib.suppress(Exception):  # an error is an answer, which is looked at later
                answer.result(timeout=min(SLICE, seconds))
            if not answer.done():
                seconds -= SLICE
