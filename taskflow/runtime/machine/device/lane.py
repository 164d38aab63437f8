"""Lanes: orders of execution on a device. A lane of a GPU is a stream; the host's lane is the program itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, Protocol

from taskflow.runtime.machine.device.device import Device
from taskflow.runtime.machine.device.driver import reached

Call = Callable[[], None]
"""Work on a lane: to call it enqueues the work, or, on the host, does it."""


class Event(Protocol):
    """A point in a lane that the host can wait for."""

    def synchronize(self) -> None:
        """Wait until everything enqueued before the event is done."""


class Lane(Protocol):
    """Work enqueued on a lane is done in the order of enqueueing. `asynchronous`: it may not be done when enqueueing
    returns.
    """

    asynchronous: bool
    stream: Any

    def activate(self) -> None:
        """From now on array operations of this thread go to this lane."""

    def active(self) -> AbstractContextManager[Any]:
        """Within it array operations of this thread go to this lane."""

    def event(self) -> Event:
        """A new event."""

    def recorder(self, event: Event) -> Callable[[], None]:
        """An operation that puts the event at the end of what is enqueued."""

    def waiter(self, event: Event) -> Callable[[], None]:
        """An operation that makes what is enqueued later wait for the event, on the device."""

    def synchronize(self) -> None:
        """Wait until everything enqueued is done."""

    def reached(self) -> Callable[[], bool]:
        """Tells whether everything is done that has been enqueued by now. Raises Lost where it never will be."""


class HostLane:
    """Everything is done when it is called."""

    asynchronous = False
    stream = None

    def activate(self) -> None:
        """The host has one lane."""

    def active(self) -> AbstractContextManager[Any]:
        return nullcontext()

    def event(self) -> Event:
        return self

    def recorder(self, event: Event) -> Callable[[], None]:
        return event.synchronize

    def waiter(self, event: Event) -> Callable[[], None]:
        return event.synchronize

    def synchronize(self) -> None:
        """Nothing is ever outstanding."""

    def reached(self) -> Callable[[], bool]:
        return lambda: True


class StreamLane:
    """A CUDA stream that does not wait for the default stream."""

    asynchronous = True

    def __init__(self, cupy: Any, urgent: bool) -> None:
        self._cupy = cupy
        self.stream = cupy.cuda.Stream(
            non_blocking=True, priority=-5 if urgent else 0
        )  # CUDA clamps to the device's range

    def activate(self) -> None:
        self.stream.use()

    @contextmanager
    def active(self) -> Iterator[None]:
        before = self._cupy.cuda.get_current_stream()
        self.stream.use()  # CuPy's own `with stream` forgets a stream that was made current by `use`
        try:
            yield
        finally:
            before.use()

    def event(self) -> Event:
        return self._cupy.cuda.Event(disable_timing=True)

    def recorder(self, event: Event) -> Callable[[], None]:
        return partial(self.stream.record, event)

    def waiter(self, event: Event) -> Callable[[], None]:
        return partial(self.stream.wait_event, event)

    def synchronize(self) -> None:
        self.stream.synchronize()

    def reached(self) -> Callable[[], bool]:
        event = self._cupy.cuda.Event(disable_timing=True)
        self.stream.record(event)
        return partial(reached, event)


def lanes(device: Device) -> tuple[Lane, Lane]:
    """The lanes of a block: for computation, and for what other blocks wait for. A CPU has one."""
    if device.kind == "cpu":
        host = HostLane()
        return host, host
    return StreamLane(device.xp, urgent=False), StreamLane(device.xp, urgent=True)
