"""Blocks of a run as threads of one process on cores: the memory they share, and a watch over the waits of each."""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from taskflow.common.errors import ChannelTimeout
from taskflow.runtime.machine.channel import Channel, Deadline
from taskflow.runtime.machine.channel.base import LIFELINE
from taskflow.runtime.machine.channel.stop import SHORT
from taskflow.runtime.machine.kernel.host_call import HostCall
from taskflow.runtime.machine.kernel.instance import Instances

# struct Waiting of host.cpp
WAITING = np.dtype([(name, np.int64) for name in ("spin", "patience", "brief", "slice")])
LINE = 16  # words: flags do not share lines of a cache

_meetings: weakref.WeakValueDictionary[str, Meeting] = weakref.WeakValueDictionary()
_guard = threading.Lock()


class Meeting:
    """Memory that the blocks of a run in this process share: fields, flags of messages, shares of reductions."""

    def __init__(self) -> None:
        self.fields: dict[int, Instances] = {}
        self._memory: dict[tuple[Any, ...], np.ndarray] = {}
        self._lock = threading.Lock()

    @classmethod
    def of(cls, run: str) -> Meeting:
        with _guard:
            meeting = _meetings.get(run)
            if meeting is None:
                meeting = _meetings[run] = cls()
            return meeting

    def flag(self, *key: Any) -> int:
        """Return the address of a flag, zero at first."""
        return self.memory(("flag", *key), LINE, np.uint32)

    def memory(self, key: tuple[Any, ...], count: int, dtype: type) -> int:
        """Return the address of numbers that are zero at first."""
        with self._lock:
            if key not in self._memory:
                self._memory[key] = np.zeros(count, dtype)
            return int(self._memory[key].ctypes.data)


class HostWatch:
    """Ends the waits of a block: after `seconds`, when the block is stopped, or when a peer is lost."""

    def __init__(self, channel: Channel, seconds: float) -> None:
        self._stop, self._seconds, peers = channel.stop, seconds, sorted(channel.peers)
        self._lifelines = [channel.receive(peer, LIFELINE, np.empty(1, np.uint8)) for peer in peers]
        spin = int(1e9 * channel.stop.bell.spin)
        self.waiting = np.array((spin, spin, int(1e9 * SHORT), int(1e9 * channel.stop.slice)), WAITING)

    def check(self) -> None:
        """Raises Aborted, or ChannelError if a peer was lost."""
        self._stop.check()
        for line in self._lifelines:
            if line.done:
                line.settle()

    def wait(self, reached: Callable[[], bool]) -> None:
        """Return when `reached` is true: on a CPU, calls have done their work."""
        while not reached():
            time.sleep(0)
        self.check()

    def patient(self, function: Any, argument: np.ndarray, whats: Sequence[str], keep: object) -> HostCall:
        """Return a call of a function of host.cpp. Its result n > 0 says that it waits for `whats[n - 1]`."""
        deadline = Deadline.after(self._seconds)

        def late(number: int, first: bool) -> None:
            nonlocal deadline
            if first:
                deadline = Deadline.after(self._seconds)
            self.check()
            if deadline.remaining <= 0:
                raise ChannelTimeout(f"{whats[number - 1]} (local) was not there after {self._seconds:g} s")

        return HostCall(function, argument.ctypes.data, (argument, keep), late=late)
