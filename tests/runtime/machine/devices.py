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
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from taskflow.runtime.machine.device import Device, Lane, cpu, gpu
from taskflow.runtime.machine.kernel import compile_cuda, compile_host, kernel
from taskflow.runtime.machine.kernel.agreement import parameters
from taskflow.runtime.machine.kernel.host_call import Value, pointers, thunk
from taskflow.runtime.machine.kernel.kernel import CudaKernel, HostKernel
from taskflow.runtime.machine.kernel.text import explained
from taskflow.runtime.machine.kernel.texts import common, symbol, text_for
from taskflow.runtime.regions import Box, Triple
from taskflow.runtime.tasks import Task

DEVICES = ["cpu", pytest.param("gpu", marks=pytest.mark.gpu)]
EMULATE = "TASKFLOW_TESTS_EMULATE"  # set by the option, for all processes of tests
INSTRUCTIONS = {  # of a GPU, and C++ for what they leave; Newton's steps end where they would from an approximation
    r'asm volatile\("prefetch[^;]*;".*?\);': ";",
    r'asm volatile\("" : "\+l".*?\);': ";",
    r'asm volatile\("fence.*?\);': ";",
    r'asm volatile\("bar\.sync 1.*?\);': "emulation::meet(emulation::part, threads);",
    r'asm volatile\("mov\.u64 %0, %globaltimer.*?\);': "ns = emulation::nanoseconds();",
    r'asm volatile\("cp\.async\.ca.*?\);': "emulation::begin_copy(held_memory + place / sizeof(real), from);",
    r'asm volatile\("cp\.async\.wait.*?\);': "emulation::end_copies();",
    r"extern __shared__ real (\w+)\[\];": r"static real \1[1 << 16];",
    r'asm\("rsqrt\.approx.*?\);': "close = 1 / sqrt(a);",
    r'asm\("rcp\.approx.*?\);': "close = 1 / a;",
}
CUDA = (Path(__file__).parent / "emulated.h").read_text()
LISTS = 'extern "C" void call_{0}(void** of) {{ {0}((const PieceArguments*)of[0], (const PlacedBlock*)of[1]{1}); }}\n'
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
    device.tiled = False
    _emulated.add(device)
    kernel.HostKernel, kernel._make = _kernel, _make
    return device


class EmulatedKernel(CudaKernel):
    """A kernel for GPUs that the host compiler made."""

    def tile(self, cells: Box, middle: Box | None = None) -> Any:
        with _alone, pytest.MonkeyPatch.context() as patch:
            patch.setattr(compile_cuda, "room", lambda *_: ROOM)
            return super().tile(cells, middle)

    def launch(
        self, shape: tuple[Triple, Triple], values: Sequence[Value], lane: Lane | None, keep: object, *,
        listed: bool = False,
    ) -> Callable[[], None]:  # fmt: skip
        library = compile_host.library(text(self.task, self.real, listed))
        grid, threads = ((ctypes.c_uint * 3)(*numbers) for numbers in shape)
        block, function = pointers(values), library[f"call_{symbol(self.task, listed)}"]

        def call(_: object = (values, keep)) -> None:
            with _alone:
                library.emulate(function, block, grid, threads)

        return call


@cache
def text(task: Task, real: np.dtype, listed: bool) -> str:
    """The text of a task for a GPU, of one box or of lists, with what it uses of CUDA, for the host compiler."""
    kinds, translated = [kind for kind, _ in parameters(task)], text_for(task, real, "gpu", listed)
    for instruction, meaning in INSTRUCTIONS.items():
        translated = re.sub(instruction, meaning, translated)
    once = "".join(f", *(const {kinds[n]}*)of[{2 + m}]" for m, n in enumerate(common(task, real)))
    call = LISTS.format(symbol(task, True), once) if listed else thunk(task.symbol, ["Range", *kinds])
    return "".join([CUDA, translated, call])


def _kernel(task: Task, real: np.dtype, device: Device) -> kernel.Kernel:
    return (EmulatedKernel if device in _emulated else HostKernel)(task, real, device)


def _make(device: Device, made: kernel.Made, usual: Callable[[Device, kernel.Made], None] = kernel._make) -> None:
    if device in _emulated:
        with explained(made[0]):
            compile_host.library(text(made[0], made[1], made[3]))
    else:
        usual(device, made)
