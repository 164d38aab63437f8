"""Timing: medians of an operation, and of passes of a program on all blocks together."""

from __future__ import annotations

import math
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any, ClassVar

from taskflow.bench.energy import EnergyMeter
from taskflow.bench.team import Team
from taskflow.runs.directory.provenance import provenance
from taskflow.runtime.host import Place
from taskflow.runtime.machine import Control, Job, Mapper, Shard, copy_bandwidth
from taskflow.runtime.machine.device import Device
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.machine.trace.staging import Staging
from taskflow.runtime.regions import Partition, Triple
from taskflow.runtime.tasks import Program

PRECISION = {"cpu": "double", "gpu": "single"}
POLICIES: tuple[Overlap, ...] = ("none", "comm", "full")
BUDGET = 1.5  # seconds for the samples of one operation
SAMPLES = 5, 50  # least and most of them
LENGTH = 0.02  # least seconds of a sample: many calls of a short operation, with one wait for the device
PASSES = 0.1  # least seconds of a sample of passes: blocks start within about 10 us
BANDWIDTHS = {"copy_bandwidth": False, "driver_bandwidth": True}  # of copies, by the driver or not
COPY = {"cpu": 64, "gpu": 256}  # mebibytes of each of the two arrays that the copy bandwidth is measured with
BESIDE = {device: 2 * (mebibytes << 20) for device, mebibytes in COPY.items()}  # bytes that it takes


def timed(operation: Callable[[], object], wait: Callable[[], None], repeats: int = 1) -> tuple[float, int]:
    """Return the median seconds of an operation, divided by `repeats`, and the number of samples, after warm-up calls.
    """

    def sample(calls: int) -> float:
        start = time.perf_counter()
        for _ in range(calls):
            operation()
        wait()
        return (time.perf_counter() - start) / calls

    sample(4)
    once = sample(1)
    calls = max(1, math.ceil(LENGTH / once))
    least, most = SAMPLES
    count = min(max(least, int(BUDGET / (calls * once))), most)
    return median(sample(calls) for _ in range(count)) / repeats, count


@dataclass(frozen=True)
class TimingConditions:
    """Conditions of measurements on blocks. `seconds`: duration of the samples of each measurement. `staging`: where
    messages are packed that are not copied directly. `watts`: what all blocks take, if their energy is not counted.
    """

    overlaps: tuple[Overlap, ...] = POLICIES
    channel: str = "auto"
    precision: str | None = None
    seconds: float = 1.0
    graphs: bool = True
    staging: Staging = "device"
    watts: float | None = None

    def apart(self, blocks: Triple) -> tuple[Overlap, ...]:
        """Return the overlaps that differ: only one for a single block, which exchanges nothing."""
        return self.overlaps if math.prod(blocks) > 1 else self.overlaps[:1]


@dataclass(frozen=True)
class PassJob:
    """Job of a block: its passes are timed together with all others, and reported.

    `begin` fills the fields. A pass has `units`, sweeps or steps, and starts with these `scalars`. The result of `end`
    is added to the report.
    """

    begin: Callable[[Shard], None]
    program: Program
    end: Callable[[Shard], dict[str, Any]] = lambda _: {}
    units: int = 1
    scalars: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 1.0

    def __call__(self, shard: Shard, control: Control) -> dict[str, Any]:
        """Return the report of this block.

        `seconds` of a unit are those on the slowest block, one value per sample. `joules` are of this block's device
        and one unit, or None if they are not counted.
        """
        self.begin(shard)
        shard.meet()  # blocks that share memory measure its bandwidth together
        measured = bandwidths(shard.device, COPY[shard.device.kind], repeats=4)
        calls, count = self._samples(shard)
        with EnergyMeter(shard.device) as meter:
            samples = [self._sample(shard, calls) for _ in range(count)]
        return {
            "seconds": samples,
            "joules": None if meter.joules is None else meter.joules / (calls * count * self.units),
            **measured,
            "host_seconds": self._host(shard),
            "overlap": shard.overlap,
            **self.end(shard),
        }

    def _sample(self, shard: Shard, calls: int) -> float:
        """Return the seconds of a unit on the slowest block, measured over `calls` passes."""
        shard.meet()
        start = time.perf_counter()
        for _ in range(calls):
            shard.run(self.program, **self.scalars)
        return slowest(shard, start) / (calls * self.units)

    def _samples(self, shard: Shard) -> tuple[int, int]:
        """Return the passes per sample and the number of samples, the same on all blocks, because they use reduced
        values.
        """
        rehearse(shard, lambda: self._sample(shard, 1))
        once = self._sample(shard, 1) * self.units
        calls = max(1, math.ceil(PASSES * min(1.0, self.seconds) / once))
        least, most = SAMPLES
        return calls, min(max(least, int(self.seconds / (calls * once))), most)

    def _host(self, shard: Shard) -> float | None:
        """Return the host seconds of a unit, or None if the host computes itself or waits for messages."""
        operations = (operation for trace in shard.traces for operation in trace.operations)
        if shard.device.kind == "cpu" or any(operation.lane is None for operation in operations):
            return None
        times = []
        for _ in range(SAMPLES[0]):
            shard.meet()
            start = time.perf_counter()
            shard.run(self.program, **self.scalars)
            times.append(time.perf_counter() - start)
            shard.synchronize()
        return median(times) / self.units


def slowest(shard: Shard, start: float) -> float:
    """Return the seconds since `start` when all blocks are done."""
    shard.synchronize()
    return float(shard.allreduce([time.perf_counter() - start], "max")[0])


def rehearse(shard: Shard, once: Callable[[], object]) -> None:
    """Repeat an operation until the best overlap is known and all its states have been analysed."""
    analysed = -1
    while shard.trying or len(shard.traces) != analysed:  # a repeated state is followed by known ones
        analysed = len(shard.traces)
        once()


def nothing(shard: Shard) -> None:
    """Keep the fields of the last job: an empty `begin`."""


@dataclass(frozen=True)
class PassTiming:
    """Timing of jobs on the processes of a team."""

    team: Team
    conditions: TimingConditions
    usual: ClassVar[Mapping[str, str]] = dict.fromkeys(PRECISION, "double")  # the precision of a device

    @property
    def precision(self) -> str:
        """Requested precision, or the default."""
        return self.conditions.precision or self.usual[self.team.device]

    def timed(
        self, name: str, partition: Partition, job: PassJob, overlap: Overlap
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Return a row of a table, and the report of each block."""
        reports, transports = self.run(partition, job, overlap)
        return self.row(name, partition, reports, transports), reports

    def run(self, partition: Partition, job: Job, overlap: Overlap) -> tuple[list[Any], list[str]]:
        """Return the results of a job by block, and the transports between the blocks."""
        conditions = self.conditions
        mapper = Mapper(overlap, graphs=conditions.graphs, staging=conditions.staging)
        return self.team.run(partition, job, mapper, conditions.channel)

    def row(
        self, name: str, partition: Partition, reports: Sequence[dict[str, Any]], transports: list[str]
    ) -> dict[str, Any]:
        """Return the row derived from the reports of the blocks."""
        blocks, cells = len(partition), partition.region.count
        seconds = median(reports[0]["seconds"])
        hosts = [report["host_seconds"] for report in reports if report["host_seconds"] is not None]
        counted = [float(report["joules"]) for report in reports if report["joules"] is not None]
        watts = None if len(counted) == blocks else self.conditions.watts
        low, _, high = quantiles(reports[0]["seconds"], n=4)
        return {
            "name": name,
            "blocks": blocks,
            "workers": min(blocks, len(self.team.places)),
            "cells_per_block": list(partition.parts[0].shape),
            "overlap": reports[0]["overlap"],
            "transports": transports,
            "seconds": seconds,
            "samples": len(reports[0]["seconds"]),
            "spread": (high - low) / seconds,
            "cells_per_second_per_block": cells / blocks / seconds,
            **{name: sum(report[name] for report in reports) for name in BANDWIDTHS},
            "host_seconds": max(hosts, default=None),
            "joules_per_cell": sum(counted) / cells if len(counted) == blocks else watts and watts * seconds / cells,
            "watts": watts,
        }


def bandwidths(device: Device, mebibytes: int | None = None, repeats: int = 9) -> dict[str, float]:
    """Return the bandwidths of our copy kernel and of the driver's copy, see `copy_bandwidth`."""
    return {name: copy_bandwidth(device, mebibytes, repeats, driver=driver) for name, driver in BANDWIDTHS.items()}


def moving(row: Mapping[str, Any], nbytes: float) -> dict[str, float]:
    """Return the rates of a row, given the bytes that all blocks together must move per unit."""
    rate = nbytes / row["seconds"]
    shares = {f"share_of_{name.removesuffix('_bandwidth')}": rate / row[name] for name in BANDWIDTHS}
    return {"bytes_per_second": rate, **shares}


def about(place: Place, device: str, threads: int) -> dict[str, Any]:
    """Return versions, command, date, host, processor, and the name of a GPU or the number of threads."""
    return {
        **provenance(),
        "host": socket.gethostname(),
        "processor": place.processor,
        "gpu": place.gpus[0].name if device == "gpu" else None,
        "threads": threads if device == "cpu" else None,
    }


def describe(team: Team, precision: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the machine, the precision and the bandwidths of copies of the rows, for a block."""
    return {
        **about(team.places[0], team.device, team.threads),
        "precision": precision,
        **{name: median(row[name] / row["blocks"] for row in rows) for name in BANDWIDTHS},
    }
