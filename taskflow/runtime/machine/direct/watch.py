"""How waits on a device end: a time limit, and two words of host memory by which host and device hear of each other."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from taskflow.errors import ChannelTimeout
from taskflow.runtime.machine.channel import Pending, Stop
from taskflow.runtime.machine.device import Gpu

# struct Watch of flags.h
WATCH = np.dtype([("stop", np.uint64), ("failed", np.uint64), ("broken", np.uint64), ("limit", np.uint64)], align=True)
SPIN = 5e-3  # seconds that the host asks without pause whether the device is done, before it cares for its channels


class Watch:
    """Watches over what a block's GPU waits for.

    A wait on the device ends after `seconds`, or when the block is told to stop, or when a peer is lost: `lifelines`
    are receives that never complete unless their peer dies or closes. After that nothing waits any more, all that was
    enqueued is soon done, and `check` says what happened.
    """

    def __init__(self, device: Gpu, stop: Stop, seconds: float, lifelines: list[Pending]) -> None:
        cupy = device.xp
        self._stop, self._seconds, self._lifelines = stop, seconds, lifelines
        self._names: list[str] = []
        self._memory: Any = cupy.cuda.alloc_pinned_memory(8)  # which a GPU reads and writes at the host's address
        self._words = np.frombuffer(self._memory, np.uint32, 2)  # stop, failed
        self._words[:] = 0
        self._broken = device.allocate((1,), "u4")
        pointer = int(self._memory.ptr)
        self.argument = np.array((pointer, pointer + 4, self._broken.data.ptr, int(seconds * 1e9)), WATCH)
        stop.also(self.give_up)

    def name(self, what: str) -> int:
        """The number by which the device tells that it waited for this in vain."""
        self._names.append(what)
        return len(self._names)

    def wait(self, done: Callable[[], bool]) -> None:
        """Return when `done` is true: soon, whatever happens to other blocks. Raises as `check` does."""
        began = time.monotonic()
        while not done():
            if time.monotonic() - began > SPIN:
                self._stop.bell.sleep(0.0)  # lets channels move for a moment: lifelines tell only then
            if self._stop.reason is not None or any(line.done for line in self._lifelines):
                self.give_up()
        self.check()

    def give_up(self) -> None:
        """End every wait on the device: all that was enqueued is soon done."""
        self._words[0] = 1

    def check(self) -> None:
        """Raises Aborted, ChannelError (a peer was lost) or ChannelTimeout where the device has given up waiting."""
        self._stop.check()
        for line in self._lifelines:
            if line.done:
                line.settle()
        if self._words[1]:
            what = self._names[int(self._words[1]) - 1]
            raise ChannelTimeout(f"{what} (peer) was not there after {self._seconds:g} s")
