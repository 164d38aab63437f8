"""The copy bandwidth of a device: the measure of kernels that move more than they compute."""

from __future__ import annotations

import os
import time
from pathlib import Path
from statistics import median

import psutil

from taskflow.machine.device import Device
from taskflow.machine.kernel.copying import copier

MEBIBYTE = 1 << 20
SYSTEM = Path("/sys/devices/system/cpu")
LEAST, ENOUGH = 128, 256  # mebibytes of an array that is far larger than most caches; virtual machines may deny theirs
CACHES = 4  # times the last caches, as STREAM's arrays: more takes longer, most of all in memory never used before


def copy_bandwidth(device: Device, mebibytes: int | None = None, repeats: int = 9) -> float:
    """Bytes read plus bytes written per second when an array far larger than the caches is copied with all of the
    device: the median. Without `mebibytes` the two arrays are as large as that takes, or as there is room for.

    The copy is compiled like every kernel, with ordinary stores: on most CPUs each of them first fetches what it
    overwrites, which is not counted, here as in the bytes that a kernel has to move.
    """
    shape = (mebibytes or _affordable(device), 128, 1024)
    target, source = (device.allocate(shape, "f8") for _ in range(2))
    source[...] = 1.0
    copy = copier(device, target, source)
    seconds = []
    for _ in range(repeats + 1):
        device.synchronize()
        start = time.perf_counter()
        copy()
        device.synchronize()
        seconds.append(time.perf_counter() - start)
    return 2 * target.nbytes / median(seconds[1:])


def _affordable(device: Device) -> int:
    """Mebibytes of each of the two arrays, so that all who measure at the same time take half of the free memory at
    most: one for each `threads` cores of this host, four on a GPU.
    """
    if device.kind == "gpu":
        free, others, enough = int(device.xp.cuda.runtime.memGetInfo()[0]), 4, ENOUGH
    else:
        free, others = psutil.virtual_memory().available, -(-(os.cpu_count() or 1) // device.threads)
        enough = _beyond_caches()
    return max(1, min(enough, free // (4 * others * MEBIBYTE)))


def _beyond_caches() -> int:
    """Mebibytes that are `CACHES` times the third-level caches of the cores that this process may use, from LEAST to
    ENOUGH; that where the system does not tell.
    """
    found = {}
    for core in os.sched_getaffinity(0):
        cache = SYSTEM / f"cpu{core}" / "cache" / "index3"
        try:
            found[(cache / "shared_cpu_list").read_text()] = int((cache / "size").read_text().strip().removesuffix("K"))
        except (OSError, ValueError):
            return ENOUGH
    return min(ENOUGH, max(LEAST, CACHES * sum(found.values()) // 1024))
