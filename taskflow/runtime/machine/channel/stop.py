"""The sleep of a block's step thread, and how anybody wakes it or tells it to give up."""

from __future__ import annotations

import contextlib
import math
import os
import select
import threading
import time
import weakref
from collections.abc import Callable
from typing import Protocol

from taskflow.common.errors import Aborted

SLICE = 0.04
"""Longest sleep in seconds between two looks at the clock, the peers and the stop; a ring ends it at once."""

SPIN = 50e-6
"""Seconds for which a step thread at most looks again and again before it sleeps: about what falling asleep and being
woken costs. It yields its core between two looks, and gives up sooner when its last sleeps were long: what it waits for
may need this very core."""

SHORT = 10 * SPIN
"""Seconds of a sleep that is not long. To be woken takes a virtual machine up to 0.2 ms of them."""


class Engine(Protocol):
    """A transport that moves bytes only while somebody lets it; the step thread does so whenever it waits."""

    @property
    def descriptor(self) -> int | None:
        """File descriptor to sleep on, or None if whoever brings work rings the bell."""

    def progress(self) -> bool:
        """Move what can be moved now, without blocking; True if anything moved."""

    def arm(self) -> bool:
        """Promise to make `descriptor` readable at the next event; False if there is work already (do not sleep)."""


class Bell:
    """The bell beside which the step thread of a block sleeps. No ring is lost: an early one ends the next sleep.

    All channels of a block share one bell, because a wait on one transport must keep every other one moving: a large
    message is sent only while both sides make progress. `spin` is for how long at most it looks before it sleeps.
    """

    def __init__(self, spin: float = SPIN) -> None:
        self._inlet, self._outlet = os.pipe()
        os.set_blocking(self._inlet, False)
        os.set_blocking(self._outlet, False)
        for descriptor in (self._inlet, self._outlet):
            weakref.finalize(self, os.close, descriptor).atexit = False  # other threads may still ring at exit
        self._rung = False
        self._asleep = False
        self._engines: tuple[Engine, ...] = ()
        self._spin = self._patience = spin
        self._poll = select.poll()
        self._poll.register(self._inlet, select.POLLIN)

    def ring(self) -> None:
        """End the sleep of the step thread, now or next. Any thread."""
        self._rung = True
        if self._asleep:  # set before `sleep` looks at `_rung` for the last time: one of the two sees the other
            with contextlib.suppress(BlockingIOError):  # the pipe is full of rings: heard soon enough
                os.write(self._outlet, b"\0")

    def sleep(self, seconds: float) -> None:
        """Let every engine move; if none could, sleep until a ring, an engine's event or the given time."""
        if self._stir():
            return
        if not all(engine.arm() for engine in self._engines):
            os.sched_yield()  # the work waits for the peer, say for room in its queue: leave it the core
            return
        asleep = time.perf_counter()
        self._asleep = True
        if not self._rung:
            for descriptor, _ in self._poll.poll(math.ceil(1e3 * seconds)):
                if descriptor == self._inlet:
                    os.read(self._inlet, 4096)
        self._asleep = self._rung = False
        self._patience = self._spin if time.perf_counter() - asleep < SHORT else self._patience / 2

    def _stir(self) -> bool:
        """Let every engine move, again and again for a moment if none could; True if one did, or if somebody rang."""
        until = time.perf_counter() + self._patience
        while True:
            busy = self._rung
            self._rung = False
            for engine in self._engines:
                busy |= engine.progress()
            if busy or time.perf_counter() > until:
                return busy
            os.sched_yield()

    def attach(self, engine: Engine) -> None:
        """From now on the step thread drives this engine in every wait."""
        if engine.descriptor is not None:
            self._poll.register(engine.descriptor, select.POLLIN)
        self._engines += (engine,)

    def detach(self, engine: Engine) -> None:
        """Forget the engine; without effect if it is not attached."""
        if engine not in self._engines:
            return
        self._engines = tuple(other for other in self._engines if other is not engine)
        if engine.descriptor is not None:
            self._poll.unregister(engine.descriptor)


class Stop:
    """Ends every wait of one block: after `set(reason)` each of them, running or to come, raises `Aborted(reason)`.
    `reason` is None as long as the block was not told to stop.
    """

    def __init__(self, spin: float = SPIN) -> None:
        self.bell = Bell(spin)
        self.reason: str | None = None
        self._ends: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def set(self, reason: str) -> None:
        """Stop the block. Any thread; the first reason stands."""
        with self._lock:
            if self.reason is None:
                self.reason = reason
                for end in self._ends:
                    end()
        self.bell.ring()

    def also(self, end: Callable[[], None]) -> None:
        """Have this called by the thread that stops the block: waits on a device have to be ended while the block's own
        thread is in a call of the driver, which takes no more work before some is done.
        """
        with self._lock:
            self._ends.append(end)
            if self.reason is not None:
                end()

    def check(self) -> None:
        """Raises Aborted if the block was told to stop."""
        if self.reason is not None:
            raise Aborted(self.reason)
