"""The GPUs visible to this process, as listed by the driver, without creating a context."""

from __future__ import annotations

import ctypes
import uuid
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from taskflow.runtime.machine.device.driver import library


@dataclass(frozen=True)
class Accelerator:
    """A GPU: its number in this process, its name, its UUID, and its total and free memory in bytes."""

    ordinal: int
    name: str
    identity: str
    memory: int
    free: int


def accelerators() -> tuple[Accelerator, ...]:
    """Return every GPU that the NVIDIA driver shows this process, in its order; none without a driver.

    All memory counts as free if NVML does not report it.
    """
    try:
        driver, count = library(), ctypes.c_int(0)  # unlike NVML, it numbers the GPUs visible to this process
    except OSError:
        return ()
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
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
    device = nvml_handle(identity)
    if device is None:
        return memory
    import pynvml

    with suppress(pynvml.NVMLError):
        memory = min(memory, int(pynvml.nvmlDeviceGetMemoryInfo(device).free))
    return memory


def nvml_handle(identity: str) -> Any:
    """Return NVML's handle of a GPU or a part of one (MIG), or None if NVML is missing or does not have it."""
    import pynvml

    with suppress(pynvml.NVMLError):
        pynvml.nvmlInit()
        for kind in ("GPU", "MIG"):
            with suppress(pynvml.NVMLError):
                return pynvml.nvmlDeviceGetHandleByUUID(f"{kind}-{identity}")
    return None
