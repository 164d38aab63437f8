"""The devices of tests of kernels: cores, and a GPU, or with `pytest --emulate` one that is emulated.

The host compiler makes kernels of the texts for GPUs then (see `emulated.h`), with fibers for threads. That shows
whether threads visit all cells, wait for each other and fold as they should; of NVRTC, memory and streams it says
nothing.
"""

from __future__ import annotations

import ctypes
import os
import re
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from taskflow.runtime.machine.device import Device, Lane, cpu, gpu
from taskflow.runtime.machine.kernel import compile_cuda, compile_host, kernel
from taskflow.runtime.machine.kernel.call import Value, thunk
from taskflow.runtime.machine.kernel.kernel import CudaKernel, HostKernel, Tile, cuda_text
from taskflow.runtime.machine.kernel.parameters import parameters
from taskflow.runtime.machine.kernel.text import explained
from taskflow.runtime.regions import Box
from taskflow.runtime.tasks import Task

DEVICES = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]
EMULATE = "TASKFLOW_TESTS_EMULATE"  # set by the option, for all processes of tests
INSTRUCTIONS = {  # of a GPU, and C++ for what they leave; Newton's steps end where they would from an approximation
    r'asm volatile\("prefetch[^;]*;".*?\);': ";",
    r'asm volatile\("" : "\+l".*?\);': ";",
    r'asm\("rsqrt\.approx.*?\);': "close = 1 / sqrt(a);",
    r'asm\("rcp\.approx.*?\);': "close = 1 / a;",
}
CUDA = (Path(__file__).parent / "emulated.h").read_text()
ROOM = 8  # thread blocks at once, of kernels that ask
_alone = threading.Lock()  # a launch has all fibers
_emulated: set[Device] = set()


def opened(name: str, threads: int = 2) -> Device:
    """A device of `DEVICES`."""
    return one_gpu() if name == "gpu" else cpu(threads)


def one_gpu() -> Device:
    """A GPU, or a core whose kernels are compiled from texts for GPUs."""
    if EMULATE not in os.environ:
        return gpu()
    device = cpu()
    _emulated.add(device)
    kernel.HostKernel, kernel._make = _kernel, _make  # type: ignore[misc, assignment]
    return device


class EmulatedKernel(CudaKernel):
    """A kernel for GPUs that the host compiler made."""

    def tile(self, cells: Box, middle: Box | None = None) -> Any:
        with _alone, pytest.MonkeyPatch.context() as patch:
            patch.setattr(compile_cuda, "room", lambda *_: ROOM)
            return super().tile(cells, middle)

    def _call(
        self, box: Box, values: list[Value], lane: Lane | None, keep: object, tile: Tile
    ) -> Callable[[], None]:
        library = compile_host.library(text(self.task, self.real))
        grid, threads = ((ctypes.c_uint * 3)(*shape) for shape in self._shape(box, tile))
        pointers = [int(value) if isinstance(value, np.uint64) else value.ctypes.data for value in values]
        block = (ctypes.c_void_p * len(values))(*pointers)
        function = library[f"call_{self.task.symbol}"]

        def call(_: object = (values, keep)) -> None:
            with _alone:
                library.emulate(function, block, grid, threads)

        return call


@cache
def text(task: Task, real: np.dtype) -> str:
    """The text of a task for a GPU, with what it uses of CUDA, for the host compiler."""
    kinds, translated = [kind for kind, _ in parameters(task)], cuda_text(task, real)
    for instruction, meaning in INSTRUCTIONS.items():
        translated = re.sub(instruction, meaning, translated)
    return "".join([CUDA, translated, thunk(task.symbol, ["Range", *kinds])])


def _kernel(task: Task, real: np.dtype, device: Device) -> kernel.Kernel:
    return (EmulatedKernel if device in _emulated else HostKernel)(task, real, device)


def _make(device: Device, made: kernel.Made, usual: Callable[[Device, kernel.Made], None] = kernel._make) -> None:
    if device in _emulated:
        with explained(made[0]):
            compile_host.library(text(*made[:2]))
    else:
        usual(device, made)
