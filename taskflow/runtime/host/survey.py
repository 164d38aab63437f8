"""Surveys of the processes that will hold the blocks, made in these processes."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psutil

from taskflow.common.errors import BadArgument, BadInput
from taskflow.runtime.host.accelerators import Accelerator, accelerators
from taskflow.runtime.host.here import Here
from taskflow.runtime.host.workers import known_workers, run_on_workers
from taskflow.runtime.machine.device import gpu_problem, processor_name

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True)
class Place:
    """A process that can hold blocks: its host, cores, free memory in bytes, visible GPUs, why it cannot compile or use
    a GPU, and the numbers of its cores on the host.
    """

    worker: str
    host: str
    cores: int
    memory: int
    processor: str
    gpus: tuple[Accelerator, ...]
    gpu_problem: str | None
    compiler_problem: str | None
    cpus: frozenset[int] = frozenset()


def look(worker: str, *, embedded: bool = False) -> Place:
    """Return this process as a place for blocks, without opening a GPU.

    An `embedded` worker process ignores Ctrl-C and disables logging from now on, and leaves both to its client.
    """
    if embedded and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        logging.disable()
    cpus = frozenset(os.sched_getaffinity(0))
    return Place(
        worker, socket.gethostname(), len(cpus), psutil.virtual_memory().available, processor_name(), accelerators(),
        gpu_problem(), _compiler_problem(), cpus,
    )  # fmt: skip


def survey(client: Client | Here, *, embedded: bool, lost: Collection[str] = ()) -> list[Place]:
    """Return the places of a cluster, ordered by host, without workers that are `lost`.

    Raises BadInput if it has no workers, Lost if one does not answer.
    """
    workers = sorted(set(known_workers(client)).difference(lost))
    if not workers:
        raise BadInput(
            "the cluster has no workers; start some with: dask worker --scheduler-file FILE (dask cuda worker on GPUs)"
        )
    return look_at(client, workers, embedded=embedded)


def look_at(client: Client | Here, workers: Sequence[str], *, embedded: bool) -> list[Place]:
    """Return the places of these workers, ordered by host. Raises Lost if one does not answer."""
    places: list[Place] = list(run_on_workers(client, _look_here, workers, embedded=embedded).values())
    return sorted(places, key=lambda place: (place.host, workers.index(place.worker)))


def _look_here(*, embedded: bool, dask_worker: Any) -> Place:
    return look(dask_worker.address, embedded=embedded and not dask_worker.address.startswith("inproc"))


def choose_device(requested: str, places: Sequence[Place]) -> str:
    """Return the device: `auto` is "gpu" if every place has a usable one, else "cpu".

    Raises BadInput if the requested device cannot be used.
    """
    without = [place for place in places if place.gpu_problem is not None]
    if requested == "gpu" and without:
        where = f"on {without[0].worker} ({without[0].host})"
        problem = f": no usable GPU {where}: {without[0].gpu_problem}"
        raise BadArgument("device", '"gpu"', problem, 'use {parameter} = "cpu"')
    device = requested if requested != "auto" else "cpu" if without else "gpu"
    if device == "cpu":
        for place in places:
            if place.compiler_problem is not None:
                raise BadInput(f"on {place.host}: {place.compiler_problem}")
    return device


def _compiler_problem() -> str | None:
    from taskflow.runtime.machine.kernel.compile_host import cache_folder, compiler

    try:
        compiler(), cache_folder()
    except BadInput as error:
        return str(error)
    return None
