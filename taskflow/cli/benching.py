"""`taskflow bench`: measurements as tables for people, and as JSON for those who compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import typer

from taskflow.cli.ending import refuse
from taskflow.cli.words import say, several
from taskflow.output import write_report
from taskflow.simulation.units import significant, size

NAME = 30  # columns of the first column of a table
COLUMN = 10

Found = dict[str, Any]


def bench(measure: Callable[[], Found], show: Callable[[Found], None], output: Path | None) -> None:
    """Measure, show what was found, and write it to `output`, too. Raises what `measure` raises, and BadInput where
    the file cannot be written: before anything is measured, as far as that can be known.
    """
    if output is not None and not output.absolute().parent.is_dir():
        refuse(f"{output}: {output.absolute().parent} is not a directory; choose another file with -o")
    found = measure()
    show(found)
    if output is None:
        return
    try:
        write_report(output, found)
    except OSError as error:
        refuse(f"{output}: cannot be written ({error.strerror or error}); choose another file with -o")
    typer.echo(f"{output}")


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
