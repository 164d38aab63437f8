"""The inventory of this machine: its cores, memory, compiler, GPUs, UCX and InfiniBand, or why they are missing.

Opens no GPU.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psutil

from taskflow.common.errors import BadInput
from taskflow.common.rows import Row
from taskflow.common.units import size
from taskflow.runtime.host.accelerators import Accelerator, accelerators
from taskflow.runtime.machine.channel import PREFERENCE, channel_problem
from taskflow.runtime.machine.channel.ucx import ways_between_hosts
from taskflow.runtime.machine.device import gpu_problem, processor_name
from taskflow.runtime.machine.kernel.compile_host import Compiler, cache_folder, compiler

T = TypeVar("T")
ADAPTERS = Path("/sys/class/infiniband")
RESTRICTING = ("UCX_TLS", "UCX_NET_DEVICES")  # user settings of UCX's transports and devices


@dataclass(frozen=True)
class Port:
    """A port of an adapter as listed by the kernel, with UCX's name for it. `link` is "InfiniBand", or "Ethernet" for
    RoCE.
    """

    name: str
    active: bool
    rate: str
    link: str

    def __str__(self) -> str:
        return f"{self.name} ({self.link}, {self.rate if self.active else 'not active'})"


@dataclass(frozen=True)
class Inventory:
    """Usable cores, memory in bytes, compiler, cache of kernels, GPUs, UCX and its transports between hosts, and their
    problems.
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

    def rows(self) -> Iterator[Row]:
        """Yield rows of `taskflow info`."""
        yield Row("host", f"{self.host}: {self.processor}")
        yield Row("cores", f"{self.cores} usable of {self.cores_of_host}")
        yield Row("memory", f"{size(self.free)} free of {size(self.memory)}")
        yield Row("compiler", self._compiler)
        yield Row("kernels", self.cache_problem or f"kept in {self.cache}")
        listed = ", ".join(f"{gpu.ordinal}: {gpu.name} with {size(gpu.memory)}" for gpu in self.gpus)
        problem = self.gpu_problem and f"{'not usable' if self.gpus else 'none'}: {self.gpu_problem}"
        yield Row("GPUs", "; ".join(filter(None, (listed, problem))))
        yield Row("peer", self.peer_problem or "usable: shared memory, the channel between processes of this host")
        ucx = self.ucx_problem or f"usable: the channel between hosts, by {', '.join(self.ucx_ways)}"
        yield Row("ucxx", ucx)
        yield Row("InfiniBand", self._infiniband)

    @property
    def _compiler(self) -> str:
        if self.compiler is None:
            return self.compiler_problem or ""
        threads = "OpenMP" if self.compiler.parallel else "no OpenMP: kernels run on one core"
        return f"{self.compiler.command[0]}, {self.compiler.version.splitlines()[0]}, {threads}"

    @property
    def _infiniband(self) -> str:
        if not self.infiniband:
            return "none"
        problem = (self.ucx_problem and "not used without ucxx") or unused_ports(self.infiniband, self.ucx_ways)
        return f"{', '.join(map(str, self.infiniband))}: {problem or 'used by UCX'}"


def inventory() -> Inventory:
    """Return the inventory of this machine, including errors."""
    host_compiler, problem = _tried(compiler)
    cache, cache_problem = _tried(cache_folder)
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


def _tried(look: Callable[[], T]) -> tuple[T | None, str | None]:
    """Return the result of `look`, or else the problem that it raises."""
    try:
        return look(), None
    except BadInput as error:
        return None, str(error)


def transport(requested: str, processes: int) -> str:
    """Return the channel of blocks in `processes` processes of this machine for a requested one."""
    if requested != "auto":
        return requested
    if processes == 1:
        return "local"
    return next(name for name in PREFERENCE if name != "local" and channel_problem(name) is None)


def ports(folder: Path = ADAPTERS) -> tuple[Port, ...]:
    return tuple(
        Port(
            name=f"{path.parents[1].name}:{path.name}",
            active=_read(path / "state").endswith("ACTIVE"),
            rate=_read(path / "rate"),
            link=_read(path / "link_layer"),
        )
        for path in sorted(folder.glob("*/ports/*"))
    )


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"


def unused_ports(known: Sequence[Port], ways: Sequence[str]) -> str | None:
    """Return why UCX, with these `ways` between hosts, does not use an active port, or None if it uses all."""
    devices = {way.partition("/")[2] for way in ways}
    unused = [port.name for port in known if port.active and port.name not in devices]
    if not unused:
        return None
    reason = "this UCX was built without InfiniBand, as wheels are; the conda-forge build has it (deploy/conda)"
    if chosen := [f"{name}={os.environ[name]}" for name in RESTRICTING if name in os.environ]:
        reason = f"{' and '.join(chosen)} may forbid it"
    return f"UCX does not use {', '.join(unused)}: {reason}"
