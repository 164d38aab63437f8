"""Sleep, wake-up and abort of a block's step thread."""

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
"""Longest sleep in seconds between two checks of the clock, the peers and the stop. A ring ends it immediately."""

FEW = 16
"""Blocks of a process up to which threads sleep for a SLICE. With more, threads sleep longer and check less often."""

SPIN = 50e-6
"""Longest time in seconds for which a step thread polls before it sleeps: about the cost of a sleep and a wake-up. It
yields its core between polls, and polls for less time if its last sleeps were long, because the work it waits for
may need this core.
"""

SHORT = 10 * SPIN
"""Longest sleep in seconds that counts as short. On a virtual machine up to 0.2 ms of it are the wake-up."""


class Engine(Protocol):
    """A transport that moves bytes only when driven. The step thread drives it in every wait."""

    @property
    def descriptor(self) -> int | None:
        """File descriptor to sleep on, or None if the thread that adds work rings the bell."""

    def progress(self) -> bool:
        """Move everything that can move without blocking. Return True if anything moved."""

    def arm(self) -> bool:
        """Make `descriptor` readable at the next event. Return False if work is present (do not sleep)."""


class Bell:
    """The bell that wakes the step thread of a block. No ring is lost: an early one ends the next sleep.

    All channels of a block share one bell, because a wait on one transport must keep the others moving: a large message
    is sent only while both sides make progress. `spin` is the longest time in seconds to poll before a sleep.
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
        self.spin = self._patience = spin
        self._poll = select.poll()
        self._poll.register(self._inlet, select.POLLIN)

    def ring(self) -> None:
        """End the current or next sleep of the step thread. Thread-safe."""
        self._rung = True
        if self._asleep:  # set before `sleep` last checks `_rung`, so no ring is missed
            with contextlib.suppress(BlockingIOError):  # the pipe is full of rings
                os.write(self._outlet, b"\0")

    def sleep(self, seconds: float) -> None:
        """Drive every engine. If none made progress, sleep until a ring, an event of an engine, or the given time."""
        if self._stir():
            return
        if not all(engine.arm() for engine in self._engines):
            os.sched_yield()  # the work waits for the peer, such as room in its queue: yield the core
            return
        asleep = time.perf_counter()
        self._asleep = True
        if not self._rung:
            for descriptor, _ in self._poll.poll(math.ceil(1e3 * seconds)):
                if descriptor == self._inlet:
                    os.read(self._inlet, 4096)
        self._asleep = self._rung = False
        self._patience = self.spin if time.perf_counter() - asleep < SHORT else self._patience / 2

    def _stir(self) -> bool:
        """Drive every engine, repeatedly for a short time if none makes progress. Return True if one did, or if the
        bell rang.
        """
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
        """Drive this engine in every wait of the step thread."""
        if engine.descriptor is not None:
            self._poll.register(engine.descriptor, select.POLLIN)
        self._engines += (engine,)

    def detach(self, engine: Engine) -> None:
        """Remove the engine. No effect if it is not attached."""
        if engine not in self._engines:
            return
        self._engines = tuple(other for other in self._engines if other is not engine)
        if engine.descriptor is not None:
            self._poll.unregister(engine.descriptor)


class Stop:
    """Ends every wait of one block: after `set(reason)` present and later waits raise `Aborted(reason)`. `reason` is
    None until the block is stopped. `blocks`: their number in this process.
    """

    def __init__(self, spin: float = SPIN, blocks: int = 1) -> None:
        self.bell, self.slice = Bell(spin), SLICE * max(1.0, blocks / FEW)
        self.reason: str | None = None
        self._ends: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def set(self, reason: str) -> None:
        """Stop the block. Thread-safe. The first reason is kept."""
        with self._lock:
            if self.reason is None:
                self.reason = reason
                for end in self._ends:
                    end()
        self.bell.ring()

    def also(self, end: Callable[[], None]) -> None:
        """Register a function for the thread that stops the block. It ends waits on a device while the step thread is
        blocked in a driver call, which accepts no more work until some is done.
        """
        with self._lock:
            self._ends.append(end)
            if self.reason is not None:
                end()

    def check(self) -> None:
        """Raises Aborted if the block was stopped."""
        if self.reason is not None:
            raise Aborted(self.reason)
