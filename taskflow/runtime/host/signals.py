"""Signals that request a run to end: recorded while its blocks compute, raised as exceptions otherwise."""

from __future__ import annotations

import os
import signal
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn

from taskflow.common.errors import Terminated

SYSTEM = (signal.SIGTERM, signal.SIGHUP)  # sent by a system to end a command; the second by a closed terminal


@contextmanager
def noted(signals: Sequence[signal.Signals]) -> Iterator[list[signal.Signals]]:
    """Record the first of these signals; a second one acts as usual. None is caught outside of the main thread."""
    came: list[signal.Signals] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return
    usual: dict[signal.Signals, Any] = {}

    def back() -> None:
        for watched, handler in usual.items():
            signal.signal(watched, handler)

    def note(number: int, _: object) -> None:
        came.append(signal.Signals(number))
        back()
        if signal.SIGHUP in usual:
            signal.signal(signal.SIGHUP, signal.SIG_IGN)  # repeated by a shell, without greater urgency
        mute()

    for watched in heeded(signals):
        usual[watched] = signal.signal(watched, note)
    try:
        yield came
    finally:
        back()


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise Terminated, as Ctrl-C raises KeyboardInterrupt. No effect outside of the main
    thread.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = {watched: signal.signal(watched, _terminate) for watched in heeded(SYSTEM)}
    try:
        yield
    finally:
        for watched, handler in usual.items():
            signal.signal(watched, handler)


@contextmanager
def interruptible() -> Iterator[None]:
    """Restore the handler of SIGINT at the end. Imports replace it: dask-jobqueue ends the process instead."""
    usual = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is not usual:
            signal.signal(signal.SIGINT, usual)


def heeded(signals: Sequence[signal.Signals]) -> list[signal.Signals]:
    """Return the signals, without SIGHUP if it is ignored, as with `nohup`."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [watched for watched in signals if not (ignored and watched == signal.SIGHUP)]


def mute() -> None:
    """Discard output to a closed terminal: a failed write would prevent subsequent work."""
    for number in (1, 2):
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(number).st_mode) and not os.isatty(number):
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, number)
                os.close(null)


def _terminate(number: int, _: object) -> NoReturn:
    if number == signal.SIGHUP:
        signal.signal(number, signal.SIG_IGN)
    mute()
    raise Terminated(signal.Signals(number).name)
