"""CUDA graphs: launches recorded once and replayed as one."""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable, Sequence

from taskflow.errors import RunFailed
from taskflow.runtime.machine.device.driver import demand, library
from taskflow.runtime.machine.device.lane import Lane

INVALIDATED = 901  # CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
ATTEMPTS = 10
THREAD_LOCAL = 1  # CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: other threads may allocate meanwhile
NODE_PRIORITY = 8  # CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY


def captured(lane: Lane, calls: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """One launch on `lane` that does what the calls enqueue there, and on lanes that follow it and are followed by it.

    Every launch keeps the priority of its lane: without that (CuPy's graphs have it not) what others wait for queues
    behind a large kernel that began a moment earlier. The calls must not wait on the host, nor allocate. Raises
    RunFailed where the driver cannot record them.
    """
    driver, stream = library(), ctypes.c_void_p(lane.stream.ptr)
    for _ in range(ATTEMPTS):
        error, graph = _recorded(stream, calls)
        if error != INVALIDATED:
            break
    demand("record a CUDA graph", error)
    executable = ctypes.c_void_p()
    flags = ctypes.c_ulonglong(NODE_PRIORITY)
    error = driver.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, flags)
    driver.cuGraphDestroy(graph)
    demand("make a CUDA graph ready", error)
    return _Launch(executable, stream, calls)


def _recorded(stream: ctypes.c_void_p, calls: Sequence[Callable[[], None]]) -> tuple[int, ctypes.c_void_p]:
    """The driver's verdict on one recording, and the graph. Another thread that loads a kernel or waits for the whole
    GPU meanwhile spoils it; nothing has been done then, and it may be tried again.
    """
    driver, graph = library(), ctypes.c_void_p()
    demand("begin recording a CUDA graph", driver.cuStreamBeginCapture_v2(stream, THREAD_LOCAL))
    problem: RunFailed | None = None
    with _nothing_collected:
        try:
            for call in calls:
                call()
        except RunFailed as refused:
            problem = refused
        finally:
            error = driver.cuStreamEndCapture(stream, ctypes.byref(graph))
    if problem and error != INVALIDATED:
        raise problem
    return error, graph


class _NothingCollected:
    """Within, Python collects no cycles: one may hold memory of the device or a plan of cuFFT, and to free these spoils
    what the same thread records. Several threads may be within at a time.
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
    """A graph that is ready; calling it launches it. Keeps alive what its kernels point to."""

    def __init__(self, executable: ctypes.c_void_p, stream: ctypes.c_void_p, keep: object) -> None:
        self._executable, self._stream, self._keep, self._driver = executable, stream, keep, library()
        demand("upload a CUDA graph", self._driver.cuGraphUpload(executable, stream))

    def __call__(self) -> None:
        if error := self._driver.cuGraphLaunch(self._executable, self._stream):
            demand("launch a CUDA graph", error)

    def __del__(self) -> None:
        self._driver.cuGraphExecDestroy(self._executable)
