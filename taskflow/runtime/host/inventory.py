"""The inventory of this machine: what it has that matters here, and why it lacks the rest. Opens no GPU."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil

from taskflow.errors import BadInput
from taskflow.runtime.host.accelerators import Accelerator, accelerators
from taskflow.runtime.host.infiniband import Port, ports
from taskflow.runtime.machine.channel import PREFERENCE, channel_problem
from taskflow.runtime.machine.channel.ucx import ways_between_hosts
from taskflow.runtime.machine.device import gpu_problem, processor_name
from taskflow.runtime.machine.kernel.compile_host import Compiler, compiler
from taskflow.runtime.machine.kernel.library_cache import cache_folder

T = TypeVar("T")


@dataclass(frozen=True)
class Inventory:
    """Usable cores, memory in bytes, compiler, where kernels are kept, GPUs, UCX and how it reaches other hosts; or
    what is wrong with them.
    """

    host: str
    processor: str
    cores: int
    cores_of_host: int
    memory: int
    free: int
    compiler: Compiler | None
    compiler_problem: str | None
    cache: Path | None
    cache_problem: str | None
    gpus: tuple[Accelerator, ...]
    gpu_problem: str | None
    peer_problem: str | None
    ucx_problem: str | None
    ucx_ways: tuple[str, ...]
    infiniband: tuple[Port, ...]


def inventory() -> Inventory:
    """Look at this machine; errors are part of what is found."""
    host_compiler, problem = _found(compiler)
    cache, cache_problem = _found(cache_folder)
    memory = psutil.virtual_memory()
    ucx = channel_problem("ucx")
    return Inventory(
        host=platform.node(),
        processor=processor_name(),
        cores=len(os.sched_getaffinity(0)),
        cores_of_host=os.cpu_count() or 1,
        memory=memory.total,
        free=memory.available,
        compiler=host_compiler,
        compiler_problem=problem,
        cache=cache,
        cache_problem=cache_problem,
        gpus=accelerators(),
        gpu_problem=gpu_problem(),
        peer_problem=channel_problem("peer"),
        ucx_problem=ucx,
        ucx_ways=() if ucx else ways_between_hosts(),
        infiniband=ports(),
    )


def _found(look: Callable[[], T]) -> tuple[T | None, str | None]:
    """Look for something; it, or what is wrong with it."""
    try:
        return look(), None
    except BadInput as error:
        return None, str(error)


def transport(requested: str, processes: int) -> str:
    """The channel that is `requested` means between blocks in so many processes of this machine."""
    if requested != "auto":
        return requested
    if processes == 1:
        return "local"
    return next(name for name in PREFERENCE if name != "local" and channel_problem(name) is None)
