"""Threads for short work, also at the end of the interpreter, when Python 3.12 and later start none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

ending = threading.Event()
"""Set when the interpreter ends and simulations that a script left open are closed."""


class Pool(ThreadPoolExecutor):
    """Threads, or at the end of the interpreter the caller itself."""

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """Do the work on a thread, or before this call returns."""
        if not ending.is_set():
            return super().submit(fn, *args, **kwargs)
        future = Future[T]()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
