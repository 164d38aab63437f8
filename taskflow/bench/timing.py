"""How times are taken: medians of an operation, and of passes of a program on all blocks together."""

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
from taskflow.runtime.host import Place, choose_device, look
from taskflow.runtime.machine import Control, Job, Mapper, Shard, copy_bandwidth
from taskflow.runtime.machine.device import Device, open_device
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.regions import Partition, Triple
from taskflow.runtime.tasks import Program

PRECISION = {"cpu": "double", "gpu": "single"}
POLICIES: tuple[Overlap, ...] = ("none", "comm", "full")
BUDGET = 1.5  # seconds for the samples of one operation
SAMPLES = 5, 50  # least and most of them
LENGTH = 0.02  # seconds that a sample takes at least: many calls of a short operation, the device waited for once
PASSES = 0.1  # seconds that a sample of passes takes at least: blocks begin it together within some 10 us
COPY = {"cpu": 64, "gpu": 256}  # mebibytes of each of the two arrays that the copy bandwidth is measured with
BESIDE = {device: 2 * (mebibytes << 20) for device, mebibytes in COPY.items()}  # bytes that it takes
OF_DRIVER = {"cpu": 0, "gpu": 1 << 30}  # bytes that it takes for a process (H200: 0.6 GB), once there is one


def timed(operation: Callable[[], object], wait: Callable[[], None], repeats: int = 1) -> tuple[float, int]:
    """Median seconds of an operation, divided by `repeats`, and the number of samples. First calls do not count."""

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
    """How blocks are measured: `seconds` for the samples of each measurement."""

    overlaps: tuple[Overlap, ...] = POLICIES
    channel: str = "auto"
    precision: str | None = None
    seconds: float = 1.0
    graphs: bool = True

    def apart(self, blocks: Triple) -> tuple[Overlap, ...]:
        """The overlaps that differ: one block exchanges nothing, and has one."""
        return self.overlaps if math.prod(blocks) > 1 else self.overlaps[:1]


@dataclass(frozen=True)
class PassJob:
    """The job of a block: its passes timed together with those of all others, and reported.

    `begin` fills the fields. A pass has so many `units`, sweeps or steps, and begins with these `scalars`. What `end`
    finds when all is timed is added to the report.
    """

    begin: Callable[[Shard], None]
    program: Program
    end: Callable[[Shard], dict[str, Any]] = lambda _: {}
    units: int = 1
    scalars: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 1.0

    def __call__(self, shard: Shard, control: Control) -> dict[str, Any]:
        """`seconds` of a unit are those of the slowest block, one value for each sample; `joules` are of this block's
        device and one unit, None where nobody counts them.
        """
        self.begin(shard)
        shard.meet()  # blocks that share a memory measure together what they can have together
        bandwidth = copy_bandwidth(shard.device, COPY[shard.device.kind], repeats=4)
        calls, count = self._samples(shard)
        with EnergyMeter(shard.device) as meter:
            samples = [self._sample(shard, calls) for _ in range(count)]
        return {
            "seconds": samples,
            "joules": None if meter.joules is None else meter.joules / (calls * count * self.units),
            "copy_bandwidth": bandwidth,
            "host_seconds": self._host(shard),
            "overlap": shard.overlap,
            **self.end(shard),
        }

    def _sample(self, shard: Shard, calls: int) -> float:
        """Seconds of a unit in so many passes, on the slowest block."""
        shard.meet()
        start = time.perf_counter()
        for _ in range(calls):
            shard.run(self.program, **self.scalars)
        return slowest(shard, start) / (calls * self.units)

    def _samples(self, shard: Shard) -> tuple[int, int]:
        """The passes of a sample, and how many of these there are to be: the same on all blocks, because they decide on
        numbers of all of them.
        """
        rehearse(shard, lambda: self._sample(shard, 1))
        once = self._sample(shard, 1) * self.units
        calls = max(1, math.ceil(PASSES * min(1.0, self.seconds) / once))
        least, most = SAMPLES
        return calls, min(max(least, int(self.seconds / (calls * once))), most)

    def _host(self, shard: Shard) -> float | None:
        """Seconds that the host spends on a unit; None where it computes itself, or waits for messages."""
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
    """Seconds since then, when all blocks have done everything."""
    shard.synchronize()
    return float(shard.allreduce([time.perf_counter() - start], "max")[0])


def rehearse(shard: Shard, once: Callable[[], object]) -> None:
    """Do something until the best way to overlap is known, and all states that it meets have been analysed."""
    analysed = -1
    while shard.trying or len(shard.traces) != analysed:  # a state that comes back is followed by known ones
        analysed = len(shard.traces)
        once()


def nothing(shard: Shard) -> None:
    """The beginning of a job whose fields are as the last one left them."""


@dataclass(frozen=True)
class PassTiming:
    """Jobs timed on the processes of a team."""

    team: Team
    conditions: TimingConditions
    usual: ClassVar[Mapping[str, str]] = dict.fromkeys(PRECISION, "double")  # the precision of a device

    @property
    def precision(self) -> str:
        """The precision that is asked for, or the usual one."""
        return self.conditions.precision or self.usual[self.team.device]

    def timed(
        self, name: str, partition: Partition, job: PassJob, overlap: Overlap
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """A row of a table, and what each block reported."""
        reports, transports = self.run(partition, job, overlap)
        return self.row(name, partition, reports, transports), reports

    def run(self, partition: Partition, job: Job, overlap: Overlap) -> tuple[list[Any], list[str]]:
        """The results of a job by block, and the transports between the blocks."""
        mapper = Mapper(overlap, graphs=self.conditions.graphs)
        return self.team.run(partition, job, mapper, self.conditions.channel)

    def row(
        self, name: str, partition: Partition, reports: Sequence[dict[str, Any]], transports: list[str]
    ) -> dict[str, Any]:
        """The row that follows from the reports of the blocks."""
        blocks, cells = len(partition), partition.region.count
        seconds, bandwidth = median(reports[0]["seconds"]), sum(report["copy_bandwidth"] for report in reports)
        hosts = [report["host_seconds"] for report in reports if report["host_seconds"] is not None]
        joules = [float(report["joules"]) for report in reports if report["joules"] is not None]
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
            "copy_bandwidth": bandwidth,
            "host_seconds": max(hosts, default=None),
            "joules_per_cell": sum(joules) / cells if len(joules) == blocks else None,
        }


def moving(row: Mapping[str, Any], nbytes: float) -> dict[str, float]:
    """The rates of a row of which a unit must move so many bytes, all blocks together."""
    rate = nbytes / row["seconds"]
    return {"bytes_per_second": rate, "share_of_copy": rate / row["copy_bandwidth"]}


def open_here(requested: str) -> tuple[Place, Device]:
    """This machine and a device of it, cores all together. Raises BadInput where it is not usable."""
    here = look("this machine")
    return here, open_device("gpu" if choose_device(requested, [here]) == "gpu" else "cpu", here.cores)


def beside_copies(device: Device, measure: Callable[[], list[dict[str, Any]]]) -> dict[str, Any]:
    """Rows with their rates, and the copy bandwidth to compare: the median of what is measured before and after."""
    before, rows = copy_bandwidth(device), measure()
    bandwidth = median([before, copy_bandwidth(device)])
    rates = [moving({**row, "copy_bandwidth": bandwidth}, row["bytes"]) for row in rows]
    return {"copy_bandwidth": bandwidth, "results": [{**row, **rate} for row, rate in zip(rows, rates, strict=True)]}


def about(place: Place, device: str, threads: int) -> dict[str, Any]:
    """Versions, command, date, host and processor; the name of a GPU, or so many cores of a CPU."""
    return {
        **provenance(),
        "host": socket.gethostname(),
        "processor": place.processor,
        "gpu": place.gpus[0].name if device == "gpu" else None,
        "threads": threads if device == "cpu" else None,
    }


def describe(team: Team, precision: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The machine, the precision and the copy bandwidth of the rows."""
    return {
        **about(team.places[0], team.device, team.threads),
        "precision": precision,
        "copy_bandwidth": median(row["copy_bandwidth"] / row["blocks"] for row in rows),
    }
