"""Results of the benchmarks of the projection solver, as tables and pictures."""

from __future__ import annotations

from pathlib import Path

import typer

from taskflow.bench.tables import (
    Columns,
    Result,
    Units,
    about,
    by,
    columned,
    conditions,
    listed,
    number,
    reached,
    scaled,
    share,
    where,
)
from taskflow.cli.format import say, table
from taskflow.common.units import several, size, times


def show_kernels(result: Result) -> None:
    """Print the result of `measure_kernels`."""
    heading = f"{result['cells'][0]}^3 cells in {result['precision']} precision on {where(result)}"
    say(heading, [("copy", f"{size(result['copy_bandwidth'])}/s, median of what was measured before and after")])
    columns = [
        {
            "ms": number(row["seconds"] * 1e3),
            "Gcell/s": number(row["cells_per_second"] / 1e9),
            "GB/s": number(row["bytes_per_second"] / 1e9),
            "of copy": f"{row['share_of_copy']:.0%}",
        }
        for row in result["results"]
    ]
    columned((row["name"] for row in result["results"]), columns)


def show_steps(result: Result) -> None:
    """Print the result of `measure_step`."""
    row = result["results"][0]
    say(f"Steps of {result['case']}, {times(row['cells'])} cells, {_solved(result)}", about(result))
    units = Units.of(result["results"])
    listed(result["results"], [{**units.speed(row), **_state(row), **units.costs(row)} for row in result["results"]])


def show_cavity(result: Result) -> None:
    """Print the result of `measure_cavity`."""
    say(f"Scaling of steps of the lid-driven cavity, {_solved(result)}", about(result))
    units = Units.of(result["results"])
    for shape, rows in by("shape", result["results"]).items():
        papers = result["papers"].get(shape) if rows[0]["flops"] is not None else None
        typer.echo(shape + (f" (the papers: {papers / 1e12:.1f} TFLOPS on 256 GPUs)" if papers else ""))
        listed(rows, [{**units.speed(row), **scaled(row), **units.costs(row)} for row in rows])


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
    for cells, rows in by("cells", result["results"]).items():
        typer.echo(f"{cells} cells")
        columns = [{"ms": number(row["seconds"] * 1e3), "spread": share(row["spread"]), **reached(row)} for row in rows]
        columned((f"{row['method']}, {several(row['blocks'], 'block')}" for row in rows), columns)


def draw_convergence(result: Result, path: Path) -> Path:
    """Draw the result of `measure_convergence`, and return the path."""
    from taskflow.plots.benchmarks import plot_convergence

    return plot_convergence(result["results"], f"Pressure of the lid-driven cavity, {conditions(result)}", path)


def draw_cavity(result: Result, path: Path) -> Path:
    """Draw the result of `measure_cavity`, and return the path."""
    from taskflow.plots.benchmarks import plot_campaign

    return plot_campaign(result["results"], result["papers"], f"Lid-driven cavity, {_solved(result)}", path)


def _solved(result: Result) -> str:
    return f"{result['pressure']}, {conditions(result)}"


def _state(row: Result) -> Columns:
    return {**reached(row), "div": f"{row['divergence']:.1e}"}


def _room(row: Result) -> tuple[str, ...]:
    x, y, z = row["cells"]
    parts = number(row["fields_per_cell"]), number(row["bytes_per_cell"])
    fits = "yes" if row["papers_fit"] else "no"
    return str(x), number(x * y * z / 1e9), *parts, size(row["free"]), size(row["papers_bytes"]), fits
