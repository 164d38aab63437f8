"""The CUDA compiler: kernel texts through CuPy's NVRTC, which caches compiled texts."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from taskflow.common.errors import BadInput
from taskflow.common.ownership import make_private, weakness
from taskflow.runtime.machine.kernel.agreement import KernelError
from taskflow.runtime.machine.kernel.compile_host import cache_folder

# No fused multiply-adds: the same values as on a CPU. CUDA 12 takes lambdas without an attribute for host functions.
OPTIONS = ("-std=c++17", "--fmad=false", "--device-as-default-execution-space", "-DGPU")


@cache
def room(text: str, name: str, threads: int) -> int:
    """Return the number of thread blocks of a kernel, of `threads` threads, that the current device holds at a time."""
    import cupy

    processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
    function = module(text).get_function(name).kernel
    return int(processors * cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, threads, 0))


@cache
def own_cache() -> None:
    """Place CuPy's cache where no other user can change it. Raises BadInput if CUPY_CACHE_DIR is not safe."""
    given = os.environ.get("CUPY_CACHE_DIR")
    try:
        folder = Path(given or Path.home() / ".cupy" / "kernel_cache")
        make_private(folder)
        unsafe = weakness(folder)
    except (OSError, RuntimeError):  # no home, or not writable: CuPy caches nothing
        return
    if unsafe and given:
        raise BadInput(f"CUPY_CACHE_DIR={given}: {unsafe}, and could exchange kernels; choose a folder of your own")
    if unsafe:
        os.environ["CUPY_CACHE_DIR"] = str(cache_folder() / "cupy")


@cache
def module(text: str) -> Any:
    """Return the text as a `cupy.RawModule` for the current device. Raises KernelError if NVRTC rejects it."""
    import cupy

    own_cache()
    raw = cupy.RawModule(code=text, options=OPTIONS, backend="nvrtc")
    try:
        raw.compile()
    except cupy.cuda.compiler.CompileException as error:
        raise KernelError(f"a kernel text does not compile for the GPU:\n{error}") from error
    return raw


def kernel(text: str, name: str) -> tuple[Any, int]:
    """Return a kernel of a text for the current device, and the dynamic shared memory of its launches in bytes:
    `SHARED(bytes)` in the text (`held_cuda.h`), or 0.
    """
    import cupy

    return _kernel_on(cupy.cuda.runtime.getDevice(), text, name)


@cache
def _kernel_on(device: int, text: str, name: str) -> tuple[Any, int]:
    """Do `kernel` for the current `device`: the limit of shared memory is set per device."""
    import cupy

    raw, shared = module(text), 0
    function = raw.get_function(name)
    if "\nSHARED(" in text:
        shared = int(cupy.ndarray((1,), np.uint32, raw.get_global("shared_bytes")).get()[0])
        function.max_dynamic_shared_size_bytes = shared
    return function, shared
