"""The results of the benchmarks of the projection solver, as tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from taskflow.benchmarks.tables import Result, conditions, grown, number, share, where
from taskflow.cli.format import say, several, table, times
from taskflow.units import size

Columns = dict[str, str]
PREFIXES = {"T": 1e12, "G": 1e9, "M": 1e6}


@dataclass(frozen=True)
class Units:
    """The prefixes of the rates in a table: of each kind the one that suits the largest."""

    cells: str
    flops: str
    dollar: str

    @classmethod
    def of(cls, rows: Sequence[Result]) -> Units:
        """The units for the rows of a table."""
        names = ("cells_per_second_per_block", "flops", "cells_per_dollar")
        return cls(*(_prefix(max(row[name] or 0.0 for row in rows)) for name in names))

    def speed(self, row: Result) -> Columns:
        """How fast it was."""
        return {
            "ms": number(row["seconds"] * 1e3),
            "spread": share(row["spread"]),
            f"{self.cells}cell/s": number(row["cells_per_second_per_block"] / PREFIXES[self.cells]),
            "GB/s": number(row["bytes_per_second"] / row["blocks"] / 1e9),
            "of copy": share(row["share_of_copy"]),
        }

    def costs(self, row: Result) -> Columns:
        """The columns of operations, energy and money, as far as they are known."""
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


def show_kernels(result: Result) -> None:
    """Print the result of `measure_kernels`."""
    heading = f"{result['cells'][0]}^3 cells in {result['precision']} precision on {where(result)}"
    say(heading, [("copy", f"{size(result['copy_bandwidth'])}/s, median of what was measured before and after")])
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
            for line in result["results"]
        ),
    )


def show_steps(result: Result) -> None:
    """Print the result of `measure_step`."""
    row = result["results"][0]
    say(f"Steps of {result['case']}, {times(row['cells'])} cells, {_solved(result)}", _about(result))
    units = Units.of(result["results"])
    _rows(result["results"], [{**units.speed(row), **_state(row), **units.costs(row)} for row in result["results"]])


def show_cavity(result: Result) -> None:
    """Print the result of `measure_cavity`."""
    say(f"Scaling of steps of the lid-driven cavity, {_solved(result)}", _about(result))
    units = Units.of(result["results"])
    for shape in dict.fromkeys(row["shape"] for row in result["results"]):
        rows = [row for row in result["results"] if row["shape"] == shape]
        papers = result["papers"].get(shape) if rows[0]["flops"] is not None else None
        typer.echo(shape + (f" (the papers: {papers / 1e12:.1f} TFLOPS on 256 GPUs)" if papers else ""))
        scaled = [{"efficiency": share(row["efficiency"]), "speedup": number(row["speedup"])} for row in rows]
        _rows(rows, [{**units.speed(row), **more, **units.costs(row)} for row, more in zip(rows, scaled, strict=True)])


def show_memory(result: Result) -> None:
    """Print the result of `measure_memory`."""
    say(
        f"Memory of a step of the lid-driven cavity, {_solved(result)}",
        [
            ("largest", "n x 64 x n cells that fit into what is free"),
            ("in all", "bytes per cell, as those of fields; but for what a benchmark copies beside"),
            ("papers", "16384 x 64 x 16384 cells, which took 256 GPUs"),
        ],
    )
    table(
        ("n", "Gcells", "fields", "in all", "free", "papers need", "and fit"),
        ((several(row["blocks"], "block"), _room(row)) for row in result["memory"]),
    )
    if result["results"]:
        show_steps(result)


def show_convergence(result: Result) -> None:
    """Print the result of `measure_convergence`."""
    say(
        f"Solvers of the pressure equation of a step of the lid-driven cavity, from p = 0, {conditions(result)}",
        [("residual", "relative to the right-hand side, in the 2-norm")],
    )
    for cells in dict.fromkeys(tuple(row["cells"]) for row in result["results"]):
        typer.echo(f"{times(cells)} cells")
        rows = [row for row in result["results"] if tuple(row["cells"]) == cells]
        columns = [
            {"ms": number(row["seconds"] * 1e3), "spread": share(row["spread"]), **_reached(row)} for row in rows
        ]
        labels = [f"{row['method']}, {several(row['blocks'], 'block')}" for row in rows]
        table(tuple(columns[0]), ((label, tuple(texts.values())) for label, texts in zip(labels, columns, strict=True)))


def draw_convergence(result: Result, path: Path) -> Path:
    """Draw the result of `measure_convergence`; the path."""
    from taskflow.plots.benchmarks import plot_convergence

    return plot_convergence(result["results"], f"Pressure of the lid-driven cavity, {conditions(result)}", path)


def draw_cavity(result: Result, path: Path) -> Path:
    """Draw the result of `measure_cavity`; the path."""
    from taskflow.plots.benchmarks import plot_campaign

    return plot_campaign(result["results"], result["papers"], f"Lid-driven cavity, {_solved(result)}", path)


def _solved(result: Result) -> str:
    return f"{result['pressure']}, {conditions(result)}"


def _about(result: Result) -> list[tuple[str, str]]:
    """The meaning of the columns, and why some are missing."""
    row = result["results"][0]
    operations = row["operations_per_cell"]
    counted = "operations that cannot be told" if operations is None else f"{operations:.0f} operations"
    lines = [
        ("step", f"{row['bytes_per_cell']:.0f} bytes to move and {counted}, per cell"),
        ("copy", f"{size(result['copy_bandwidth'])}/s for each block, measured beside the steps"),
        ("cell/s", "cells times steps per second, of each block; GB/s of each, too"),
    ]
    if operations is not None:
        lines.append(("FLOPS", "operations per second, of all blocks"))
    if row["joules_per_cell"] is None:
        lines.append(("energy", "not known: no driver counts that of " + (result["gpu"] or "cores")))
    else:
        lines.append(("nJ", "energy per cell and step that the GPUs took"))
    if result["price"] is not None:
        lines.append(("cell/$", f"cells times steps per dollar, at {result['price']:g} for an hour of a block"))
    return lines


def _rows(rows: Sequence[Result], columns: Sequence[Columns]) -> None:
    table(tuple(columns[0]), ((grown(row), tuple(texts.values())) for row, texts in zip(rows, columns, strict=True)))


def _state(row: Result) -> Columns:
    return {**_reached(row), "div": f"{row['divergence']:.1e}"}


def _reached(row: Result) -> Columns:
    return {"iterations": f"{row['iterations']:.4g}", "residual": f"{row['residual']:.1e}"}


def _room(row: Result) -> tuple[str, ...]:
    x, y, z = row["cells"]
    parts = number(row["fields_per_cell"]), number(row["bytes_per_cell"])
    fits = "yes" if row["papers_fit"] else "no"
    return str(x), number(x * y * z / 1e9), *parts, size(row["free"]), size(row["papers_bytes"]), fits
