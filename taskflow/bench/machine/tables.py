"""Results of the benchmarks of machine and runtime, as tables and pictures."""

from __future__ import annotations

from pathlib import Path

import typer

from taskflow.bench.tables import Result, arranged, by, conditions, grown, number, share, where
from taskflow.cli.format import COLUMN, NAME, say, table
from taskflow.common.units import several, significant, size, times


def show_runtime(result: Result) -> None:
    """Print the result of `measure_runtime`."""
    say(f"The runtime on {where(result)}")
    for row in result["results"]:
        value = f"{row['value']:,.0f}" if row["unit"] == "" else number(row["value"])
        typer.echo(f"  {row['name']:{NAME - 2}}{value:>{COLUMN}} {row['unit']:3} {row['how']}")


def show_channels(result: Result) -> None:
    """Print the result of `measure_channels`."""
    say(
        f"Messages between {result['blocks']} blocks in a ring, in host memory of {where(result)}",
        [
            ("copy", f"{size(result['copy_bandwidth'])}/s for all blocks together, measured beside the messages"),
            ("halo step", "microseconds for a message to and from both neighbours, by its size"),
            ("GB/s", "what leaves a block, while as much comes, in the last of them"),
            ("all-reduce", "microseconds, of three numbers"),
        ],
    )
    measured = [row for row in result["results"] if row["problem"] is None]
    table(
        (*(size(nbytes) for nbytes in result["sizes"]), "GB/s", "all-reduce"),
        ((f"{row['name']}, {several(row['processes'], 'process')}", _carried(row)) for row in measured),
    )
    for row in result["results"]:
        if row["problem"] is not None:
            typer.echo(f"  {row['name']}: {row['problem']}")


def _carried(row: Result) -> tuple[str, ...]:
    """Return microseconds of halo steps, sent GB/s of a block in the last, and microseconds of a reduction."""
    steps = [number(step["seconds"] * 1e6) for step in row["halo"]]
    return *steps, number(row["halo"][-1]["bytes_per_second"] / 1e9), number(row["allreduce"]["seconds"] * 1e6)


def show_sweep(result: Result) -> None:
    """Print the result of `measure_sweep`."""
    rows, blocks = result["results"], times(result["blocks"])
    heading = f"{sweeps(result)} over {times(result['cells_per_block'])} cells per block, {conditions(result)}"
    exchanged = [row for row in rows if row["messages"]]
    carried = [
        ("copy", f"{size(result['copy_bandwidth'])}/s for each block, measured beside the sweeps"),
        ("blocks", blocks),
    ]
    if exchanged:
        row, over = exchanged[-1], ", ".join(dict.fromkeys(name for one in exchanged for name in one["transports"]))
        count = significant(row["messages"])
        carried.append(("messages", f"{count} with {size(row['bytes'])} per sweep from the busiest block, over {over}"))
    say(heading, carried)
    table(
        ("us", "spread", "Gcell/s", "of copy", "efficiency", "hidden", "host us"),
        ((arranged(row), (*_speed(row), share(row["hidden"]), _host(row))) for row in rows),
    )


def show_scaling(result: Result) -> None:
    """Print the result of `measure_scaling`."""
    say(
        f"Scaling: {sweeps(result)}, {conditions(result)}",
        [("copy", f"{size(result['copy_bandwidth'])}/s for each block, measured beside the sweeps")],
    )
    for shape, rows in by("shape", result["results"]).items():
        typer.echo(f"{shape}")
        table(
            ("us", "spread", "Gcell/s", "of copy", "efficiency", "speedup", "host us"),
            ((grown(row), (*_speed(row), significant(row["speedup"]), _host(row))) for row in rows),
        )


def draw_scaling(result: Result, path: Path) -> Path:
    """Draw the result of `measure_scaling`, and return the path."""
    from taskflow.plots.benchmarks import plot_scaling

    return plot_scaling(result["results"], f"{sweeps(result)}, {conditions(result)}", path)


def sweeps(result: Result) -> str:
    """Return the name of the measured sweeps."""
    return "Jacobi sweeps, two in a pass over memory" if result["blocked"] else "Jacobi sweeps"


def _speed(row: Result) -> tuple[str, ...]:
    """Return microseconds and their spread, cells per second of a block, share of the copy bandwidth, efficiency."""
    shares = (share(row[name]) for name in ("share_of_copy", "efficiency"))
    return number(row["seconds"] * 1e6), share(row["spread"]), number(row["cells_per_second_per_block"] / 1e9), *shares


def _host(row: Result) -> str:
    return number(None if row["host_seconds"] is None else row["host_seconds"] * 1e6)
