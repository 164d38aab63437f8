"""Tables of what was measured of artificial compressibility."""

from __future__ import annotations

import typer

from taskflow.benchmarks.tables import Columns, Result, conditions, number, share
from taskflow.cli.format import table


def _show(result: Result, rows: list[tuple[str, Columns]]) -> None:
    typer.echo(f"A step of pseudo-time, {conditions(result)}:")
    table(list(rows[0][1]), [(name, list(columns.values())) for name, columns in rows])


def show_residual(result: Result) -> None:
    """A row per method and kind of cells."""
    rows = [
        (row["name"], {
            "ms": number(row["seconds"] * 1e3),
            "spread": share(row["spread"]),
            "Gcell/s": number(row["cells_per_second_per_block"] / 1e9),
            "bytes/cell": number(row["bytes_per_cell"]),
            "of copy": share(row["share_of_copy"]),
        })
        for row in result["results"]
    ]  # fmt: skip
    _show(result, rows)


def show_ssspnt(result: Result) -> None:
    """A row per cut and overlap."""
    rows = [
        (f"{row['kind']} {row['cut']} {row['name']}", {
            "devices": str(row["blocks"]),
            "ms": number(row["seconds"] * 1e3),
            "Gcell/s": number(row["cells_per_second_per_block"] * row["blocks"] / 1e9),
            "ssspnt": number(row["ssspnt"]),
            "efficiency": share(row["efficiency"]),
        })
        for row in result["results"]
    ]  # fmt: skip
    _show(result, rows)
