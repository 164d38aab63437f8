"""The CUDA compiler: kernel texts through CuPy's NVRTC, which keeps compiled texts in a cache of its own."""

from __future__ import annotations

from functools import cache
from typing import Any

from taskflow.runtime.machine.kernel.agreement import KernelError

OPTIONS = ("-std=c++17", "--fmad=false", "-DGPU")  # no fused multiply-adds: the same values as on a CPU


@cache
def room(text: str, name: str, threads: int) -> int:
    """Return how many thread blocks of so many threads the current device does at once of a kernel."""
    import cupy

    processors = cupy.cuda.Device().attributes["MultiProcessorCount"]
    function = module(text).get_function(name).kernel
    return int(processors * cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.ptr, threads, 0))


@cache
def module(text: str) -> Any:
    """The text as a `cupy.RawModule` for the current device. Raises KernelError where NVRTC refuses the text."""
    import cupy

    raw = cupy.RawModule(code=text, options=OPTIONS, backend="nvrtc")
    try:
        raw.compile()
    except cupy.cuda.compiler.CompileException as error:
        raise KernelError(f"a kernel text does not compile for the GPU:\n{error}") from error
    return raw
