"""Process-wide changes, such as settings of a library, that several threads need temporarily."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any


class WhileNeeded(AbstractContextManager[None]):
    """Process-wide change while any thread needs it: the first makes it, the last reverts it.

    Runs in threads end in any order. If each restored the state that it found, one would revert a change that another
    still needs, and the last would leave it permanently.
    """

    def __init__(self, change: Callable[[], AbstractContextManager[Any]]) -> None:
        self.__doc__ = change.__doc__
        self._change, self._lock, self._users = change, threading.RLock(), 0  # finalizers can run at any time

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._made = self._change()
                self._made.__enter__()
            self._users += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._made.__exit__(None, None, None)
