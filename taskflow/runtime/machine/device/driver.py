"""Direct calls of the CUDA driver where microseconds count: launches with prepared arguments, and the errors after
which a process has lost its GPU.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from types import TracebackType
from typing import Any

import numpy as np

from taskflow.common.errors import Lost, RunFailed

Shape = tuple[int, int, int]
NOT_READY = 600  # CUDA_ERROR_NOT_READY
# After these a process can no longer use its GPU, while other processes and other GPUs continue. CUDA driver API,
# cuda.h, enum CUresult (equal to the runtime's numbers): unavailable, no device, ECC, NVLink, illegal address,
# launch timeout, hardware stack, illegal instruction, misaligned address, invalid address space, invalid program
# counter, launch failed, contained, unknown.
FATAL = frozenset({46, 100, 214, 220, 700, 702, 714, 715, 716, 717, 718, 719, 721, 999})


@cache
def library() -> ctypes.CDLL:
    """Return the driver. Raises OSError if it is not installed."""
    return ctypes.CDLL("libcuda.so.1")


@cache
def at_once() -> ctypes.PyDLL:
    """Return the driver for short calls, during which the thread keeps the interpreter lock."""
    return ctypes.PyDLL("libcuda.so.1")


def launch(
    function: Any, grid: Shape, block: Shape, values: Sequence[Any], stream: Any, keep: object, shared: int = 0
) -> Callable[[], None]:
    """Return a launch of a CuPy function on a stream (None: the current stream of each call).

    `values` are numpy scalars and structured arrays without dimensions, one per kernel parameter, read at each call.
    `keep` is kept alive with the launch. Thread blocks get `shared` bytes of memory in addition to declared ones.
    Raises RunFailed if the driver fails.
    """
    held = [np.ascontiguousarray(value) for value in values]
    arguments = (ctypes.c_void_p * len(held))(*(value.ctypes.data for value in held))
    sizes = [ctypes.c_uint(n) for n in (*grid, *block, shared)]
    cu_launch, pointer = library().cuLaunchKernel, ctypes.c_void_p(function.ptr)
    if load := getattr(library(), "cuFuncLoad", None):  # since CUDA 12.4. Loading at launch could deadlock with a
        demand("load a kernel", load(pointer))  # kernel that waits for this thread
    fixed = ctypes.c_void_p(stream.ptr) if stream is not None else None

    def call(_: object = (held, keep)) -> None:
        on = fixed if fixed is not None else ctypes.c_void_p(_current())
        if error := cu_launch(pointer, *sizes, on, arguments, None):
            demand("launch a kernel", error)

    return call


def _current() -> int:
    import cupy

    return int(cupy.cuda.get_current_stream().ptr)


def reached(event: Any) -> bool:
    """Return whether everything enqueued before a CuPy event is done. Raises as `demand` does, unlike CuPy, which
    cannot distinguish a pending event from one that will never complete because the GPU was lost.
    """
    error = at_once().cuEventQuery(ctypes.c_void_p(event.ptr))
    if error == NOT_READY:
        return False
    demand("complete its work", error)
    return True


def demand(what: str, error: int) -> None:
    """Raises RunFailed, or Lost if the GPU is lost, with the failed action and the driver's name of the error. No
    effect if `error` is 0.
    """
    if error:
        text = ctypes.c_char_p()
        library().cuGetErrorName(error, ctypes.byref(text))
        name = text.value.decode() if text.value else f"CUDA error {error}"
        raise (Lost if error in FATAL else RunFailed)(f"the GPU could not {what}: {name}")


def gpu_lost(error: BaseException) -> bool:
    """Return whether an error of CuPy means that the process has lost its GPU."""
    cupy = sys.modules.get("cupy")
    if cupy is None:
        return False
    kinds = cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError
    return isinstance(error, kinds) and error.status in FATAL


def hush() -> None:
    """Silence errors of objects that cannot return memory to a lost GPU.

    Cython reports them through both hooks. At exit, after the hooks, stderr is redirected to /dev/null.
    """
    usual, other = sys.unraisablehook, sys.excepthook

    def unraisable(what: sys.UnraisableHookArgs) -> None:
        if what.exc_value is None or not gpu_lost(what.exc_value):
            usual(what)

    def raised(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not gpu_lost(error):
            other(kind, error, trace)

    sys.unraisablehook, sys.excepthook = unraisable, raised
    atexit.register(lambda: os.dup2(os.open(os.devnull, os.O_WRONLY), 2))
