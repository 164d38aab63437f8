"""Cost of messages between blocks over every channel of this machine: halo steps and all-reduces."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np
import typer

from taskflow.bench.machine import jacobi
from taskflow.bench.tables import Result, number, where
from taskflow.bench.team import Request, Team, open_team
from taskflow.bench.timing import about
from taskflow.common.errors import BadInput
from taskflow.common.units import plural, size
from taskflow.runtime.machine import Control, Mapper, Shard, copy_bandwidth
from taskflow.runtime.machine.channel import PREFERENCE, Deadline, channel_problem
from taskflow.terminal.format import say, table

SIZES = (8, 4096, 65536, 1 << 20)
SAMPLES = 20, 5000  # least and most
COPY = 64  # mebibytes of each of the two arrays that the copy bandwidth is measured with
OPERATORS = ("max", "max", "sum")
CELLS = (8, 8, 8)  # of a block, which computes nothing


@dataclass(frozen=True)
class ChannelJob:
    """Job of a block in a ring of blocks, measured together with all others."""

    sizes: Sequence[int]
    seconds: float

    def __call__(self, shard: Shard, control: Control) -> dict[str, Any]:
        """Return the median seconds of a halo step by message size, and of an all-reduce, with the numbers of samples.
        """
        shard.meet()
        report: dict[str, Any] = {"copy_bandwidth": copy_bandwidth(shard.device, COPY, repeats=4)}
        halos = Halos(shard)
        report["halo"] = [self._timed(shard, halos.of(size)) for size in self.sizes]
        report["allreduce"] = self._timed(shard, lambda: shard.allreduce((1.0, 2.0, 3.0), OPERATORS))
        return report

    def _timed(self, shard: Shard, operation: Callable[[], object]) -> tuple[float, int]:
        """Return the median seconds and number of samples, the same number on all blocks."""

        def sample() -> float:
            start = time.perf_counter()
            operation()
            return time.perf_counter() - start

        once = float(shard.allreduce([median(sample() for _ in range(10))], "max")[0])
        least, most = SAMPLES
        count = min(max(least, math.ceil(self.seconds / once)), most)
        return median(sample() for _ in range(count)), count


class Halos:
    """Exchanges of a block with both its neighbours in the ring of all blocks, as in 1D growth."""

    def __init__(self, shard: Shard) -> None:
        blocks = len(shard.partition)
        self._shard, self._channel = shard, shard.transfers.channel
        self._below, self._above = (shard.block - 1) % blocks, (shard.block + 1) % blocks
        self._sequence = 0

    def of(self, size: int) -> Callable[[], None]:
        """Return a halo step: two messages of `size` bytes are received and two sent, concurrently."""
        inbox, outbox = np.zeros((2, size), np.uint8), np.zeros((2, size), np.uint8)

        def step() -> None:
            deadline = Deadline.after(self._shard.patience)
            upward, downward = self._sequence, self._sequence + 1
            self._sequence += 2
            pending = [
                self._channel.receive(self._below, upward, inbox[0]),
                self._channel.receive(self._above, downward, inbox[1]),
                self._channel.send(self._above, upward, outbox[0]),
                self._channel.send(self._below, downward, outbox[1]),
            ]
            for message in pending:
                message.wait(deadline)

        return step


def measure_channels(
    channels: Sequence[str], blocks: int, sizes: Sequence[int] = SIZES, seconds: float = 0.5
) -> dict[str, Any]:
    """Return a row for each channel: `local` between threads of one process, the others between one process per block.

    All messages are in host memory. `bytes_per_second` is the rate that a block sends, equal to the rate it receives.
    An unavailable channel has a `problem` instead of numbers. Raises BadInput if all channels are unavailable.
    """
    problems = {name: problem for name in channels if (problem := channel_problem(name)) is not None}
    if len(problems) == len(channels):
        raise BadInput("; ".join(f"{name}: {problem}" for name, problem in problems.items()))
    job, teams = ChannelJob(tuple(sizes), seconds), []
    rows: list[dict[str, Any]] = []
    for workers in (1, blocks):
        names = [name for name in channels if name not in problems and (name == "local") == (workers == 1)]
        if names:
            with open_team(Request("cpu", (1, 1, blocks), workers)) as team:
                teams.append(team)
                rows += [_row(team, name, blocks, job) for name in names]
    rows += [{"name": name, "problem": problem, "halo": [], "allreduce": None} for name, problem in problems.items()]
    return {
        **about(teams[0].places[0], "cpu", teams[0].threads * blocks),
        "blocks": blocks,
        "sizes": list(sizes),
        "copy_bandwidth": median(row["copy_bandwidth"] for row in rows if row["problem"] is None),
        "results": sorted(rows, key=lambda row: PREFERENCE.index(row["name"])),
    }


def _row(team: Team, name: str, blocks: int, job: ChannelJob) -> dict[str, Any]:
    """Return the row of a channel, with the medians of the slowest block."""
    partition = jacobi.partition(CELLS, (1, 1, blocks), "single")
    reports, transports = team.run(partition, job, Mapper("none"), name)
    halo = [max(report["halo"][n] for report in reports) for n in range(len(job.sizes))]
    seconds, samples = max(report["allreduce"] for report in reports)
    return {
        "name": name,
        "transports": transports,
        "processes": len(team.places),
        "problem": None,
        "copy_bandwidth": sum(report["copy_bandwidth"] for report in reports),
        "halo": [
            {"bytes": size, "seconds": slowest, "samples": count, "bytes_per_second": 2 * size / slowest}
            for size, (slowest, count) in zip(job.sizes, halo, strict=True)
        ],
        "allreduce": {"seconds": seconds, "samples": samples},
    }


def show_channels(result: Result) -> None:
    """Print the result of `measure_channels`."""
    say(
        f"Messages between {result['blocks']} blocks in a ring, in host memory of {where(result)}",
        [
            ("copy", f"{size(result['copy_bandwidth'])}/s for all blocks together, measured with the messages"),
            ("halo step", "microseconds for a message to and from both neighbours, by its size"),
            ("GB/s", "outgoing bandwidth of a block with the largest messages, with equal incoming traffic"),
            ("all-reduce", "microseconds, of three numbers"),
        ],
    )
    measured = [row for row in result["results"] if row["problem"] is None]
    table(
        (*(size(nbytes) for nbytes in result["sizes"]), "GB/s", "all-reduce"),
        ((f"{row['name']}, {plural(row['processes'], 'process')}", _carried(row)) for row in measured),
    )
    for row in result["results"]:
        if row["problem"] is not None:
            typer.echo(f"  {row['name']}: {row['problem']}")


def _carried(row: Result) -> tuple[str, ...]:
    """Microseconds of halo steps, gigabytes per second that leave a block in the last, microseconds of a reduction."""
    steps = [number(step["seconds"] * 1e6) for step in row["halo"]]
    return *steps, number(row["halo"][-1]["bytes_per_second"] / 1e9), number(row["allreduce"]["seconds"] * 1e6)
