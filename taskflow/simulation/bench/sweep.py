"""Jacobi's sweep on one block and on many: how much of the machine is left when blocks exchange ghost cells."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from statistics import median, quantiles
from typing import Any

from taskflow.machine import Control, Mapper, Shard, copy_bandwidth
from taskflow.machine.mapper import Overlap
from taskflow.regions import Box, Triple
from taskflow.simulation.bench import jacobi
from taskflow.simulation.bench.measure import SAMPLES, about
from taskflow.simulation.bench.shapes import Size
from taskflow.simulation.bench.team import Request, Team, team
from taskflow.tasks import Send

PRECISION = {"cpu": "double", "gpu": "single"}
POLICIES: tuple[Overlap, ...] = ("none", "comm", "full")
LENGTH = 0.1  # seconds that a sample takes at least: blocks begin it together within some 10 us
COPY = {"cpu": 64, "gpu": 256}  # mebibytes of each of the two arrays that the copy bandwidth is measured with


@dataclass(frozen=True)
class Conditions:
    """How blocks are measured: `seconds` for the samples of each measurement."""

    overlaps: tuple[Overlap, ...] = POLICIES
    channel: str = "auto"
    precision: str | None = None
    seconds: float = 1.0
    graphs: bool = True


@dataclass(frozen=True)
class SweepJob:
    """The job of a block: its passes timed together with those of all others, and reported."""

    program: jacobi.Sweeps
    seconds: float

    def __call__(self, shard: Shard, control: Control) -> dict[str, Any]:
        """`seconds` of a sweep are those of the slowest block, one value for each sample."""
        jacobi.fill(shard)
        shard.allreduce([0.0], "max")  # blocks that share a memory measure together what they can have together
        bandwidth = copy_bandwidth(shard.device, COPY[shard.device.kind], repeats=4)
        samples = [seconds / self.program.count for seconds in self._samples(shard)]
        trace = shard.traces[-1]
        sent = [node.message.cells for node in trace.graph.of(Send) if isinstance(node, Send)]
        return {
            "seconds": samples,
            "copy_bandwidth": bandwidth,
            "host_seconds": self._host(shard),
            "operations": len(trace.operations) / self.program.count,
            "calls": len(trace.calls) / self.program.count,
            "messages": len(sent) / self.program.count,
            "bytes": sum(sent) * shard.region.fields["p"].nbytes / self.program.count,
            "overlap": shard.overlap,
        }

    def _samples(self, shard: Shard) -> list[float]:
        """Seconds of a pass. All blocks take the same samples, because they decide on numbers of all of them."""

        def sample(calls: int) -> float:
            shard.allreduce([0.0], "max")
            start = time.perf_counter()
            for _ in range(calls):
                shard.run(self.program)
            shard.synchronize()
            return float(shard.allreduce([time.perf_counter() - start], "max")[0]) / calls

        sample(3)  # the states that a program meets are analysed; the last one stays
        while shard.trying:
            sample(1)
        once = sample(1)
        calls = max(1, math.ceil(LENGTH * min(1.0, self.seconds) / once))
        least, most = SAMPLES
        return [sample(calls) for _ in range(min(max(least, int(self.seconds / (calls * once))), most))]

    def _host(self, shard: Shard) -> float | None:
        """Seconds that the host spends on a sweep; None where it computes itself, or waits for messages."""
        if shard.device.kind == "cpu" or any(operation.lane is None for operation in shard.traces[-1].operations):
            return None
        found = []
        for _ in range(SAMPLES[0]):
            shard.allreduce([0.0], "max")
            start = time.perf_counter()
            shard.run(self.program)
            found.append(time.perf_counter() - start)
            shard.synchronize()
        return median(found) / self.program.count


def measure_sweep(
    wanted: str, size: Size, blocks: Triple, conditions: Conditions, workers: int | None = None
) -> dict[str, Any]:
    """One block alone, all blocks without exchange, and all blocks with each way to overlap it: in a process each, and
    again in so many `workers`.

    Raises BadInput where the device is not usable, there are fewer GPUs than blocks, or the memory is not enough.
    """
    rows: list[dict[str, Any]] = []
    for count in ("auto",) if workers is None or workers >= prod(blocks) else ("auto", workers):
        with team(Request(wanted, blocks, count)) as people:
            cells, precision = size.of(blocks, people.device), conditions.precision or PRECISION[people.device]
            found = Sweeping(people, conditions, precision)
            if not rows:
                rows.append(found.measure("one block", cells, (1, 1, 1), "none"))
            if prod(blocks) > 1:
                rows.append(found.measure("no exchange", cells, blocks, "none", exchange=False))
                rows += [found.measure(overlap, cells, blocks, overlap) for overlap in conditions.overlaps]
    return {
        **describe(people, precision, rows),
        "cells_per_block": list(cells),
        "blocks": list(blocks),
        "results": compared(rows),
    }


@dataclass(frozen=True)
class Sweeping:
    """Measures sweeps on the processes of a team."""

    team: Team
    conditions: Conditions
    precision: str

    def measure(
        self, name: str, cells: Triple, blocks: Triple, overlap: Overlap, *, exchange: bool = True
    ) -> dict[str, Any]:
        """A row of the table. Raises BadInput where the memory is not enough."""
        count, asked = prod(blocks), f"{' x '.join(map(str, cells))} cells per block"
        partition = jacobi.partition(cells, blocks, self.precision)
        need = partition.region.nbytes(Box.of(cells)) + 2 * (COPY[self.team.device] << 20)
        self.team.check_memory(need, count, asked)
        job = SweepJob(jacobi.Sweeps(partition.region.cells, exchange=exchange), self.conditions.seconds)
        reports, transports = self.team.run(
            partition, job, Mapper(overlap, graphs=self.conditions.graphs), self.conditions.channel
        )
        seconds, bandwidth = median(reports[0]["seconds"]), sum(report["copy_bandwidth"] for report in reports)
        moved = jacobi.FIELDS * partition.region.fields["p"].nbytes * prod(cells) * count
        hosts = [report["host_seconds"] for report in reports if report["host_seconds"] is not None]
        low, _, high = quantiles(reports[0]["seconds"], n=4)
        return {
            "name": name,
            "blocks": count,
            "workers": min(count, len(self.team.places)),
            "cells_per_block": list(cells),
            "overlap": reports[0]["overlap"],
            "transports": transports,
            "seconds": seconds,
            "samples": len(reports[0]["seconds"]),
            "spread": (high - low) / seconds,
            "cells_per_second_per_block": prod(cells) / seconds,
            "copy_bandwidth": bandwidth,
            "share_of_copy": moved / seconds / bandwidth,
            "host_seconds": max(hosts, default=None),
            **{name: max(report[name] for report in reports) for name in ("operations", "calls", "messages", "bytes")},
        }


def compared(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with `efficiency`: against the first, and `hidden`: the share of the exchange that an overlap hides,
    (none - this) / (none - no exchange), in as many processes; None where the exchange costs too little to tell, less
    than the times spread. `spread` is that of the middle half of the samples, relative to the median.
    """
    known = {(row["name"], row["workers"]): row for row in rows}

    def hidden(row: Mapping[str, Any]) -> float | None:
        none, least = (known.get((name, row["workers"])) for name in ("none", "no exchange"))
        if none is None or least is None or row["name"] not in ("comm", "full"):
            return None
        exchange = none["seconds"] - least["seconds"]
        doubt = sum(each["spread"] * each["seconds"] for each in (none, least, row))
        return (none["seconds"] - row["seconds"]) / exchange if exchange > doubt else None

    return [{**row, "efficiency": rows[0]["seconds"] / row["seconds"], "hidden": hidden(row)} for row in rows]


def describe(people: Team, precision: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Where and with what the rows were measured."""
    place = people.places[0]
    gpu = place.gpus[0].name if people.device == "gpu" else None
    return {
        **about(place, gpu, people.threads),
        "precision": precision,
        "copy_bandwidth": median(row["copy_bandwidth"] / row["blocks"] for row in rows),
    }
