"""The results of the benchmark of artificial compressibility, as tables."""

from __future__ import annotations

from taskflow.benchmarks.tables import Result, number, share, where
from taskflow.cli.format import say, table
from taskflow.units import size


def show_residual(result: Result) -> None:
    """Print the result of `measure_residual`."""
    heading = f"Stages of artificial compressibility, {result['cells'][0]}^3 cells on {where(result)}"
    say(heading, [("copy", f"{size(result['copy_bandwidth'])}/s, median of what was measured before and after")])
    table(
        ("precision", "ms", "Gcell/s", "bytes per cell", "of copy"),
        (
            (
                row["name"],
                (
                    row["precision"],
                    number(row["seconds"] * 1e3),
                    number(row["cells_per_second"] / 1e9),
                    number(row["bytes_per_cell"]),
                    share(row["share_of_copy"]),
                ),
            )
            for row in result["results"]
        ),
    )
