"""The copy bandwidth of a device, the reference for kernels that are limited by memory: measured or known."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import tempfile
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from statistics import median

import psutil

from taskflow.runtime.machine.device import Array, Device
from taskflow.runtime.machine.kernel.compile_host import cache_folder
from taskflow.runtime.machine.kernel.copying import copier, place
from taskflow.runtime.machine.kernel.includes import INCLUDE

MEBIBYTE = 1 << 20
SYSTEM = Path("/sys/devices/system/cpu")
LEAST, MOST = 128, 256  # MiB of an array far larger than most caches; virtual machines may hide theirs
CACHES = 4  # times the last-level caches, as in STREAM: larger arrays take longer, above all in new memory


def known_copy_bandwidth(device: Device) -> float:
    """Return the copy bandwidth of a device, measured once per host and number of cores. The value is kept with the
    compiled kernels.
    """
    texts = b"".join((INCLUDE / name).read_bytes() for name in ("copy.cu", "copy_whole.cu"))
    copy = hashlib.sha256(texts).hexdigest()  # another kernel, another bandwidth
    identity = json.dumps([copy, socket.gethostname(), device.kind, device.name, device.threads])
    path = cache_folder() / f"copy-{hashlib.sha256(identity.encode()).hexdigest()[:32]}.json"
    with suppress(OSError, ValueError):
        if (kept := float(json.loads(path.read_text(encoding="utf-8")))) > 0:
            return kept
    measured = copy_bandwidth(device)
    with (
        suppress(OSError),  # a full disk
        tempfile.TemporaryDirectory(prefix="build-", dir=path.parent, ignore_cleanup_errors=True) as folder,
    ):
        draft = Path(folder) / path.name
        draft.write_text(json.dumps(measured), encoding="utf-8")
        draft.replace(path)
    return measured


def copy_bandwidth(device: Device, mebibytes: int | None = None, repeats: int = 9, *, driver: bool = False) -> float:
    """Return the copy bandwidth of a device in bytes per second, read plus written: the median over copies of an array
    far larger than the caches. Without `mebibytes` the two arrays are as large as this needs, or as memory permits.

    The copy is compiled like every kernel, with ordinary stores. On most CPUs a store first loads the line it
    overwrites. This is not counted, here as in the bytes of a kernel. With `driver` the driver of a GPU copies, or
    `memmove` on the threads of a CPU: the most that the memory gives a copy.
    """
    shape = (mebibytes or _affordable(device), 128, 1024)
    target, source = (device.allocate(shape, "f8") for _ in range(2))
    source[...] = 1.0
    copy = _driver_copier(device, target, source) if driver else copier(device, target, source)
    seconds = []
    for _ in range(repeats + 1):
        device.synchronize()
        start = time.perf_counter()
        copy()
        device.synchronize()
        seconds.append(time.perf_counter() - start)
    return 2 * target.nbytes / median(seconds[1:])


def _driver_copier(device: Device, target: Array, source: Array) -> Callable[[], object]:
    """Return an operation `target[...] = source` of whole arrays without a kernel."""
    to, by, nbytes = place(target), place(source), target.nbytes
    if device.kind == "gpu":
        return partial(device.move, to, by, nbytes, device.xp.cuda.get_current_stream())
    part, pool = -(-nbytes // device.threads), ThreadPoolExecutor(device.threads)

    def copy(begin: int) -> None:
        device.move(to + begin, by + begin, min(part, nbytes - begin), None)

    return lambda: deque(pool.map(copy, range(0, nbytes, part)), maxlen=0)


def _affordable(device: Device) -> int:
    """Return the size of each of the two arrays in MiB, such that concurrent measurements use at most half of the free
    memory: one per `threads` cores of this host, four on a GPU.
    """
    if device.kind == "gpu":
        free, others, enough = int(device.xp.cuda.runtime.memGetInfo()[0]), 4, MOST
    else:
        free, others = psutil.virtual_memory().available, -(-(os.cpu_count() or 1) // device.threads)
        enough = _beyond_caches()
    return max(1, min(enough, free // (4 * others * MEBIBYTE)))


def _beyond_caches() -> int:
    """Return `CACHES` times the size of the third-level caches of the cores that this process may use, in MiB, from
    LEAST to MOST; MOST if the system does not report it.
    """
    caches = {}
    for core in os.sched_getaffinity(0):
        cache = SYSTEM / f"cpu{core}" / "cache" / "index3"
        try:
            size = (cache / "size").read_text().strip().removesuffix("K")
            caches[(cache / "shared_cpu_list").read_text()] = int(size)
        except (OSError, ValueError):
            return MOST
    return min(MOST, max(LEAST, CACHES * sum(caches.values()) // 1024))
