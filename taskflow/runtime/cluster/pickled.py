"""Pickled values: functions and values on their way to the blocks, by value where no module holds them.

A function with the same content is the same object in a process, whichever call brought it: a program that is run
again finds its traces.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cloudpickle

from taskflow.errors import BadInput, RunFailed

KEPT = 128  # functions that a process keeps
_lock = threading.Lock()


@dataclass(frozen=True)
class Pickled:
    """A value as bytes. What a function refers to (constants, tasks, its closure) goes with it as it is now."""

    content: bytes

    @classmethod
    def of(cls, value: object) -> Pickled:
        """Pack a value. Raises BadInput where it, or what it refers to, cannot leave this process."""
        try:
            return cls(cloudpickle.dumps(value))
        except Exception as error:
            name = getattr(value, "__name__", None) or repr(value)
            raise BadInput(
                f"{name} cannot be sent to the blocks ({type(error).__name__}: {error}); files, clients and blocks"
                " stay here: pass on what is needed of them"
            ) from error

    def open(self) -> Any:
        """A value of one's own. Raises RunFailed where a module that it needs is not there."""
        try:
            return cloudpickle.loads(self.content)
        except ModuleNotFoundError as error:
            raise RunFailed(
                f"{error}: what a script imports has to be installed, or on PYTHONPATH, where the blocks live too"
            ) from error

    def shared(self) -> Any:
        """The value, one for all who ask for it in this process: for functions. Raises as `open` does."""
        with _lock:
            return _kept(self)


@lru_cache(KEPT)
def _kept(pickled: Pickled) -> Any:
    return pickled.open()
