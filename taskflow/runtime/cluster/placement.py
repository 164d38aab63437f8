"""The cluster of a run, and the placement of its blocks: processes, the blocks cut for them, place and GPU of each
block.

The cluster is passed or submitted by the caller, found by a scheduler file, or embedded here. Either every GPU has its
own process, or a process has several, one for each of its blocks. `taskflow check` applies the same rules as a run,
without starting anything.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from itertools import product
from math import prod
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol
from urllib.parse import urlsplit

import numpy as np

from taskflow.common.errors import BadArgument, BadInput
from taskflow.common.ownership import weakness
from taskflow.common.units import size
from taskflow.runtime.cluster.certificate import security
from taskflow.runtime.cluster.local import CLIENT, embedded, gpus
from taskflow.runtime.cluster.slurm import Slurm, submitted
from taskflow.runtime.host import Here, Place, choose_device, look
from taskflow.runtime.regions import Atlas, Pieces, Triple, divided, triple

if TYPE_CHECKING:
    from distributed import Client

Auto = Literal["auto"]
RESERVE = 0.9  # fraction of the free memory for blocks
MANY = 64  # blocks on CPUs for which one process each starts in seconds


class MachineRequest(Protocol):
    """Numbers of processes (`workers`), blocks, and cores per block (`threads`). "auto" adapts to the machine."""

    @property
    def device(self) -> str: ...
    @property
    def blocks(self) -> Triple | Auto: ...
    @property
    def workers(self) -> int | Auto: ...
    @property
    def threads(self) -> int | Auto: ...


@contextmanager
def by_scheduler_file(path: Path, *, timeout: float = 30.0) -> Iterator[Client]:
    """Yield a client of the cluster whose scheduler wrote `path`. Raises BadInput if it does not exist or answer.

    If the scheduler requires TLS, the certificate is in the folder PATH.tls, or else the one of Dask's configuration.
    """
    from distributed import Client, Security

    def refused(problem: str, remedy: str) -> BadArgument:
        return BadArgument("scheduler_file", str(path), f": {problem}", remedy)

    if not path.is_file():
        raise refused("file not found", f"start a cluster with: dask scheduler --scheduler-file {path}")
    address = _address(path)
    if address is None:
        raise refused("no Dask scheduler wrote this file", "give the one that yours wrote")
    folder = path.with_name(f"{path.name}.tls")
    try:
        if folder.is_dir() and (unsafe := weakness(folder)):
            problem = f"its certificate is not safe: {unsafe}"
            raise refused(problem, "start the cluster with a scheduler file in your own folder")
        certificate = security(folder) if folder.is_dir() else Security()
        certified = certificate.get_connection_args("client").get("ssl_context") is not None
    except OSError as error:
        raise refused(f"its certificate cannot be read ({error})", "is it yours?") from error
    if address.startswith("tls://") and not certified:
        raise refused(
            f"this cluster requires a certificate, but neither {folder} nor Dask's configuration has one",
            "set distributed.comm.tls.ca-file, .client.cert and .client.key",
        )
    try:
        client = Client(scheduler_file=str(path), security=certificate, timeout=timeout, **CLIENT)
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        raise refused(f"the scheduler does not answer ({error})", "is it still running?") from error
    with client:
        yield client


def _address(path: Path) -> str | None:
    """Return the address of the scheduler in a file, or None."""
    try:
        address = json.loads(path.read_text(encoding="utf-8")).get("address")
    except (OSError, ValueError, AttributeError):
        return None
    return address if isinstance(address, str) else None


def lasting_client(client: Client | Slurm | None) -> AbstractContextManager[Client | None]:
    """Return a context with the client, or with a client of SLURM jobs, which are submitted on entering and last as
    long.
    """
    return submitted(client) if isinstance(client, Slurm) else nullcontext(client)


@contextmanager
def cluster_client(
    request: MachineRequest, cells: Triple, client: Client | Here | None, scheduler_file: str | PathLike[str] | None
) -> Iterator[tuple[Client | Here, bool]]:
    """Yield the client, and whether its cluster is embedded: started here, and ended on leaving.

    Raises BadInput if `client` is not a client, or the scheduler file leads to none.
    """
    if client is not None:
        if not _is_client(client):
            raise BadInput(f"client = {client!r}; give a dask.distributed.Client, as Client(address) makes one")
        yield client, False
    elif scheduler_file is not None:
        with by_scheduler_file(Path(scheduler_file)) as cluster:
            yield cluster, False
    else:
        count = gpus() if request.device != "cpu" else 0
        device = "cpu"
        if request.device != "auto" or count:
            device = choose_device(request.device, [look("this machine")])
        workers = processes(request, cells, count or None if device == "gpu" else None)
        with embedded(workers, gpu=device == "gpu") as cluster:
            yield cluster, True


def _is_client(client: object) -> bool:
    """Return whether an object is a client of a cluster. Loads Dask only if a client of its may exist."""
    if isinstance(client, Here) or "distributed" not in sys.modules:
        return isinstance(client, Here)
    from distributed import Client

    return isinstance(client, Client)


def processes(request: MachineRequest, cells: Triple, gpus: int | None) -> int:
    """Return the number of processes of an embedded cluster: one per block, on GPUs (`gpus` is None on CPUs) at most
    one each, for more than MANY blocks on CPUs one per core.

    Raises BadInput if more processes are requested than GPUs exist.
    """
    blocks = None if request.blocks == "auto" else prod(request.blocks)
    if request.workers != "auto":
        if gpus is not None and request.workers > gpus:
            raise BadArgument("workers", str(request.workers), f": this machine has {gpus} GPUs", f"use at most {gpus}")
        return min(request.workers, blocks or max(cells))
    if blocks is None:
        return 1 if gpus is None else max(1, min(gpus, max(cells)))
    if gpus is None:
        return blocks if blocks <= MANY else min(blocks, len(os.sched_getaffinity(0)))
    return max(1, min(gpus, blocks))


def cut(request: MachineRequest, cells: Triple, slabs: int, ghost: int = 1) -> Triple:
    """Return the requested blocks; by default `slabs` slabs, each at least as thick as the ghost layers.

    Slabs are across z, whose planes are contiguous in memory, or across y or x if more slabs fit there.
    """
    if request.blocks != "auto":
        return request.blocks
    room = [max(1, planes // max(1, ghost)) for planes in cells]
    across = max((2, 1, 0), key=lambda axis: min(slabs, room[axis]))
    return triple(min(slabs, room[axis]) if axis == across else 1 for axis in range(3))


def dealt(atlas: Atlas, blocks: Triple | Auto, slabs: int, cuts: Mapping[int, Triple]) -> Pieces:
    """Return the pieces of the requested blocks; by default of `slabs` slabs, or of as many as the charts permit."""
    if blocks != "auto":
        return divided(atlas, prod(blocks), cuts)
    for count in range(slabs, 1, -1):
        try:
            return divided(atlas, count, cuts)
        except BadArgument:
            continue
    return divided(atlas, 1, cuts)


def slabs(places: Sequence[Place], device: str, *, embedded: bool) -> int:
    """Return the number of blocks for `auto`: one per GPU of this machine, otherwise one per place."""
    if device == "gpu" and embedded:
        return len({gpu.identity for place in places for gpu in place.gpus})
    return len(places)


def placed(request: MachineRequest, blocks: Triple, places: Sequence[Place], *, embedded: bool) -> list[Place]:
    """Return the place of each block, on at most the requested processes of a cluster. Places follow each other as in
    `spread`, and the blocks of a host form a box if possible: it has fewer neighbours, and its files are larger.
    """
    limit = request.workers if not embedded and request.workers != "auto" else len(places)
    where = spread(prod(blocks), places[:limit])
    shares = set(Counter(host_numbers(where)).values())
    ranks = by_boxes(blocks, *shares) if len(shares) == 1 else range(len(where))
    return [where[rank] for rank in ranks]


def by_boxes(blocks: Triple, share: int) -> list[int]:
    """Return the rank of each block in an order in which every `share` blocks form a box, if boxes of one shape can."""
    sizes = [[size for size in range(1, n + 1) if n % size == 0] for n in blocks]
    boxes = [box for box in product(*sizes) if prod(box) == share]
    box = min(boxes, key=lambda box: sum(1 / size for size in box), default=blocks)  # of the smallest surface
    z, y, x = np.indices(blocks[::-1]).reshape(3, -1)
    inside = [at % size for at, size in zip((x, y, z), box, strict=True)]
    outside = [at // size for at, size in zip((x, y, z), box, strict=True)]
    return np.argsort(np.lexsort([*inside, *outside])).tolist()


def spread(blocks: int, places: Sequence[Place]) -> list[Place]:
    """Return the place of each of `blocks` blocks, neighbours together, with the GPU that the block uses.

    It is the first GPU visible to its process with the fewest blocks. dask-cuda shows every process all GPUs, its own
    first: so each process gets its own, and a single process gets all.
    """
    count = min(len(places), blocks)
    chosen = [places[block * count // blocks] for block in range(blocks)]
    before: Counter[str] = Counter()
    rank = []  # among the blocks of its process
    for place in chosen:
        rank.append(before[place.worker])
        before[place.worker] += 1
    load: Counter[str] = Counter()
    for block in sorted(range(blocks), key=rank.__getitem__):
        gpu = min(chosen[block].gpus, key=lambda gpu: load[gpu.identity], default=None)
        if gpu is not None:
            load[gpu.identity] += 1
            chosen[block] = replace(chosen[block], gpus=(gpu,))
    return chosen


def ordinals(where: Sequence[Place], device: str) -> tuple[int, ...]:
    """Return the number of each block's GPU among those visible to its process; empty on CPUs."""
    return tuple(place.gpus[0].ordinal for place in where) if device == "gpu" else ()


def threads_per_block(request: MachineRequest, where: Sequence[Place]) -> int:
    """Return the requested cores; by default an equal share of the host's cores."""
    if request.threads != "auto":
        return request.threads
    blocks = Counter(place.host for place in where)
    return max(1, min(place.cores // blocks[place.host] for place in where))


def crowding(threads: int, where: Sequence[Place]) -> str | None:
    """Return a message if the blocks of a host, with `threads` threads each, have more threads than cores, or None."""
    by_host: dict[str, list[Place]] = {}
    for place in where:
        by_host.setdefault(place.host, []).append(place)
    for host, places in by_host.items():
        blocks = len(places)
        cores = len(frozenset[int]().union(*(place.cpus for place in places))) or places[0].cores
        if blocks * threads > cores:
            some = f"{blocks} blocks of {threads} threads" if threads > 1 else f"{blocks} blocks"
            return (
                f"{some} are more than the {cores} cores of {host}, for which they wait in turn; give fewer"
                f" machine.blocks{' or machine.threads' if threads > 1 else ''}"
            )
    return None


def host_numbers(where: Sequence[Place]) -> tuple[int, ...]:
    """Return the number of each block's host, by the address of its process."""
    names = [urlsplit(place.worker).hostname for place in where]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return tuple(map(numbers.__getitem__, names))


def copying(threads: int, where: Sequence[Place], device: str) -> dict[int, int]:
    """Return the blocks that measure the copy bandwidth, one per memory, with the cores that they use for it: one for
    each GPU, or for each host with the cores of all its blocks.
    """
    memories = [place.gpus[0].identity if device == "gpu" else place.host for place in where]
    first = {memory: memories.index(memory) for memory in memories}
    if device == "gpu":
        return dict.fromkeys(first.values(), 1)
    return {block: min(where[block].cores, threads * memories.count(host)) for host, block in first.items()}


def shortage(needs: Sequence[int], placed: Sequence[Place], device: str) -> str | None:
    """Return a message if blocks, given with need in bytes and place, exceed the free memory, or None."""
    needed: Counter[str] = Counter()
    for need, place in zip(needs, placed, strict=True):
        where, free = place.host, place.memory
        if device == "gpu":
            gpu = place.gpus[0]
            where, free = f"{gpu.name} {gpu.identity[:8]} of {place.host}", gpu.free
        needed[where] += need
        if needed[where] > RESERVE * free:
            return f"needs {size(needed[where])} on {where}, where {size(free)} are free"
    return None
