"""`taskflow bench`: measurements as a table, and as JSON for those who compare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from taskflow.cli.ending import refuse
from taskflow.cli.words import say, several
from taskflow.output import write_report
from taskflow.simulation.bench import measure_kernels
from taskflow.simulation.units import significant, size


def bench_kernels(cells: int | None, precision: str | None, device: str, output: Path | None) -> None:
    """Measure, print a table and write the numbers as JSON to `output`. Raises BadInput where that cannot be."""
    if output is not None and not output.absolute().parent.is_dir():
        refuse(f"{output}: {output.absolute().parent} is not a directory; choose another file with -o")
    found = measure_kernels(cells, precision, device)
    where = found["gpu"] or f"{several(found['threads'], 'core')} of {found['processor']}"
    heading = f"{found['cells'][0]}^3 cells in {found['precision']} precision on {where}"
    say(heading, [("copy", f"{size(found['copy_bandwidth'])}/s, median of what was measured before and after")])
    typer.echo(f"{'':30}{'ms':>10}{'Gcell/s':>10}{'GB/s':>10}{'of copy':>10}")
    for line in found["results"]:
        typer.echo(f"  {line['name']:28}{_numbers(line)}")
    if output is not None:
        try:
            write_report(output, found)
        except OSError as error:
            refuse(f"{output}: cannot be written ({error.strerror or error}); choose another file with -o")
        typer.echo(f"{output}")


def _numbers(line: dict[str, Any]) -> str:
    columns = line["seconds"] * 1e3, line["cells_per_second"] / 1e9, line["bytes_per_second"] / 1e9
    return "".join(f"{_short(value):>10}" for value in columns) + f"{line['share_of_copy']:>10.0%}"


def _short(value: float) -> str:
    return significant(value) if value >= 0.995 else f"{value:.3f}"
