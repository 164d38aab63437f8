"""The CUDA compiler: kernel texts through CuPy's NVRTC, which keeps compiled texts in a cache of its own."""

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

# No fused multiply-adds: the same values as on a CPU. CUDA 12 takes a lambda that says nothing for a host function.
OPTIONS = ("-std=c++17", "--fmad=false", "--device-as-default-execution-space", "-DGPU")


@cache
def room(text: str, name: str, threads: int) -> int:
    """Return how many thread blocks of so many threads the current device does at once of a kernel."""
    import cupy

    processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
    function = module(text).get_function(name).kernel
    return int(processors * cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, threads, 0))


@cache
def own_cache() -> None:
    """Let CuPy keep compiled texts where no other user can change them. Raises BadInput if CUPY_CACHE_DIR is not so."""
    given = os.environ.get("CUPY_CACHE_DIR")
    try:
        folder = Path(given or Path.home() / ".cupy" / "kernel_cache")
        make_private(folder)
        unsafe = weakness(folder)
    except (OSError, RuntimeError):  # no home, or nothing can be written: CuPy keeps nothing
        return
    if unsafe and given:
        raise BadInput(f"CUPY_CACHE_DIR={given}: {unsafe}, and could exchange kernels; choose a folder of your own")
    if unsafe:
        os.environ["CUPY_CACHE_DIR"] = str(cache_folder() / "cupy")


@cache
def module(text: str) -> Any:
    """The text as a `cupy.RawModule` for the current device. Raises KernelError where NVRTC refuses the text."""
    import cupy

    own_cache()
    raw = cupy.RawModule(code=text, options=OPTIONS, backend="nvrtc")
    try:
        raw.compile()
    except cupy.cuda.compiler.CompileException as error:
        raise KernelError(f"a kernel text does not compile for the GPU:\n{error}") from error
    return raw


def kernel(text: str, name: str) -> tuple[Any, int]:
    """A kernel of a text for the current device, and how many bytes of shared memory its launches have to give it:
    what the text says with `SHARED(bytes)` (`held_cuda.h`), or none.
    """
    import cupy

    return _kernel_on(cupy.cuda.runtime.getDevice(), text, name)


@cache
def _kernel_on(device: int, text: str, name: str) -> tuple[Any, int]:
    """The same of a device, the current one: each has to allow its launches as many bytes."""
    import cupy

    raw, shared = module(text), 0
    function = raw.get_function(name)
    if "\nSHARED(" in text:
        shared = int(cupy.ndarray((1,), np.uint32, raw.get_global("shared_bytes")).get()[0])
        function.max_dynamic_shared_size_bytes = shared
    return function, shared
