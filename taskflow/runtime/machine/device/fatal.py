"""Errors after which a process cannot use its GPU any more, while another process, or another GPU, can go on."""

from __future__ import annotations

import atexit
import os
import sys
from types import TracebackType

# CUDA driver API, cuda.h, enum CUresult; the runtime's numbers are the same: unavailable, no device, ECC, NVLink,
# illegal address, launch timeout, hardware stack, illegal instruction, misaligned address, invalid address space,
# invalid program counter, launch failed, contained, unknown.
FATAL = frozenset({46, 100, 214, 220, 700, 702, 714, 715, 716, 717, 718, 719, 721, 999})


def hush() -> None:
    """From now on nothing is said of what cannot be given back to a GPU that is lost, as the objects end that had it.

    Cython says it by both hooks. What is left when the interpreter ends comes after these.
    """
    usual, other = sys.unraisablehook, sys.excepthook

    def unraisable(what: sys.UnraisableHookArgs) -> None:
        if what.exc_value is None or not gpu_lost(what.exc_value):
            usual(what)

    def raised(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not gpu_lost(error):
            other(kind, error, trace)

    sys.unraisablehook, sys.excepthook = unraisable, raised
    atexit.register(_deafen)


def _deafen() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def gpu_lost(error: BaseException) -> bool:
    """Whether an error that came out of CuPy says that the process has lost its GPU."""
    cupy = sys.modules.get("cupy")
    if cupy is None:
        return False
    kinds = cupy.cuda.runtime.CUDARuntimeError, cupy.cuda.driver.CUDADriverError
    return isinstance(error, kinds) and error.status in FATAL
