"""The cost of the runtime itself: the host's part in a replay, analysis and recording, and control by Dask."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

from taskflow.bench.machine import jacobi
from taskflow.bench.team import Request, Team, open_team
from taskflow.bench.timing import COPY, SAMPLES, TimingConditions, bandwidths, describe
from taskflow.runtime.cluster import BlockGroup, cause
from taskflow.runtime.machine import Control, Mapper, Shard, run_threads
from taskflow.runtime.machine.device import cpu
from taskflow.runtime.regions import Triple
from tests.runtime.host.messages import dask_messages

LAUNCHES = 300
TINY: Triple = (8, 8, 8)  # cells of a block: next to nothing to compute
CALLS = 50  # of an actor
ANSWERED = 0.2  # seconds after which the call that began a job has been answered
PATIENCE = 120.0  # seconds that jobs have to end


def measure_runtime(device: str, conditions: TimingConditions) -> dict[str, Any]:
    """Numbers by name, each with its unit and what was done to get it.

    Raises BadInput where the device is not usable.
    """
    seconds = conditions.seconds
    with open_team(Request(device, (1, 1, 1))) as alone:
        rows = [*_replays(alone, conditions)]
        copies = alone.run(jacobi.partition(TINY, (1, 1, 1), "single"), _bandwidths, Mapper("none"))[0]
    rows += _recording()
    pair = (1, 1, 2) if alone.device == "cpu" or len(alone.places[0].gpus) > 1 else (1, 1, 1)
    with open_team(Request(device, pair)) as team:
        rows += _control(team, pair, seconds)
    about = describe(team, "single", [{**measured, "blocks": 1} for measured in copies])
    return {**about, "cells_per_block": list(TINY), "launches": LAUNCHES, "results": rows}


def _row(name: str, value: float, unit: str, how: str) -> dict[str, Any]:
    return {"name": name, "value": value, "unit": unit, "how": how}


# -------------------------------------------------------------------------------------------------------- replays


@dataclass(frozen=True)
class Replays:
    """The job of a block without others: passes of the program, and what they cost the host."""

    program: jacobi.Sweeps
    seconds: float

    def __call__(self, shard: Shard, _: Control) -> dict[str, float]:
        """Seconds that `run` takes, waiting for nothing: the median; operations and calls of a pass; the hit rate."""
        shard.run(self.program)
        shard.run(self.program)
        shard.synchronize()
        times: list[float] = []
        end = time.perf_counter() + self.seconds
        while len(times) < SAMPLES[0] or time.perf_counter() < end:
            start = time.perf_counter()
            shard.run(self.program)
            times.append(time.perf_counter() - start)
            shard.synchronize()
        trace = shard.traces[-1]
        return {
            "seconds": median(times),
            "operations": len(trace.operations),
            "calls": len(trace.calls),
            "hits": 1 - len(shard.traces) / (len(times) + 2),
            "passes": len(times) + 2,
        }


def _replays(alone: Team, conditions: TimingConditions) -> Iterator[dict[str, Any]]:
    partition = jacobi.partition(TINY, (1, 1, 1), "single")
    program = jacobi.Sweeps(partition.region.cells, LAUNCHES)
    beside = " and its kernel" if alone.device == "cpu" else ""
    for graphs in (False, True) if alone.device == "gpu" and conditions.graphs else (False,):
        [replay], _ = alone.run(partition, Replays(program, conditions.seconds), Mapper("none", graphs=graphs))
        how = f"{LAUNCHES} launches over {' x '.join(map(str, TINY))} cells"
        kind = "as CUDA graphs" if graphs else "one by one"
        yield _row(
            f"operation, {kind}", 1e6 * replay["seconds"] / replay["operations"], "us", f"host time{beside}, {how}"
        )
        yield _row(f"calls of a pass, {kind}", replay["calls"], "", f"what the host calls in a pass of {how}")
        if not graphs:
            how = f"passes that were replayed, of {replay['passes']:.0f}"
            yield _row("trace hit rate", 100 * replay["hits"], "%", how)


def _bandwidths(shard: Shard, _: Control) -> dict[str, float]:
    return bandwidths(shard.device, COPY[shard.device.kind], repeats=4)


# ------------------------------------------------------------------------------------------------------- recording


def _recording() -> Iterator[dict[str, Any]]:
    """The row of one of 2 x 2 x 2 blocks, all of them threads of this process, in processor time of its own thread."""
    partition = jacobi.partition(TINY, (2, 2, 2), "single")
    program = jacobi.Sweeps(partition.region.cells, LAUNCHES)

    def job(shard: Shard) -> float:
        times = []
        for _ in range(4):  # two traces: from no valid ghost cells, and in the long run
            start = time.thread_time()
            shard.run(program)
            times.append(time.thread_time() - start)
        return max(times[:2]) - min(times[2:])

    how = f"{LAUNCHES} launches on 2 x 2 x 2 blocks, for one of them: processor time of the first pass less a later one"
    yield _row("analysis and recording", 1e3 * median(run_threads(partition, job, cpu(1))), "ms", how)


# --------------------------------------------------------------------------------------------------------- control


@dataclass(frozen=True)
class CountMessagesJob:
    """The job of a block: passes until it is told to stop, or for so many seconds; the messages that Dask sent."""

    program: jacobi.Sweeps
    seconds: float

    def __call__(self, shard: Shard, control: Control) -> dict[str, Any]:
        """Passes, and messages by operation between the end of the first one and the end of the last one."""
        shard.run(self.program)
        time.sleep(ANSWERED)
        end, passes = time.monotonic() + self.seconds, 0
        with dask_messages() as sent:
            while not shard.allreduce([control.stop or time.monotonic() > end], "max")[0]:
                shard.run(self.program)
                passes += 1
            shard.synchronize()
        return {"passes": passes, "messages": dict(sent)}


def _control(team: Team, blocks: Triple, seconds: float) -> Iterator[dict[str, Any]]:
    partition = jacobi.partition((32, 32, 32), blocks, "single")
    program, count = jacobi.Sweeps(partition.region.cells), len(partition)
    with _connected(team, partition) as group:
        how = f"status() of {count} blocks, nothing running: median of {CALLS}"
        yield _row("actor calls", 1e3 * _latency(group.status), "ms", how)
        group.start([CountMessagesJob(program, 60.0)] * count)
        time.sleep(0.2)
        yield _row("actor calls, steps running", 1e3 * _latency(group.status), "ms", how.replace("nothing", "steps"))
        group.stop()
        _results(group)
    with _connected(team, partition) as group:
        group.start([CountMessagesJob(program, seconds)] * count)
        reports = _results(group)
    passes, messages = reports[0]["passes"], sum(sum(report["messages"].values()) for report in reports)
    how = f"sent by Dask in {passes} passes of {count} blocks, heartbeats apart"
    yield _row("Dask messages", messages, "", how)


@contextmanager
def _connected(team: Team, partition: Any) -> Iterator[BlockGroup]:
    with team.group(partition, Mapper()) as group:
        group.connect()
        yield group


def _results(group: BlockGroup) -> list[Any]:
    """The results of the jobs, asked for once. Raises the error of the block that failed."""
    if failure := cause(group.poll(PATIENCE)):
        raise failure
    return group.results()


def _latency(call: Callable[[], object]) -> float:
    """Median seconds of a call."""
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return median(times)
