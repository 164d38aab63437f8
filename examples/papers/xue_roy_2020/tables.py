"""The results of the studies after Xue & Roy (2020), as tables."""

from __future__ import annotations

from examples.papers.goal import met
from taskflow.bench.tables import Columns, Result, columned, conditions, number, share, spent, where
from taskflow.common.units import size
from taskflow.terminal.format import say


def show_residual(result: Result) -> None:
    """Print the result of `measure_residual`."""
    heading = f"Stages of artificial compressibility, {result['cells'][0]}^3 cells on {where(result)}"
    say(heading, [("copy", f"{size(result['copy_bandwidth'])}/s, median of what was measured before and after")])
    columns = [
        {
            "precision": row["precision"],
            "ms": number(row["seconds"] * 1e3),
            "Gcell/s": number(row["cells_per_second"] / 1e9),
            "bytes per cell": number(row["bytes_per_cell"]),
            "of copy": share(row["share_of_copy"]),
        }
        for row in result["results"]
    ]
    columned((row["name"] for row in result["results"]), columns)


def show_ssspnt(result: Result) -> None:
    """Print the result of `measure_ssspnt`."""
    lines = [
        ("ssspnt", "1e-7 cells times steps, per device and second"),
        ("paper", "Xue and Roy (2020), 256 x 256 x 256 cells on P100"),
    ]
    say(f"Xue & Roy's heated box, {conditions(result)}", lines)
    rows = [*result["results"], *result["paper"]]
    columned(map(shared, rows), list(map(shared_columns, rows)))
    if result["goals"]:
        told = ((met(row), f"{row['goal']}: {share(row['value'])}") for row in result["goals"])
        say("What was aimed at, and reached by the best rows", told)


def shared(row: Result) -> str:
    """How a box is shared by devices."""
    if row["kind"] == "charts":
        return "1 chart" if row["cut"] == "1" else f"{row['cut']} charts, turned"
    whole = "whole" if row["blocks"] == 1 else f"{row['kind']}, cut along {row['cut']}"
    return whole if "halos" in row else f"paper: {whole}"


def shared_columns(row: Result) -> Columns:
    """The columns of a row of `ssspnt`, of the paper's, too."""
    return {
        "halos": row["halos"] if "halos" in row else row["name"],
        "overlap": row["name"] if "halos" in row and row["blocks"] > 1 else "-",
        "devices": str(row["blocks"]),
        "ms": number(row["seconds"] * 1e3),
        "Gcell/s": number(row["cells_per_second_per_block"] * row["blocks"] / 1e9),
        "ssspnt": number(row["ssspnt"]),
        "efficiency": share(row["efficiency"]),
        **spent(row),
    }
