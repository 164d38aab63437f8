"""Devices: the processors and the memory that a block lives on."""

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
SPARE = 1 << 30  # bytes of a GPU that copies leave free


class Allocator(Protocol):
    """A maker of arrays."""

    def allocate(self, shape: tuple[int, ...], dtype: np.dtype | str) -> Array:
        """A C-ordered array of zeros."""


class Device(ABC):
    """Processors with one memory. `xp` is their array library (NumPy or CuPy), `threads` the cores a kernel may use.
    Private fields that have a tile are stored by it where it is `tiled`.
    """

    kind: ClassVar[Kind]
    xp: Any
    name: str
    threads: int
    alarm: Alarm
    tiled: bool = False  # threads of a GPU are in all rows of a tile at once: there it costs and brings nothing

    @abstractmethod
    def allocate(self, shape: tuple[int, ...], dtype: np.dtype | str) -> Array:
        """A C-ordered array of zeros."""

    def arena(self, nbytes: int) -> Allocator:
        """An allocator of arrays that belong together, of so many bytes in all (see `Arena.room`)."""
        return self

    @abstractmethod
    def activate(self) -> None:
        """From now on this thread works on this device."""

    def upload(self, values: np.ndarray) -> Array:
        """A copy of these values on the device, there for all lanes. Other threads may record CUDA graphs meanwhile, as
        they may not while one waits for the whole GPU.
        """
        array = self.allocate(values.shape, values.dtype)
        array[...] = self.xp.asarray(values)
        return array

    @abstractmethod
    def to_host(self, array: Array) -> np.ndarray:
        """The array's values in host memory: the array itself where it is there already."""

    @abstractmethod
    def hold(self, array: Array) -> Callable[[], np.ndarray]:
        """Copy what the array holds, as this thread has enqueued it; the result gives the copy in host memory, once,
        from any thread, while the device goes on.
        """

    @abstractmethod
    def synchronize(self) -> None:
        """Wait until the device has done everything."""

    @abstractmethod
    def pointer(self, array: Array) -> int:
        """The address of the array's first element."""


class Cpu(Device):
    """Cores of this host."""

    kind = "cpu"

    def __init__(self, threads: int) -> None:
        self.xp, self.threads, self.name = np, threads, processor_name()
        self._allocated, self.alarm, self.tiled = 0, Alarm(np.zeros(1, np.uint32)), True

    def allocate(self, shape: tuple[int, ...], dtype: np.dtype | str) -> Array:
        """A C-ordered array of zeros.

        Arrays begin at different places in their page: where a store and a load that follows have the same place in
        theirs, a core takes one for the other and waits.
        """
        count, size = int(np.prod(shape, dtype=np.int64)), np.dtype(dtype).itemsize
        memory = np.zeros(count * size + 2 * PAGE, np.uint8)
        self._allocated += 1
        start = -memory.ctypes.data % PAGE + self._allocated * 17 * LINE % PAGE
        return memory[start : start + count * size].view(dtype).reshape(shape)

    def to_host(self, array: Array) -> np.ndarray:
        return np.asarray(array)

    def hold(self, array: Array) -> Callable[[], np.ndarray]:
        copy = np.array(array)
        return lambda: copy

    def activate(self) -> None:
        """Do nothing: every thread can work on all cores."""

    def synchronize(self) -> None:
        """Do nothing: everything is done when it is called."""

    def pointer(self, array: Array) -> int:
        return int(array.ctypes.data)


class Gpu(Device):
    """One of the GPUs that this process sees, through CuPy: number `ordinal` among them."""

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
        """A copy of the array's values in host memory."""
        compact = self.xp.ascontiguousarray(array)
        if compact.nbytes < LARGE:
            return np.asarray(compact.get())
        self.xp.cuda.get_current_stream().synchronize()
        return self._copier.fetch(compact)

    def hold(self, array: Array) -> Callable[[], np.ndarray]:
        """The copy stays on the GPU until it is asked for, where there is room for it. Allocates nothing later."""
        copier = self._copier  # made now: to pin memory later could wait for a GPU that waits for this process
        if array.nbytes + SPARE <= self._free:
            with suppress(MemoryError):  # what is free may be in pieces
                copies = [array.copy()]
                self.xp.cuda.get_current_stream().synchronize()
                return lambda: copier.fetch(copies.pop())  # its memory is free again as soon as that is done
        values = self.to_host(array)
        return lambda: values

    @cached_property
    def _copier(self) -> HostCopier:
        return HostCopier(self.xp, self.ordinal)

    @property
    def _free(self) -> int:
        """Bytes that can still be allocated."""
        pool = self.xp.get_default_memory_pool()
        return int(self.xp.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())

    def synchronize(self) -> None:
        self.xp.cuda.Device(self.ordinal).synchronize()

    def pointer(self, array: Array) -> int:
        return int(array.data.ptr)


def cpu(threads: int = 1) -> Device:
    """Cores of this host."""
    return Cpu(threads)


def gpu(ordinal: int = 0) -> Device:
    """A GPU that this process sees, the first by default. Raises BadInput, with the reason, where it is not usable."""
    if problem := gpu_problem():
        raise BadArgument("device", "'gpu'", f": {problem}", "use {parameter} = 'cpu'")
    return Gpu(ordinal)


def open_device(kind: Kind, threads: int = 1, ordinal: int = 0) -> Device:
    """The device of a block: the GPU of this number in its process, or so many cores."""
    return gpu(ordinal) if kind == "gpu" else cpu(threads)


def gpu_problem() -> str | None:
    """Why this process cannot use a GPU, or None if it can. Imports nothing and creates no context."""
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
    """The name that the processor of this host has."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()
