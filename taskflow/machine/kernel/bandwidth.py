"""The copy bandwidth of a device: the measure of kernels that move more than they compute."""

from __future__ import annotations

import time
from statistics import median

from taskflow.machine.device import Device
from taskflow.machine.kernel.copying import copier

MEBIBYTE = 1 << 20


def copy_bandwidth(device: Device, mebibytes: int = 256, repeats: int = 9) -> float:
    """Bytes read plus bytes written per second when an array far larger than the caches is copied with all of the
    device: the median.

    The copy is compiled like every kernel, with ordinary stores: on most CPUs each of them first fetches what it
    overwrites, which is not counted, here as in the bytes that a kernel has to move.
    """
    target, source = (device.allocate((mebibytes, 128, 1024), "f8") for _ in range(2))
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
