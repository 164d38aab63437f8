"""Clusters and clients are opened and closed as a whole, whatever signals come meanwhile."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

ENDING = (signal.SIGINT, signal.SIGTERM)  # how a user and a batch system end a command


@contextmanager
def opened(begin: Callable[[], Any]) -> Iterator[Any]:
    """What `begin` returns, closed at the end; Ctrl-C and SIGTERM wait until it has begun, or is closed.

    A terminal and a batch system send them to all processes of a command, but only the client's main thread may decide
    what they mean: threads and processes that begin here never see them. A worker amid its imports, or a compiler,
    would die of it.
    """
    found = None
    try:
        with _undisturbed():
            found = begin()
        yield found
    finally:
        if found is not None:
            with _undisturbed():
                found.close()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Ctrl-C and SIGTERM come afterwards. Threads and processes that begin here inherit that they never come to them.

    Blocking signals is for what begins here. It does not protect this thread: threads that libraries began earlier
    take a signal, and Python hands it to the main thread; so that one notes it.
    """
    if threading.current_thread() is not threading.main_thread():  # has no say in signals
        yield
        return
    noted: list[int] = []
    usual = {each: signal.signal(each, lambda number, _: noted.append(number)) for each in ENDING}
    resource_tracker.ensure_running()  # Python would begin it with the first process, and unblock the signals
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for each, handler in usual.items():
            signal.signal(each, handler)
    if noted:
        signal.raise_signal(noted[0])
