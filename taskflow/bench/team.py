"""Processes of a measurement, opened once and given a sequence of jobs."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Literal

from taskflow.common.errors import BadInput, Interrupted
from taskflow.runtime.cluster import (
    BlockGroup,
    cause,
    cluster_client,
    crowding,
    ordinals,
    shortage,
    slabs,
    spread,
    watch,
)
from taskflow.runtime.host import Place, choose_device, survey
from taskflow.runtime.machine import Job, Mapper, Plan
from taskflow.runtime.regions import Partition, Triple

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True)
class Request:
    """Largest number of concurrent blocks of a measurement, and the processes to hold them."""

    device: str
    blocks: Triple
    workers: int | Literal["auto"] = "auto"
    threads: Literal["auto"] = "auto"


@dataclass(frozen=True)
class Team:
    """Processes of this machine, with `threads` cores per block. All blocks compute on `device`."""

    client: Client
    places: Sequence[Place]
    device: Literal["cpu", "gpu"]
    threads: int

    @contextmanager
    def group(self, partition: Partition, mapper: Mapper, channel: str = "auto") -> Iterator[BlockGroup]:
        """Yield a group of the blocks, not connected yet. If processes are fewer than blocks, neighbours share one."""
        where = self.spread(len(partition))
        plan = Plan(
            run=f"bench-{uuid.uuid4().hex[:8]}",
            partition=partition,
            device=self.device,
            threads=self.threads,
            channel=channel,
            mapper=mapper,
            ordinals=ordinals(where, self.device),
            crowded=self.device == "cpu" and crowding(self.threads, where) is not None,
        )
        with BlockGroup(self.client, plan, [place.worker for place in where]) as group:
            yield group

    def run(self, partition: Partition, job: Job, mapper: Mapper, channel: str = "auto") -> tuple[list[Any], list[str]]:
        """Run the job on every block, and return the results and the transports between blocks.

        Raises the error of a failed block, and Interrupted after Ctrl-C.
        """
        with self.group(partition, mapper, channel) as group:
            routes = group.connect()
            statuses, interrupted = watch(group, [job] * len(partition))
            if failure := cause(statuses):
                raise failure
            if interrupted:
                raise Interrupted("interrupted")
            return group.results(), sorted({name for route in routes for name in route.values()})

    def spread(self, blocks: int) -> list[Place]:
        """Return the place of each block."""
        return spread(blocks, self.places)

    def check_memory(self, need: int, blocks: int, asked: str) -> None:
        """Raise BadInput, starting with `asked`, if blocks that need `need` bytes each do not fit."""
        if problem := shortage([need] * blocks, self.spread(blocks), self.device):
            raise BadInput(f"{asked}: {problem}; use fewer cells, or --precision single")


@contextmanager
def open_team(request: Request) -> Iterator[Team]:
    """Open processes for the blocks: one each, unless fewer are requested.

    Raises BadInput if the device is not usable, or blocks outnumber GPUs.
    """
    blocks = prod(request.blocks)
    with cluster_client(request, request.blocks, None, None) as (client, _):
        places = survey(client, embedded=True)
        device: Literal["cpu", "gpu"] = "gpu" if choose_device(request.device, places) == "gpu" else "cpu"
        gpus = slabs(places, device, embedded=True)
        if device == "gpu" and blocks > gpus:
            raise BadInput(f"{blocks} blocks: this machine has {gpus} GPUs; use at most as many, or --device cpu")
        yield Team(client, places, device, max(1, places[0].cores // blocks))
