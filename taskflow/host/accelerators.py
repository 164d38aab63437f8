"""The GPUs that this process sees, as the driver lists them. Nothing is created on any of them."""

from __future__ import annotations

import ctypes
import uuid
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Accelerator:
    """A GPU: its number in this process, its name, what tells it from all others, and its bytes: all, and free ones."""

    ordinal: int
    name: str
    identity: str
    memory: int
    free: int


def accelerators() -> tuple[Accelerator, ...]:
    """Every GPU that the NVIDIA driver shows this process, in its order; none without a driver.

    Where NVML cannot tell what is free, all memory counts as free.
    """
    driver, count = _library("libcuda.so.1"), ctypes.c_int(0)
    if driver is None or driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return ()
    return tuple(gpu for ordinal in range(count.value) if (gpu := _describe(driver, ordinal)) is not None)


def _describe(driver: ctypes.CDLL, ordinal: int) -> Accelerator | None:
    device, name, size = ctypes.c_int(0), ctypes.create_string_buffer(256), ctypes.c_size_t(0)
    key = ctypes.create_string_buffer(16)
    if (
        driver.cuDeviceGet(ctypes.byref(device), ordinal)
        or driver.cuDeviceGetName(name, len(name), device)
        or driver.cuDeviceTotalMem_v2(ctypes.byref(size), device)
        or driver.cuDeviceGetUuid_v2(key, device)
    ):
        return None
    identity = str(uuid.UUID(bytes=key.raw))
    return Accelerator(ordinal, name.value.decode(errors="replace"), identity, size.value, _free(identity, size.value))


def _free(identity: str, memory: int) -> int:
    """Free bytes of a GPU, or of a part of one (MIG)."""
    found, sizes = handle(identity), (ctypes.c_ulonglong * 3)()  # nvmlMemory_t: total, free, used
    if found is None or found[0].nvmlDeviceGetMemoryInfo(found[1], sizes):
        return memory
    return min(memory, int(sizes[1]))


def handle(identity: str) -> tuple[Any, ctypes.c_void_p] | None:
    """NVML, and what it calls a GPU or a part of one (MIG); None where it is not there or does not know it."""
    library, device = _library("libnvidia-ml.so.1"), ctypes.c_void_p()
    if library is None or library.nvmlInit_v2():
        return None
    for kind in ("GPU", "MIG"):
        if not library.nvmlDeviceGetHandleByUUID(f"{kind}-{identity}".encode(), ctypes.byref(device)):
            return library, device
    return None


def _library(name: str) -> Any:
    """A library of the driver; None where there is none."""
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None
