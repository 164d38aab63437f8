"""CUDA graphs: launches recorded once and replayed as one."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

from taskflow.machine.device.driver import demand, library
from taskflow.machine.device.lane import Lane

THREAD_LOCAL = 1  # CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: other threads may allocate meanwhile
NODE_PRIORITY = 8  # CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY


def captured(lane: Lane, calls: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """One launch on `lane` that does what the calls enqueue there, and on lanes that follow it and are followed by it.

    Every launch keeps the priority of its lane: without that (CuPy's graphs have it not) what others wait for queues
    behind a large kernel that began a moment earlier. The calls must not wait on the host, nor allocate. Raises
    RunFailed where the driver cannot record them.
    """
    driver, stream = library(), ctypes.c_void_p(lane.stream.ptr)
    graph, executable = ctypes.c_void_p(), ctypes.c_void_p()
    demand("begin recording a CUDA graph", driver.cuStreamBeginCapture_v2(stream, THREAD_LOCAL))
    try:
        for call in calls:
            call()
    finally:
        error = driver.cuStreamEndCapture(stream, ctypes.byref(graph))
    demand("record a CUDA graph", error)
    flags = ctypes.c_ulonglong(NODE_PRIORITY)
    error = driver.cuGraphInstantiateWithFlags(ctypes.byref(executable), graph, flags)
    driver.cuGraphDestroy(graph)
    demand("make a CUDA graph ready", error)
    return _Launch(executable, stream, calls)


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
