"""All blocks of a program as threads of this process, without Dask: for tests, measurements and small studies."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Callable, Sequence
from typing import TypeVar

from taskflow.runtime.machine.channel import SPIN, Deadline, Router, Stop, partners
from taskflow.runtime.machine.device import Device
from taskflow.runtime.machine.shard import PATIENCE, Shard
from taskflow.runtime.machine.trace.mapper import Mapper
from taskflow.runtime.regions import Partition

Result = TypeVar("Result")


def run_threads(
    partition: Partition,
    job: Callable[[Shard], Result],
    device: Device | Sequence[Device],
    mapper: Mapper = Mapper(),
    patience: float = PATIENCE,
    channel: str = "",
) -> list[Result]:
    """Run `job` on a shard of every block, all on one device or each on its own, and return the results in block order.
    Blocks wait `patience` seconds for each other. `channel`: by default `local` on one device, else `auto`.

    The first error of a block ends the others and is raised.
    """
    run, blocks = uuid.uuid4().hex, range(len(partition))
    devices = [device] * len(partition) if isinstance(device, Device) else list(device)
    threads = sum(one.threads for one in devices)
    crowded = devices[0].kind == "cpu" and threads > len(os.sched_getaffinity(0))
    stops = [Stop(spin=0.0 if crowded else SPIN) for _ in blocks]
    request = channel or ("local" if isinstance(device, Device) else "auto")
    channels = [Router(request, run, block, stop) for block, stop in zip(blocks, stops, strict=True)]
    addresses = [channel.address() for channel in channels]
    results: dict[int, Result] = {}
    errors: list[BaseException] = []

    def main(block: int) -> None:
        try:
            peers = partners(block, len(partition)).union(partition.neighbours[block])
            channels[block].connect({peer: addresses[peer] for peer in peers})
            channels[block].greet(Deadline.after(patience))
            shard = Shard(partition, block, devices[block], channels[block], mapper, patience)
            results[block] = job(shard)
            shard.finish()
            shard.close()
        except BaseException as error:
            errors.append(error)
            for stop in stops:
                stop.set(f"block {block} failed: {error}")

    running = [threading.Thread(target=main, args=(block,), name=f"taskflow-block-{block}") for block in blocks]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    for opened in channels:
        opened.close()
    if errors:
        raise errors[0]
    return [results[block] for block in blocks]
