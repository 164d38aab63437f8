"""Lanes: orders of execution on a device. A lane of a GPU is a stream; the host's lane is the program itself.

Work enqueued on a stream can be captured in a CUDA graph: launches recorded once and replayed as one.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, Protocol

from taskflow.common.errors import RunFailed
from taskflow.runtime.machine.device.device import Device
from taskflow.runtime.machine.device.driver import demand, library, reached
from taskflow.runtime.machine.device.memory import Alarm

INVALIDATED = 901  # CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
ATTEMPTS = 10
THREAD_LOCAL = 1  # CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: other threads may allocate meanwhile
NODE_PRIORITY = 8  # CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY

Call = Callable[[], None]
"""Work on a lane: a call enqueues it, or, on the host, does it."""


class Event(Protocol):
    """A point in a lane that the host can wait for."""

    def synchronize(self) -> None:
        """Wait until everything enqueued before the event is done."""


class Lane:
    """An order of execution: work is done in the order in which it is enqueued. This one is the host's, where calls do
    their work before they return. On an `asynchronous` lane they may not.
    """

    asynchronous = False
    stream: Any = None

    def __init__(self, alarm: Alarm) -> None:
        self._alarm = alarm

    def activate(self) -> None:
        """Direct array operations of this thread to this lane."""

    def active(self) -> AbstractContextManager[Any]:
        """Return a context in which array operations of this thread go to this lane."""
        return nullcontext()

    def event(self) -> Event:
        return self

    def recorder(self, event: Event) -> Callable[[], None]:
        """Return an operation that records the event after all enqueued work."""
        return event.synchronize

    def waiter(self, event: Event) -> Callable[[], None]:
        """Return an operation that makes later work wait for the event, on the device."""
        return event.synchronize

    def synchronize(self) -> None:
        """Wait until everything enqueued is done."""

    def reached(self) -> Callable[[], bool]:
        """Return a function that is true once all presently enqueued work is done. It raises Lost if the GPU is lost,
        and RunFailed if a kernel has raised the alarm.
        """
        return self._alarm.check


class StreamLane(Lane):
    """A CUDA stream that does not wait for the default stream."""

    asynchronous = True

    def __init__(self, cupy: Any, alarm: Alarm, urgent: bool) -> None:
        super().__init__(alarm)
        self._cupy = cupy
        priority = -5 if urgent else 0  # CUDA clamps it to the device's range
        self.stream = cupy.cuda.Stream(non_blocking=True, priority=priority)

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
        return lambda: reached(event) and self._alarm.check()


def lanes(device: Device) -> tuple[Lane, Lane]:
    """Return the lanes of a block: for computation, and for urgent work that other blocks wait for. A CPU has one."""
    if device.kind == "cpu":
        host = Lane(device.alarm)
        return host, host
    return StreamLane(device.xp, device.alarm, urgent=False), StreamLane(device.xp, device.alarm, urgent=True)


def captured(lane: Lane, calls: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """Return one launch on `lane` of all work that the calls enqueue there, and on lanes forked from it and joined to
    it.

    Launches keep the priority of their lane, unlike in CuPy's graphs: otherwise urgent work queues after a large kernel
    that began a moment earlier. The calls must not wait on the host, nor allocate. Raises RunFailed if the driver
    cannot record them.
    """
    driver, stream = library(), ctypes.c_void_p(lane.stream.ptr)
    for _ in range(ATTEMPTS):
        error, graph, problem = _recorded(stream, calls)
        if error != INVALIDATED:
            break
    try:
        demand("record a CUDA graph", error)
    except RunFailed as failed:
        raise failed from problem
    executable = ctypes.c_void_p()
    flags = ctypes.c_ulonglong(NODE_PRIORITY)
    error = driver.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, flags)
    driver.cuGraphDestroy(graph)
    demand("make a CUDA graph ready", error)
    return _Launch(executable, stream, calls)


def _recorded(
    stream: ctypes.c_void_p, calls: Sequence[Callable[[], None]]
) -> tuple[int, ctypes.c_void_p, Exception | None]:
    """Return the driver's result of one recording, the graph, and the error of a call in it or None. A recording is
    invalidated, and calls may fail with an error of CuPy, if another thread loads a kernel or waits for the whole
    GPU. Nothing has been executed then, and it may be repeated.
    """
    driver, graph = library(), ctypes.c_void_p()
    demand("begin recording a CUDA graph", driver.cuStreamBeginCapture_v2(stream, THREAD_LOCAL))
    problem: Exception | None = None
    with _nothing_collected:
        try:
            for call in calls:
                call()
        except Exception as refused:
            problem = refused
        finally:
            error = driver.cuStreamEndCapture(stream, ctypes.byref(graph))
    if problem and error != INVALIDATED:
        driver.cuGraphDestroy(graph)
        raise problem
    return error, graph, problem


class _NothingCollected:
    """Context in which Python collects no cycles, for any number of threads. A cycle may hold device memory or a cuFFT
    plan, and freeing these invalidates a recording of the same thread.
    """

    def __init__(self) -> None:
        self._lock, self._within, self._collecting = threading.Lock(), 0, True

    def __enter__(self) -> None:
        with self._lock:
            if not self._within:
                self._collecting = gc.isenabled()
                gc.disable()
            self._within += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._within -= 1
            if not self._within and self._collecting:
                gc.enable()


_nothing_collected = _NothingCollected()


class _Launch:
    """An instantiated graph; a call launches it. Keeps objects alive that its kernels point to."""

    def __init__(self, executable: ctypes.c_void_p, stream: ctypes.c_void_p, keep: object) -> None:
        self._executable, self._stream, self._keep, self._driver = executable, stream, keep, library()
        demand("upload a CUDA graph", self._driver.cuGraphUpload(executable, stream))

    def __call__(self) -> None:
        if error := self._driver.cuGraphLaunch(self._executable, self._stream):
            demand("launch a CUDA graph", error)

    def __del__(self) -> None:
        self._driver.cuGraphExecDestroy(self._executable)
