"""Devices: the processors and the memory of a block."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol

import numpy as np

from taskflow.common.caching import cached_property
from taskflow.common.errors import BadArgument
from taskflow.runtime.machine.device.driver import library
from taskflow.runtime.machine.device.memory import Alarm, Arena, HostCopier

Array = Any  # numpy.ndarray or cupy.ndarray
Kind = Literal["cpu", "gpu"]

PAGE = 4096  # bytes
LINE = 64
LARGE = 1 << 20
SPARE = 1 << 30  # bytes of a GPU that copies must leave free


class Allocator(Protocol):
    """Allocates arrays."""

    def allocate(self, shape: tuple[int, ...], dtype: np.dtype | str) -> Array:
        """Return a C-ordered array of zeros."""


class Device(ABC):
    """Processors with one memory. `xp` is their array library (NumPy or CuPy), `threads` the number of cores for a
    kernel. If `tiled`, private fields are stored by tiles if they have some.
    """

    kind: ClassVar[Kind]
    xp: Any
    name: str
    threads: int
    alarm: Alarm
    tiled: bool = False  # useless on a GPU, whose threads work on all rows of a tile at once

    @abstractmethod
    def allocate(self, shape: tuple[int, ...], dtype: np.dtype | str) -> Array:
        """Return a C-ordered array of zeros."""

    def arena(self, nbytes: int) -> Allocator:
        """Return an allocator of arrays that belong together, `nbytes` in total (see `Arena.room`)."""
        return self

    @abstractmethod
    def activate(self) -> None:
        """Make this device current for this thread."""

    def upload(self, values: np.ndarray) -> Array:
        """Return a copy of the values on the device, visible to all lanes. Does not wait for the whole GPU, which would
        break CUDA graphs that other threads record.
        """
        array = self.allocate(values.shape, values.dtype)
        array[...] = self.xp.asarray(values)
        return array

    @abstractmethod
    def to_host(self, array: Array) -> np.ndarray:
        """Return the values in host memory: the array itself if it is there."""

    @abstractmethod
    def host_buffer(self, nbytes: int) -> np.ndarray:
        """Return bytes in host memory that the device copies from and to without the host."""

    @abstractmethod
    def move(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        """Copy bytes between addresses in memory of the device or the host, after all work on the stream."""

    @abstractmethod
    def hold(self, array: Array) -> Callable[[], np.ndarray]:
        """Copy the values of the array after this thread's enqueued work. The result returns the copy in host memory
        once, from any thread, while the device continues.
        """

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until the device has done everything."""

    @abstractmethod
    def pointer(self, array: Array) -> int:
        """Return the address of the array's first element."""


class Cpu(Device):
    """Cores of this host."""

    kind = "cpu"

    def __init__(self, threads: int) -> None:
        self.xp, self.threads, self.name = np, threads, processor_name()
        self._allocated, self.alarm, self.tiled = 0, Alarm(np.zeros(1, np.uint32)), True

    def allocate(self, shape: tuple[int, ...], dtype: np.dtype | str) -> Array:
        """Return a C-ordered array of zeros.

        Arrays begin at different offsets in their pages: if a store and a later load have the same offset, a core
        assumes that they overlap and waits.
        """
        count, size = int(np.prod(shape, dtype=np.int64)), np.dtype(dtype).itemsize
        memory = np.zeros(count * size + 2 * PAGE, np.uint8)
        self._allocated += 1
        start = -memory.ctypes.data % PAGE + self._allocated * 17 * LINE % PAGE
        return memory[start : start + count * size].view(dtype).reshape(shape)

    def to_host(self, array: Array) -> np.ndarray:
        return np.asarray(array)

    def host_buffer(self, nbytes: int) -> np.ndarray:
        return self.allocate((nbytes,), "u1")

    def move(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        ctypes.memmove(target, source, nbytes)

    def hold(self, array: Array) -> Callable[[], np.ndarray]:
        copy = np.array(array)
        return lambda: copy

    def activate(self) -> None:
        """Do nothing: every thread can use all cores."""

    def synchronize(self) -> None:
        """Do nothing: calls return when their work is done."""

    def pointer(self, array: Array) -> int:
        return int(array.ctypes.data)


class Gpu(Device):
    """A GPU visible to this process, number `ordinal`, through CuPy."""

    kind = "gpu"
    threads = 1

    def __init__(self, ordinal: int = 0) -> None:
        import cupy

        self.xp, self.ordinal = cupy, ordinal
        self.activate()
        self.name = cupy.cuda.runtime.getDeviceProperties(ordinal)["name"].decode()
        self.alarm = Alarm(np.frombuffer(cupy.cuda.alloc_pinned_memory(4), np.uint32, 1))

    def activate(self) -> None:
        self.xp.cuda.Device(self.ordinal).use()

    def arena(self, nbytes: int) -> Arena:
        return Arena(self.xp, nbytes)

    def allocate(self, shape: tuple[int, ...], dtype: np.dtype | str) -> Array:
        return self.xp.zeros(shape, dtype)

    def upload(self, values: np.ndarray) -> Array:
        array = super().upload(values)
        self.xp.cuda.get_current_stream().synchronize()
        return array

    def to_host(self, array: Array) -> np.ndarray:
        """Return a copy of the values in host memory."""
        compact = self.xp.ascontiguousarray(array)
        if compact.nbytes < LARGE:
            return np.asarray(compact.get())
        self.xp.cuda.get_current_stream().synchronize()
        return self._copier.fetch(compact)

    def host_buffer(self, nbytes: int) -> np.ndarray:
        import cupyx

        return cupyx.empty_pinned((nbytes,), np.uint8)

    def move(self, target: int, source: int, nbytes: int, stream: Any) -> None:
        runtime = self.xp.cuda.runtime
        runtime.memcpyAsync(target, source, nbytes, runtime.memcpyDefault, stream.ptr)

    def hold(self, array: Array) -> Callable[[], np.ndarray]:
        """Keep the copy on the GPU until it is requested, if it has room. Allocates nothing later."""
        copier = self._copier  # made now: pinning memory later could deadlock with a GPU that waits for this process
        if array.nbytes + SPARE <= self._free:
            with suppress(MemoryError):  # free memory may be fragmented
                copies = [array.copy()]
                self.xp.cuda.get_current_stream().synchronize()
                return lambda: copier.fetch(copies.pop())  # frees the copy afterwards
        values = self.to_host(array)
        return lambda: values

    @cached_property
    def _copier(self) -> HostCopier:
        return HostCopier(self.xp, self.ordinal)

    @property
    def _free(self) -> int:
        pool = self.xp.get_default_memory_pool()
        return int(self.xp.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())

    def synchronize(self) -> None:
        self.xp.cuda.Device(self.ordinal).synchronize()

    def pointer(self, array: Array) -> int:
        return int(array.data.ptr)


def cpu(threads: int = 1) -> Device:
    """Return `threads` cores of this host."""
    return Cpu(threads)


def gpu(ordinal: int = 0) -> Device:
    """Return a GPU visible to this process, by default the first. Raises BadInput, with the reason, if it is not
    usable.
    """
    if problem := gpu_problem():
        raise BadArgument("device", "'gpu'", f": {problem}", "use {parameter} = 'cpu'")
    return Gpu(ordinal)


def open_device(kind: Kind, threads: int = 1, ordinal: int = 0) -> Device:
    """Return the device of a block: the GPU `ordinal` of its process, or `threads` cores."""
    return gpu(ordinal) if kind == "gpu" else cpu(threads)


def gpu_problem() -> str | None:
    """Return why this process cannot use a GPU, or None if it can. Imports nothing and creates no context."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in ("", "-1", "none", "NoDevFiles"):
        return f"no GPU is visible: CUDA_VISIBLE_DEVICES={os.environ['CUDA_VISIBLE_DEVICES']!r}"
    try:
        driver = library()
    except OSError:
        return "there is no NVIDIA driver (libcuda.so.1) on this machine"
    count = ctypes.c_int(0)
    if error := driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return f"the NVIDIA driver finds no usable GPU (CUDA error {error})"
    if count.value == 0:
        return "the NVIDIA driver finds no GPU"
    if importlib.util.find_spec("cupy") is None:
        return "CuPy is not installed; install taskflow-cfd[cuda13] or taskflow-cfd[cuda12]"
    return None


@cache
def processor_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
