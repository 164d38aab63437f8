"""Placement: the processes asked for, the blocks cut for them, the place and the GPU of each block.

Either every GPU has a process of its own, or a process has several of them, one for each of its blocks.
`taskflow check` decides by the same rules as a run, without starting anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Literal, Protocol

from taskflow.errors import BadArgument
from taskflow.runtime.host import Place, cores_per_block
from taskflow.runtime.regions import Triple, triple
from taskflow.units import size

Auto = Literal["auto"]
RESERVE = 0.9  # share of the free memory that blocks may take


class MachineRequest(Protocol):
    """Numbers of processes (`workers`), blocks, and cores per block (`threads`); "auto" leaves one to the machine."""

    @property
    def device(self) -> str: ...
    @property
    def blocks(self) -> Triple | Auto: ...
    @property
    def workers(self) -> int | Auto: ...
    @property
    def threads(self) -> int | Auto: ...


def processes(request: MachineRequest, cells: Triple, gpus: int | None) -> int:
    """Return the processes of an embedded cluster: one per block, on GPUs (`gpus` is None on CPUs) at most one each.

    Raises BadInput where more processes are asked for than there are GPUs.
    """
    blocks = None if request.blocks == "auto" else prod(request.blocks)
    if request.workers != "auto":
        if gpus is not None and request.workers > gpus:
            raise BadArgument("workers", str(request.workers), f": this machine has {gpus} GPUs", f"use at most {gpus}")
        return min(request.workers, blocks or max(cells))
    if blocks is None:
        return 1 if gpus is None else max(1, min(gpus, max(cells)))
    return blocks if gpus is None else max(1, min(gpus, blocks))


def cut(request: MachineRequest, cells: Triple, slabs: int, ghost: int = 1) -> Triple:
    """Return the blocks asked for; by default so many slabs, each at least as thick as the ghost layers.

    Slabs lie across z, whose planes are contiguous in memory; across y or x where that one has more room for them.
    """
    if request.blocks != "auto":
        return request.blocks
    room = [max(1, planes // max(1, ghost)) for planes in cells]
    across = max((2, 1, 0), key=lambda axis: min(slabs, room[axis]))
    return triple(min(slabs, room[axis]) if axis == across else 1 for axis in range(3))


def slabs(places: Sequence[Place], device: str, *, embedded: bool) -> int:
    """Return the blocks that `auto` means: one per GPU of this machine; on CPUs, or another cluster, one per place."""
    if device == "gpu" and embedded:
        return len({gpu.identity for place in places for gpu in place.gpus})
    return len(places)


def placed(request: MachineRequest, blocks: Triple, places: Sequence[Place], *, embedded: bool) -> list[Place]:
    """Return the place of each block, as `spread` does, on as many processes of a cluster as were asked for."""
    limit = request.workers if not embedded and request.workers != "auto" else len(places)
    return spread(prod(blocks), places[:limit])


def spread(blocks: int, places: Sequence[Place]) -> list[Place]:
    """Return the place of each of so many blocks, neighbours together, with the one GPU that the block is to use.

    It is, of those that its process sees, the first with the fewest blocks. dask-cuda shows every process all GPUs, its
    own first: so each gets its own, and one process alone gets them all.
    """
    count = min(len(places), blocks)
    chosen = [places[block * count // blocks] for block in range(blocks)]
    rank = [chosen[:block].count(place) for block, place in enumerate(chosen)]  # among the blocks of its process
    load: Counter[str] = Counter()
    for block in sorted(range(blocks), key=rank.__getitem__):
        gpu = min(chosen[block].gpus, key=lambda gpu: load[gpu.identity], default=None)
        if gpu is not None:
            load[gpu.identity] += 1
            chosen[block] = replace(chosen[block], gpus=(gpu,))
    return chosen


def ordinals(where: Sequence[Place], device: str) -> tuple[int, ...]:
    """Return the number of each block's GPU among those that its process sees; none for blocks on CPUs."""
    return tuple(place.gpus[0].ordinal for place in where) if device == "gpu" else ()


def threads_per_block(request: MachineRequest, where: Sequence[Place]) -> int:
    """Return the cores asked for; by default those of a host shared alike by its blocks."""
    return cores_per_block(where) if request.threads == "auto" else request.threads


def shortage(needs: Sequence[int], placed: Sequence[Place], device: str) -> str | None:
    """Say where blocks, each with its need in bytes and its place, do not fit into free memory; None if they do."""
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
