"""Results of benchmarks: shown as a table, written as JSON, drawn as a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from taskflow.common.errors import BadArgument
from taskflow.common.units import plural, significant, size, times
from taskflow.output import write_report
from taskflow.terminal.exit_codes import refuse, writing
from taskflow.terminal.format import table

PICTURES = (".png", ".svg", ".pdf")

Result = dict[str, Any]
Columns = dict[str, str]
PREFIXES = {"T": 1e12, "G": 1e9, "M": 1e6}


def present(
    name: str,
    measure: Callable[[], Result],
    show: Callable[[Result], None],
    output: Path | None,
    draw: Callable[[Result, Path], Path] | None = None,
    picture: Path | None = None,
) -> None:
    """Measure and show the results of a benchmark, write them to `output` and draw them to `picture`.

    Raises the errors of `measure` in terms of options, and BadInput if a file cannot be written, if possible before
    the measurement.
    """
    files = {path: write for path, write in ((output, _write), (picture, draw)) if path is not None and write}
    for path in files:
        if not path.absolute().parent.is_dir():
            refuse(f"{path}: {path.absolute().parent} is not a directory; choose another file")
    if picture is not None and picture.suffix not in PICTURES:
        refuse(f"{picture}: cannot draw this format; choose one of {', '.join(PICTURES)}")
    try:
        result = {"benchmark": name, **measure()}
    except BadArgument as error:
        refuse(error.as_option())
    show(result)
    for path, write in files.items():
        with writing(path, "choose another file"):
            written = write(result, path)
        typer.echo(f"{written}")


def _write(result: Result, path: Path) -> Path:
    write_report(path, result)
    return path


def number(value: float | None) -> str:
    """Format a number with three digits, "-" if it was not measured."""
    if value is None:
        return "-"
    return significant(value) if value >= 0.995 else f"{value:.3f}"


def share(value: float | None) -> str:
    """Format a percentage, "-" if it was not measured."""
    return "-" if value is None else f"{value:.1%}"


def where(result: Result) -> str:
    """Return the measured processor or GPU."""
    return str(result["gpu"] or f"{plural(result['threads'], 'core')} of {result['processor']}")


def conditions(result: Result) -> str:
    """Return the precision and the measured device."""
    return f"{result['precision']} precision on {where(result)}"


def grown(row: Result) -> str:
    """Return the number of blocks, the cells of each, and their overlap if they are several."""
    overlap = f" {arranged(row)}" if row["blocks"] > 1 else ""
    return f"{row['blocks']} x {'x'.join(map(str, row['cells_per_block']))}{overlap}"


def arranged(row: Result) -> str:
    """Return the name of a row, and the number of processes if it is not one per block."""
    fewer = f", {plural(row['workers'], 'process')}" if row["workers"] < row["blocks"] else ""
    return f"{row['name']}{decided(row)}{fewer}"


def decided(row: Result) -> str:
    """Return the choice of `auto`."""
    return f" ({row['overlap']})" if row["name"] == "auto" else ""


@dataclass(frozen=True)
class Units:
    """Prefixes of the rates in a table, each chosen for the largest value."""

    cells: str
    flops: str
    dollar: str

    @classmethod
    def of(cls, rows: Sequence[Result]) -> Units:
        """Return the units for the rows of a table."""
        names = ("cells_per_second_per_block", "flops", "cells_per_dollar")
        return cls(*(_prefix(max(row[name] or 0.0 for row in rows)) for name in names))

    def speed(self, row: Result) -> Columns:
        """Return the columns of time and rates."""
        return {
            "ms": number(row["seconds"] * 1e3),
            **({"ms in use": number(row["seconds_in_use"] * 1e3)} if row.get("seconds_in_use") else {}),
            "spread": share(row["spread"]),
            f"{self.cells}cell/s": number(row["cells_per_second_per_block"] / PREFIXES[self.cells]),
            "GB/s": number(row["bytes_per_second"] / row["blocks"] / 1e9),
            "of copy": share(row["share_of_copy"]),
            "of driver": share(row["share_of_driver"]),
        }

    def costs(self, row: Result) -> Columns:
        """Return the columns of operations, energy and cost, if known."""
        columns = {}
        if row["flops"] is not None:
            columns[f"{self.flops}FLOPS"] = number(row["flops"] / PREFIXES[self.flops])
        if row["joules_per_cell"] is not None:
            columns["nJ"] = number(row["joules_per_cell"] * 1e9)
            if row["operations_per_cell"] is not None:
                columns["GFLOPS/W"] = number(row["operations_per_cell"] / row["joules_per_cell"] / 1e9)
        if row["cells_per_dollar"] is not None:
            columns[f"{self.dollar}cell/$"] = number(row["cells_per_dollar"] / PREFIXES[self.dollar])
        return columns


def _prefix(largest: float) -> str:
    return next((prefix for prefix, scale in PREFIXES.items() if largest >= scale), "M")


def about(result: Result) -> list[tuple[str, str]]:
    """Return the meaning of the columns, and why some are missing."""
    row = result["results"][0]
    operations = row["operations_per_cell"]
    counted = "operations that are not counted" if operations is None else f"{operations:.0f} operations"
    lines = [
        ("step", f"{row['bytes_per_cell']:.0f} bytes to move and {counted}, per cell"),
        ("copy", f"{copies(result)} for each block, measured alongside the steps"),
        ("cell/s", "cells times steps per second, of each block; GB/s of each, too"),
    ]
    if operations is not None:
        lines.append(("FLOPS", "operations per second, of all blocks"))
    if row["joules_per_cell"] is None:
        lines.append(("energy", "unknown: no driver counts the energy of " + (result["gpu"] or "cores")))
    else:
        taken = "that the GPUs took" if row.get("watts") is None else f"at {row['watts']:g} W"
        lines.append(("nJ", f"energy per cell and step {taken}"))
    if result["price"] is not None:
        lines.append(("cell/$", f"cells times steps per dollar, at {result['price']:g} for an hour of a block"))
    return lines


def copies(result: Result) -> str:
    """Return the bandwidths of our copy kernel and of the driver's copy."""
    return f"{size(result['copy_bandwidth'])}/s, by the driver {size(result['driver_bandwidth'])}/s,"


def columned(labels: Iterable[str], columns: Sequence[Columns]) -> None:
    """Print rows with their labels and columns."""
    table(tuple(columns[0]), zip(labels, (tuple(texts.values()) for texts in columns), strict=True))


def listed(rows: Sequence[Result], columns: Sequence[Columns]) -> None:
    """Print rows with their blocks and columns."""
    columned(map(grown, rows), columns)


def scaled(row: Result) -> Columns:
    """Return the columns of efficiency and speedup."""
    return {"efficiency": share(row["efficiency"]), "speedup": number(row["speedup"])}


def by(key: str, rows: Sequence[Result]) -> dict[Any, list[Result]]:
    """Return the rows grouped by the value of a key, in order."""
    groups: dict[Any, list[Result]] = {}
    for row in rows:
        groups.setdefault(times(row[key]) if isinstance(row[key], list) else row[key], []).append(row)
    return groups


def spent(row: Result) -> Columns:
    """Return the columns of energy and cost per cell, "-" if unknown. Rows of published values do not have them."""
    joules, bought = row.get("joules_per_cell"), row.get("cells_per_dollar")
    return {"nJ": number(joules and joules * 1e9), "Gcell/$": number(bought and bought / 1e9)}


def reached(row: Result) -> Columns:
    """Return the columns of iterations and residual of a solver."""
    return {"iterations": f"{row['iterations']:.4g}", "residual": f"{row['residual']:.1e}"}
