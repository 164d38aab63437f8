"""`taskflow bench`: measurements as tables for people, and as JSON for those who compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from taskflow.cli.ending import refuse
from taskflow.cli.words import say, several, times
from taskflow.output import write_report
from taskflow.units import significant, size

NAME = 30  # columns of the first column of a table
COLUMN = 12
PICTURES = (".png", ".svg", ".pdf")

Found = dict[str, Any]


def bench(
    measure: Callable[[], Found],
    show: Callable[[Found], None],
    output: Path | None,
    draw: Callable[[Found, Path], Path] | None = None,
    picture: Path | None = None,
) -> None:
    """Measure, show what was found, and write it to `output` and draw it to `picture`, too.

    Raises what `measure` raises, and BadInput where a file cannot be written: before anything is measured, as far as
    that can be known.
    """
    wanted = {path: write for path, write in ((output, _write), (picture, draw)) if path is not None and write}
    for path in wanted:
        if not path.absolute().parent.is_dir():
            refuse(f"{path}: {path.absolute().parent} is not a directory; choose another file")
    if picture is not None and picture.suffix not in PICTURES:
        refuse(f"{picture}: cannot draw this format; choose one of {', '.join(PICTURES)}")
    found = measure()
    show(found)
    for path, write in wanted.items():
        try:
            typer.echo(f"{write(found, path)}")
        except OSError as error:
            refuse(f"{path}: cannot be written ({error.strerror or error}); choose another file")


def _write(found: Found, path: Path) -> Path:
    write_report(path, found)
    return path


def table(names: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> None:
    """Print rows of a label and a text per column, under the names of the columns."""
    typer.echo(f"{'':{NAME}}" + "".join(f"{name:>{COLUMN}}" for name in names))
    for label, columns in rows:
        typer.echo(f"  {label:{NAME - 2}}" + "".join(f"{text:>{COLUMN}}" for text in columns))


def number(value: float | None) -> str:
    """Three digits; nothing for what was not measured."""
    if value is None:
        return "-"
    return significant(value) if value >= 0.995 else f"{value:.3f}"


def where(found: Found) -> str:
    """The processor or GPU that was measured."""
    return str(found["gpu"] or f"{several(found['threads'], 'core')} of {found['processor']}")


def show_kernels(found: Found) -> None:
    """What `measure_kernels` found."""
    heading = f"{found['cells'][0]}^3 cells in {found['precision']} precision on {where(found)}"
    say(heading, [("copy", f"{size(found['copy_bandwidth'])}/s, median of what was measured before and after")])
    table(
        ("ms", "Gcell/s", "GB/s", "of copy"),
        (
            (
                line["name"],
                (
                    number(line["seconds"] * 1e3),
                    number(line["cells_per_second"] / 1e9),
                    number(line["bytes_per_second"] / 1e9),
                    f"{line['share_of_copy']:.0%}",
                ),
            )
            for line in found["results"]
        ),
    )


def show_runtime(found: Found) -> None:
    """What `measure_runtime` found."""
    say(f"The runtime on {where(found)}")
    for row in found["results"]:
        value = f"{row['value']:,.0f}" if row["unit"] == "" else number(row["value"])
        typer.echo(f"  {row['name']:{NAME - 2}}{value:>{COLUMN}} {row['unit']:3} {row['how']}")


def show_channels(found: Found) -> None:
    """What `measure_channels` found."""
    say(
        f"Messages between {found['blocks']} blocks in a ring, in host memory of {where(found)}",
        [
            ("copy", f"{size(found['copy_bandwidth'])}/s for all blocks together, measured beside the messages"),
            ("halo step", "microseconds for a message to and from both neighbours, by its size"),
            ("GB/s", "what leaves a block, while as much comes, in the last of them"),
            ("all-reduce", "microseconds, of three numbers"),
        ],
    )
    measured = [row for row in found["results"] if row["problem"] is None]
    table(
        (*(size(nbytes) for nbytes in found["sizes"]), "GB/s", "all-reduce"),
        ((_carrier(row), _carried(row)) for row in measured),
    )
    for row in found["results"]:
        if row["problem"] is not None:
            typer.echo(f"  {row['name']}: {row['problem']}")


def _carrier(row: Found) -> str:
    return f"{row['name']}, {several(row['processes'], 'process')}"


def _carried(row: Found) -> tuple[str, ...]:
    """Microseconds of halo steps, gigabytes per second that leave a block in the last, microseconds of a reduction."""
    steps = [number(step["seconds"] * 1e6) for step in row["halo"]]
    return *steps, number(row["halo"][-1]["bytes_per_second"] / 1e9), number(row["allreduce"]["seconds"] * 1e6)


def show_sweep(found: Found) -> None:
    """What `measure_sweep` found."""
    rows, blocks = found["results"], times(found["blocks"])
    heading = f"{sweeps(found)} over {times(found['cells_per_block'])} cells per block, {conditions(found)}"
    exchanged = [row for row in rows if row["messages"]]
    carried = [
        ("copy", f"{size(found['copy_bandwidth'])}/s for each block, measured beside the sweeps"),
        ("blocks", blocks),
    ]
    if exchanged:
        row, over = exchanged[-1], ", ".join(dict.fromkeys(name for each in exchanged for name in each["transports"]))
        count = significant(row["messages"])
        carried.append(("messages", f"{count} with {size(row['bytes'])} per sweep from the busiest block, over {over}"))
    say(heading, carried)
    table(
        ("us", "spread", "Gcell/s", "of copy", "efficiency", "hidden", "host us"),
        ((arranged(row), (*_speed(row), share(row["hidden"]), _host(row))) for row in rows),
    )


def show_scaling(found: Found) -> None:
    """What `measure_scaling` found."""
    say(
        f"Scaling: {sweeps(found)}, {conditions(found)}",
        [("copy", f"{size(found['copy_bandwidth'])}/s for each block, measured beside the sweeps")],
    )
    for shape in dict.fromkeys(row["shape"] for row in found["results"]):
        typer.echo(f"{shape}")
        table(
            ("us", "spread", "Gcell/s", "of copy", "efficiency", "speedup", "host us"),
            (
                (grown(row), (*_speed(row), significant(row["speedup"]), _host(row)))
                for row in found["results"]
                if row["shape"] == shape
            ),
        )


def draw_scaling(found: Found, path: Path) -> Path:
    """Draw what `measure_scaling` found."""
    from taskflow.plots.benchmarks import plot_scaling

    return plot_scaling(found["results"], f"{sweeps(found)}, {conditions(found)}", path)


def sweeps(found: Found) -> str:
    """What was measured."""
    return "Jacobi sweeps, two in a pass over memory" if found["blocked"] else "Jacobi sweeps"


def conditions(found: Found) -> str:
    """With what and where it was measured."""
    return f"{found['precision']} precision on {where(found)}"


def _speed(row: Found) -> tuple[str, ...]:
    """Microseconds and their spread, cells per second of a block, share of the copy bandwidth, efficiency."""
    shares = (share(row[name]) for name in ("share_of_copy", "efficiency"))
    return number(row["seconds"] * 1e6), share(row["spread"]), number(row["cells_per_second_per_block"] / 1e9), *shares


def grown(row: Found) -> str:
    """Blocks and the cells of each; how they overlap, where there are several."""
    overlap = f" {arranged(row)}" if row["blocks"] > 1 else ""
    return f"{row['blocks']} x {'x'.join(map(str, row['cells_per_block']))}{overlap}"


def arranged(row: Found) -> str:
    """What was measured; in how many processes, where that is not one for each block."""
    fewer = f", {several(row['workers'], 'process')}" if row["workers"] < row["blocks"] else ""
    return f"{row['name']}{_decided(row)}{fewer}"


def _decided(row: Found) -> str:
    """What `auto` decided."""
    return f" ({row['overlap']})" if row["name"] == "auto" else ""


def share(value: float | None) -> str:
    """Per cent; nothing for what was not measured."""
    return "-" if value is None else f"{value:.1%}"


def _host(row: Found) -> str:
    return number(None if row["host_seconds"] is None else row["host_seconds"] * 1e6)
