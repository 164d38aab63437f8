"""The results of the benchmarks of artificial compressibility, as tables."""

from __future__ import annotations

from taskflow.benchmarks.tables import Result, conditions, number, share, where
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


def show_ssspnt(result: Result) -> None:
    """Print the result of `measure_ssspnt`."""
    say(f"Xue & Roy's heated box, {conditions(result)}", [("ssspnt", "1e-7 cells times steps, per device and second")])
    table(
        ("devices", "ms", "Gcell/s", "ssspnt", "efficiency"),
        (
            (
                f"{row['kind']} {row['cut']} {row['name']}",
                (
                    str(row["blocks"]),
                    number(row["seconds"] * 1e3),
                    number(row["cells_per_second_per_block"] * row["blocks"] / 1e9),
                    number(row["ssspnt"]),
                    share(row["efficiency"]),
                ),
            )
            for row in result["results"]
        ),
    )
