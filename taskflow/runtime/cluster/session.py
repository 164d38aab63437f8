"""Distribution of a region over blocks: on the cores of a laptop, the GPUs of a machine, or a cluster."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Literal, cast

from taskflow.common.errors import BadInput
from taskflow.runtime.cluster.block_group import BlockGroup
from taskflow.runtime.cluster.blocks import Blocks
from taskflow.runtime.cluster.placement import (
    Auto,
    cluster_client,
    crowding,
    cut,
    dealt,
    ordinals,
    placed,
    shortage,
    slabs,
    threads_per_block,
)
from taskflow.runtime.host import choose_device, survey
from taskflow.runtime.machine import Mapper, Plan
from taskflow.runtime.regions import Partition, Region, Triple, triple
from taskflow.runtime.tasks import Roles

if TYPE_CHECKING:
    from distributed import Client

    from taskflow.runtime.machine.trace.mapper import Overlap


@dataclass(frozen=True)
class ProcessRequest:
    """Arguments of `distribute` that determine processes, blocks and cores."""

    device: str
    blocks: Triple | Auto
    workers: int | Auto
    threads: int | Auto


def distribute(
    region: Region,
    *,
    blocks: Sequence[int] | int | Auto = "auto",
    cuts: Mapping[int, Sequence[int]] | None = None,
    device: Literal["auto", "cpu", "gpu"] = "auto",
    workers: int | Auto = "auto",
    threads: int | Auto = "auto",
    channel: str = "auto",
    overlap: Overlap = "auto",
    debug: bool = False,
    arrange: Callable[[Partition], Partition] | None = None,
    client: Client | None = None,
    scheduler_file: str | PathLike[str] | None = None,
) -> Blocks:
    """Cut a region into blocks and start them. Use the result in a `with` statement, or close it.

    Parameters
    ----------
    region : Region
    blocks : (int, int, int), int or "auto"
        Blocks along x, y and z; for a region on an atlas, the number of blocks. Default: one per GPU, or one for all
        cores. Several blocks on cores have a process each.
    cuts : mapping of int to (int, int, int), optional
        Pieces along x, y and z of a chart, by its number (see `divided`).
    device : {"auto", "cpu", "gpu"}
    workers : int or "auto"
        Number of processes.
    threads : int or "auto"
        Cores per block.
    channel : {"auto", "local", "peer", "ucx", "actor"}
        Transport of messages.
    overlap : {"auto", "none", "comm", "full"}
        Overlap of messages with computation (see `Mapper`).
    debug : bool
        Ghost cells that a task may not read are NaN, and blocks compare their programs in every pass.
    arrange : callable, optional
        Called with the partition. Returns it with partitions of further regions and with `reach` (see `Partition`).
    client : distributed.Client, optional
        Cluster of the blocks.
    scheduler_file : path-like, optional
        Cluster of the blocks. Default without `client`: this machine.

    Returns
    -------
    Blocks

    Raises
    ------
    BadInput
        If an argument cannot be satisfied.
    RunFailed
        If a worker does not answer.
    """
    with ExitStack() as stack:
        if not isinstance(region, Region):
            raise BadInput(f"region = {region!r}; make one: region(cells, fields)")
        Roles.of(tuple(region.fields))  # a name that it cannot have is told here
        request = _checked(device, _shape(region, blocks), workers, threads, overlap)
        cuttings = _cuts(region, cuts or {})
        cells = region.cells.shape
        cluster, embedded = stack.enter_context(cluster_client(request, cells, client, scheduler_file))
        places = survey(cluster, embedded=embedded)
        kind: Literal["cpu", "gpu"] = "gpu" if choose_device(device, places) == "gpu" else "cpu"
        count = slabs(places, kind, embedded=embedded)
        if region.atlas is not None:
            pieces = dealt(region.atlas, request.blocks, count, cuttings)
            partition = Partition(region, (1, 1, len(pieces)), pieces=pieces)
        else:
            partition = Partition(region, cut(request, cells, count, region.ghost))
        if arrange is not None:
            partition = _arranged(arrange(partition), partition)
        where = placed(request, partition.shape, places, embedded=embedded)
        if problem := shortage([partition.nbytes(block) for block in range(len(partition))], where, kind):
            raise BadInput(f"the region {problem}; use fewer cells, fewer fields or more machines")
        threads = threads_per_block(request, where)
        plan = Plan(
            run=f"program-{uuid.uuid4().hex[:12]}",
            partition=partition,
            device=kind,
            threads=threads,
            channel=channel,
            mapper=Mapper(overlap, debug=debug),
            ordinals=ordinals(where, kind),
            crowded=kind == "cpu" and crowding(threads, where) is not None,
        )
        group = stack.enter_context(BlockGroup(cluster, plan, [place.worker for place in where]))
        transports = group.connect()
        return Blocks(group, transports, stack.pop_all())


def _arranged(returned: object, cut: Partition) -> Partition:
    same = isinstance(returned, Partition) and (returned.region, returned.block_of) == (cut.region, cut.block_of)
    if isinstance(returned, Partition) and same and returned.parts == cut.parts:
        return returned
    raise BadInput(
        f"arrange(partition) returned {returned!r}; return the partition with additions:"
        " dataclasses.replace(partition, beside=(...), reach=(...))"
    )


def _shape(region: Region, blocks: Sequence[int] | int | Auto) -> Triple | Auto:
    """The blocks along x, y and z; on an atlas they are in a row."""
    if isinstance(blocks, str) and blocks == "auto":
        return "auto"
    if region.atlas is not None:
        if isinstance(blocks, int) and blocks >= 1:
            return 1, 1, blocks
        raise BadInput(f'blocks = {blocks!r}; the region has charts: use an integer from 1, or "auto"')
    with suppress(TypeError, ValueError):
        shape = triple(map(index, cast(Sequence[int], blocks)))
        if min(shape) >= 1:
            return shape
    raise BadInput(f'blocks = {blocks!r}; use three integers (nx, ny, nz), or "auto"')


def _cuts(region: Region, cuts: Mapping[int, Sequence[int]]) -> dict[int, Triple]:
    charts = len(region.charts) if region.atlas else 0
    for chart, pieces in cuts.items():
        if chart not in range(charts):
            has = f"charts 0 to {charts - 1}" if charts else "no charts: use blocks = (nx, ny, nz)"
            raise BadInput(f"cuts = {dict(cuts)!r}; the region has {has}")
        if len(pieces) != 3 or not all(isinstance(n, int) for n in pieces):
            raise BadInput(f"cuts of chart {chart} = {pieces!r}; use three integers, of pieces along x, y and z")
    return {chart: triple(pieces) for chart, pieces in cuts.items()}


def _checked(
    device: str, blocks: Triple | Auto, workers: int | Auto, threads: int | Auto, overlap: str
) -> ProcessRequest:
    for name, value, known in (("device", device, "auto cpu gpu"), ("overlap", overlap, "auto none comm full")):
        if value not in known.split():
            raise BadInput(f"{name} = {value!r}; use one of {', '.join(known.split())}")
    for name, count in (("workers", workers), ("threads", threads)):
        if count != "auto" and not (isinstance(count, int) and count >= 1):
            raise BadInput(f'{name} = {count!r}; use an integer from 1, or "auto"')
    return ProcessRequest(device, blocks, workers, threads)
