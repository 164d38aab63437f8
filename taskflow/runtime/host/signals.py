"""Signals that ask a run to end: noted while its blocks compute, raised as exceptions while they do not."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn

from taskflow.errors import Terminated


@contextmanager
def noted(signals: Sequence[signal.Signals]) -> Iterator[list[signal.Signals]]:
    """The first of these signals that comes; a second one acts as usual. Outside of the main thread none is caught."""
    came: list[signal.Signals] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    usual = {watched: signal.getsignal(watched) for watched in signals}

    def back() -> None:
        for watched, handler in usual.items():
            signal.signal(watched, handler)

    def note(number: int, _: object) -> None:
        came.append(signal.Signals(number))
        back()

    for watched in signals:
        signal.signal(watched, note)
    try:
        yield came
    finally:
        back()


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM raises Terminated, as Ctrl-C raises KeyboardInterrupt. Outside of the main thread it acts as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, usual)


def _terminate(*_: object) -> NoReturn:
    raise Terminated
