"""What this machine has that matters to taskflow, and why it lacks the rest. For people to read; opens no GPU."""

from __future__ import annotations

import ctypes
import os
import platform
from dataclasses import dataclass

import psutil

from taskflow.errors import BadInput
from taskflow.machine.channel.ucx_library import ucx_problem
from taskflow.machine.device import gpu_problem, processor_name
from taskflow.machine.kernel.compile_host import Compiler, cache_folder, compiler


@dataclass(frozen=True)
class Inventory:
    """Usable cores, memory in bytes, compiler, GPUs (name, bytes), UCX; or what is wrong with them."""

    host: str
    processor: str
    cores: int
    cores_of_host: int
    memory: int
    free: int
    compiler: Compiler | None
    compiler_problem: str | None
    cache: str
    gpus: tuple[tuple[str, int], ...]
    gpu_problem: str | None
    ucx_problem: str | None


def inventory() -> Inventory:
    """Look at this machine; errors are part of what is found."""
    found, problem = None, None
    try:
        found = compiler()
    except BadInput as error:
        problem = str(error)
    memory = psutil.virtual_memory()
    return Inventory(
        host=platform.node(),
        processor=processor_name(),
        cores=len(os.sched_getaffinity(0)),
        cores_of_host=os.cpu_count() or 1,
        memory=memory.total,
        free=memory.available,
        compiler=found,
        compiler_problem=problem,
        cache=str(cache_folder()),
        gpus=gpus_of_driver(),
        gpu_problem=gpu_problem(),
        ucx_problem=ucx_problem(),
    )


def gpus_of_driver() -> tuple[tuple[str, int], ...]:
    """Name and memory in bytes of every GPU that the NVIDIA driver shows this process; none without a driver."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return ()
    count = ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return ()
    found = []
    for ordinal in range(count.value):
        device, name, size = ctypes.c_int(0), ctypes.create_string_buffer(256), ctypes.c_size_t(0)
        if driver.cuDeviceGet(ctypes.byref(device), ordinal) or driver.cuDeviceGetName(name, len(name), device):
            continue
        driver.cuDeviceTotalMem_v2(ctypes.byref(size), device)
        found.append((name.value.decode(errors="replace"), size.value))
    return tuple(found)


def transport(requested: str, processes: int) -> str:
    """The channel that `machine.channel` means between blocks in so many processes of this machine."""
    if requested != "auto":
        return requested
    return "local" if processes == 1 else "actor" if ucx_problem() else "ucx"
