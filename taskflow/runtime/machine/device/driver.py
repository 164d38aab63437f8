"""The CUDA driver, called directly where a microsecond counts: launches whose arguments are prepared once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from taskflow.errors import Lost, RunFailed
from taskflow.runtime.machine.device.fatal import FATAL

Shape = tuple[int, int, int]
NOT_READY = 600  # CUDA_ERROR_NOT_READY


@cache
def library() -> ctypes.CDLL:
    """The driver. Raises OSError where there is none."""
    return ctypes.CDLL("libcuda.so.1")


@cache
def at_once() -> ctypes.PyDLL:
    """The driver, for calls that take no time: the thread keeps the interpreter, and need not wait for it again."""
    return ctypes.PyDLL("libcuda.so.1")


def launch(
    function: Any, grid: Shape, block: Shape, values: Sequence[Any], stream: Any, keep: object
) -> Callable[[], None]:
    """A launch of a CuPy function on a stream (None: the one that is current at each call).

    `values` are numpy scalars and structured arrays without dimensions, as the kernel takes them; what they hold when
    the launch is called counts. `keep` is kept alive as long as the launch. Raises RunFailed where the driver refuses.
    """
    held = [np.ascontiguousarray(value) for value in values]
    arguments = (ctypes.c_void_p * len(held))(*(value.ctypes.data for value in held))
    sizes = [ctypes.c_uint(n) for n in (*grid, *block, 0)]
    cu_launch, pointer = library().cuLaunchKernel, ctypes.c_void_p(function.ptr)
    if load := getattr(library(), "cuFuncLoad", None):  # since CUDA 12.4; later, loading might wait for a kernel that
        demand("load a kernel", load(pointer))  # waits for us
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
    """Whether everything is done that was enqueued before a CuPy event. Raises as `demand` does: CuPy itself takes an
    event that will never come, as the GPU is lost, for one that has not come yet.
    """
    error = at_once().cuEventQuery(ctypes.c_void_p(event.ptr))
    if error == NOT_READY:
        return False
    demand("do what it was told to", error)
    return True


def demand(what: str, error: int) -> None:
    """Raises RunFailed, or Lost where the GPU is, with what was to be done and what the driver calls the error, unless
    there is none.
    """
    if error:
        text = ctypes.c_char_p()
        library().cuGetErrorName(error, ctypes.byref(text))
        name = text.value.decode() if text.value else f"CUDA error {error}"
        raise (Lost if error in FATAL else RunFailed)(f"the GPU could not {what}: {name}")
