"""Results of benchmarks: shown as a table, written as JSON, drawn as a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from taskflow.cli.exit_codes import refuse, writing
from taskflow.cli.format import several
from taskflow.output import write_report
from taskflow.units import significant

PICTURES = (".png", ".svg", ".pdf")

Result = dict[str, Any]


def present(
    name: str,
    measure: Callable[[], Result],
    show: Callable[[Result], None],
    output: Path | None,
    draw: Callable[[Result, Path], Path] | None = None,
    picture: Path | None = None,
) -> None:
    """Measure and show the numbers of the benchmark with this name; write them to `output` and draw them to `picture`.

    Raises what `measure` raises, and BadInput where a file cannot be written: before anything is measured, as far as
    that can be known.
    """
    files = {path: write for path, write in ((output, _write), (picture, draw)) if path is not None and write}
    for path in files:
        if not path.absolute().parent.is_dir():
            refuse(f"{path}: {path.absolute().parent} is not a directory; choose another file")
    if picture is not None and picture.suffix not in PICTURES:
        refuse(f"{picture}: cannot draw this format; choose one of {', '.join(PICTURES)}")
    result = {"benchmark": name, **measure()}
    show(result)
    for path, write in files.items():
        with writing(path, "choose another file"):
            typer.echo(f"{write(result, path)}")


def _write(result: Result, path: Path) -> Path:
    write_report(path, result)
    return path


def number(value: float | None) -> str:
    """Three digits; nothing for what was not measured."""
    if value is None:
        return "-"
    return significant(value) if value >= 0.995 else f"{value:.3f}"


def share(value: float | None) -> str:
    """Per cent; nothing for what was not measured."""
    return "-" if value is None else f"{value:.1%}"


def where(result: Result) -> str:
    """The processor or GPU that was measured."""
    return str(result["gpu"] or f"{several(result['threads'], 'core')} of {result['processor']}")


def conditions(result: Result) -> str:
    """With what and where it was measured."""
    return f"{result['precision']} precision on {where(result)}"


def grown(row: Result) -> str:
    """Blocks and the cells of each; how they overlap, where there are several."""
    overlap = f" {arranged(row)}" if row["blocks"] > 1 else ""
    return f"{row['blocks']} x {'x'.join(map(str, row['cells_per_block']))}{overlap}"


def arranged(row: Result) -> str:
    """The name of a row, and the number of processes where that is not one for each block."""
    fewer = f", {several(row['workers'], 'process')}" if row["workers"] < row["blocks"] else ""
    return f"{row['name']}{_decided(row)}{fewer}"


def _decided(row: Result) -> str:
    """The choice of `auto`."""
    return f" ({row['overlap']})" if row["name"] == "auto" else ""
