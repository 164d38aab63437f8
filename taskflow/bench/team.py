"""The processes that a measurement uses: opened once, and given one job after another."""

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
    """The most blocks that a measurement will use at a time, and the processes to hold them."""

    device: str
    blocks: Triple
    workers: int | Literal["auto"] = "auto"
    threads: Literal["auto"] = "auto"


@dataclass(frozen=True)
class Team:
    """Processes of this machine, each with so many cores for a block. `device` is what all blocks compute on."""

    client: Client
    places: Sequence[Place]
    device: Literal["cpu", "gpu"]
    threads: int

    @contextmanager
    def group(self, partition: Partition, mapper: Mapper, channel: str = "auto") -> Iterator[BlockGroup]:
        """A group of the blocks, not connected yet. Neighbours share a process where there are fewer of them."""
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
        """Let every block do the job; what each returned, and the transports between them.

        Raises the error of the block that failed, Interrupted after Ctrl-C.
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
        """The place of each of so many blocks."""
        return spread(blocks, self.places)

    def check_memory(self, need: int, blocks: int, asked: str) -> None:
        """Raises BadInput, which begins with what was `asked`, where so many blocks with this need do not fit."""
        if problem := shortage([need] * blocks, self.spread(blocks), self.device):
            raise BadInput(f"{asked}: {problem}; use fewer cells, or --precision single")


@contextmanager
def open_team(request: Request) -> Iterator[Team]:
    """Processes for the blocks: one each, unless fewer are asked for.

    Raises BadInput where the device is not usable, or there are fewer GPUs than blocks.
    """
    blocks = prod(request.blocks)
    with cluster_client(request, request.blocks, None, None) as (client, _):
        places = survey(client, embedded=True)
        device: Literal["cpu", "gpu"] = "gpu" if choose_device(request.device, places) == "gpu" else "cpu"
        gpus = slabs(places, device, embedded=True)
        if device == "gpu" and blocks > gpus:
            raise BadInput(f"{blocks} blocks: this machine has {gpus} GPUs; use at most as many, or --device cpu")
        yield Team(client, places, device, max(1, places[0].cores // blocks))
