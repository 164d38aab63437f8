"""Jacobi sweeps on one block and on many: the efficiency of blocks that exchange ghost cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import typer

from taskflow.bench.machine import jacobi
from taskflow.bench.scaling import Growth, Size, scaled
from taskflow.bench.tables import Result, arranged, by, conditions, copies, grown, number, share
from taskflow.bench.team import Request, open_team
from taskflow.bench.timing import BESIDE, PRECISION, PassJob, PassTiming, TimingConditions, describe, moving
from taskflow.common.units import significant, size, times
from taskflow.runtime.machine import Shard
from taskflow.runtime.machine.trace.mapper import Overlap
from taskflow.runtime.regions import Triple
from taskflow.runtime.tasks import Send
from taskflow.terminal.format import say, table


def measure_sweep(
    device: str,
    size: Size,
    blocks: Triple,
    conditions: TimingConditions,
    workers: int | None = None,
    *,
    blocked: bool = False,
) -> dict[str, Any]:
    """Measure one block alone, all blocks without exchange, and all blocks with each overlap.

    In one process per block, and again in `workers` processes. `blocked`: two sweeps per pass over memory. Raises
    BadInput if the device is not usable, blocks outnumber GPUs, or memory is insufficient.
    """
    rows: list[dict[str, Any]] = []
    for count in ("auto",) if workers is None or workers >= prod(blocks) else ("auto", workers):
        with open_team(Request(device, blocks, count)) as team:
            cells, sweeping = size.of(blocks, team.device), SweepTiming(team, conditions, blocked)
            if not rows:
                rows.append(sweeping.measure("one block", cells, (1, 1, 1), "none"))
            if prod(blocks) > 1:
                rows.append(sweeping.measure("no exchange", cells, blocks, "none", exchange=False))
                rows += [sweeping.measure(overlap, cells, blocks, overlap) for overlap in conditions.overlaps]
    return {
        **describe(team, sweeping.precision, rows),
        "cells_per_block": list(cells),
        "blocks": list(blocks),
        "blocked": blocked,
        "results": compared(rows),
    }


def measure_scaling(
    device: str, growth: Growth, conditions: TimingConditions, workers: int | None = None, *, blocked: bool = False
) -> dict[str, Any]:
    """Return a row per shape, number of blocks and overlap, for slabs in z with one device each.

    `efficiency` is relative to one block, in cells per second and device, and `speedup` in total. By default the
    numbers of blocks are 1, 2, 4 and 8, up to the number of GPUs, or cores on CPUs. `blocked`: two sweeps per pass over
    memory. Raises BadInput if blocks outnumber GPUs, a shape cannot be cut so, or memory is insufficient.
    """
    counts = growth.counted(device)
    with open_team(Request(device, (1, 1, max(counts)), workers or "auto")) as team:
        sweeping = SweepTiming(team, conditions, blocked)
        rows = scaled(growth, counts, team.device, conditions, sweeping.measure)
    return {**describe(team, sweeping.precision, rows), "blocked": blocked, "results": rows}


@dataclass(frozen=True)
class SweepTiming(PassTiming):
    """Timing of sweeps on the processes of a team. If `blocked`, two sweeps share a pass over memory."""

    blocked: bool = False
    usual = PRECISION

    def measure(
        self, name: str, cells: Triple, blocks: Triple, overlap: Overlap, *, exchange: bool = True
    ) -> dict[str, Any]:
        """Return a row of the table. Raises BadInput if memory is insufficient."""
        count, asked = prod(blocks), f"{' x '.join(map(str, cells))} cells per block"
        partition = jacobi.partition(cells, blocks, self.precision, blocked=self.blocked)
        self.team.check_memory(partition.nbytes(0) + BESIDE[self.team.device], count, asked)
        program = jacobi.Sweeps(partition.region.cells, exchange=exchange, blocked=self.blocked)
        job = PassJob(jacobi.fill, program, recorded, program.count, seconds=self.conditions.seconds)
        moved = jacobi.FIELDS * partition.region.fields["p"].nbytes * prod(cells) * count / (2 if self.blocked else 1)
        row, reports = self.timed(name, partition, job, overlap)
        counted = ("operations", "calls", "messages", "bytes")
        counts = {name: max(report[name] for report in reports) / program.count for name in counted}
        return {**row, **moving(row, moved), **counts}


def recorded(shard: Shard) -> dict[str, Any]:
    """Return the operations of a pass of sweeps on a block, its host calls, messages and their bytes."""
    trace = shard.traces[-1]
    sent = [node.message.cells for node in trace.graph.of(Send) if isinstance(node, Send)]
    return {
        "operations": len(trace.operations),
        "calls": len(trace.calls),
        "messages": len(sent),
        "bytes": sum(sent) * shard.region.fields["p"].nbytes,
    }


def compared(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with `efficiency` relative to the first, and `hidden`, the share of the exchange that is
    overlapped.

    hidden = (none - this) / (none - no exchange), in the same number of processes, or None if the exchange costs less
    than the spread of times. `spread` is the interquartile range over the median.
    """
    known = {(row["name"], row["workers"]): row for row in rows}

    def hidden(row: Mapping[str, Any]) -> float | None:
        none, least = (known.get((name, row["workers"])) for name in ("none", "no exchange"))
        if none is None or least is None or row["name"] not in ("comm", "full"):
            return None
        exchange = none["seconds"] - least["seconds"]
        doubt = sum(one["spread"] * one["seconds"] for one in (none, least, row))
        return (none["seconds"] - row["seconds"]) / exchange if exchange > doubt else None

    return [{**row, "efficiency": rows[0]["seconds"] / row["seconds"], "hidden": hidden(row)} for row in rows]


def show_sweep(result: Result) -> None:
    """Print the result of `measure_sweep`."""
    rows, blocks = result["results"], times(result["blocks"])
    heading = f"{sweeps(result)} over {times(result['cells_per_block'])} cells per block, {conditions(result)}"
    exchanged = [row for row in rows if row["messages"]]
    carried = [
        _copies(result),
        ("blocks", blocks),
    ]
    if exchanged:
        row, over = exchanged[-1], ", ".join(dict.fromkeys(name for one in exchanged for name in one["transports"]))
        count = significant(row["messages"])
        carried.append(("messages", f"{count} with {size(row['bytes'])} per sweep from the busiest block, over {over}"))
    say(heading, carried)
    table(
        ("us", "spread", "Gcell/s", "of copy", "of driver", "efficiency", "hidden", "host us"),
        ((arranged(row), (*_speed(row), share(row["hidden"]), _host(row))) for row in rows),
    )


def show_scaling(result: Result) -> None:
    """Print the result of `measure_scaling`."""
    say(
        f"Scaling: {sweeps(result)}, {conditions(result)}",
        [_copies(result)],
    )
    for shape, rows in by("shape", result["results"]).items():
        typer.echo(f"{shape}")
        table(
            ("us", "spread", "Gcell/s", "of copy", "of driver", "efficiency", "speedup", "host us"),
            ((grown(row), (*_speed(row), significant(row["speedup"]), _host(row))) for row in rows),
        )


def draw_scaling(result: Result, path: Path) -> Path:
    """Draw the result of `measure_scaling`; the path."""
    from taskflow.plots.benchmarks import plot_scaling

    return plot_scaling(result["results"], f"{sweeps(result)}, {conditions(result)}", path)


def sweeps(result: Result) -> str:
    """The name of the sweeps that were measured."""
    return "Jacobi sweeps, two in a pass over memory" if result["blocked"] else "Jacobi sweeps"


def _copies(result: Result) -> tuple[str, str]:
    return "copy", f"{copies(result)} for each block, measured with the sweeps"


def _speed(row: Result) -> tuple[str, ...]:
    """Microseconds and their spread, cells per second of a block, shares of the bandwidths of copies, efficiency."""
    shares = (share(row[name]) for name in ("share_of_copy", "share_of_driver", "efficiency"))
    return number(row["seconds"] * 1e6), share(row["spread"]), number(row["cells_per_second_per_block"] / 1e9), *shares


def _host(row: Result) -> str:
    return number(None if row["host_seconds"] is None else row["host_seconds"] * 1e6)
