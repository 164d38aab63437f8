"""The results of the studies of Jacobsen & Senocak, as tables and pictures."""

from __future__ import annotations

from pathlib import Path

import typer

from examples.papers.jacobsen_senocak_2013.convergence import levels
from taskflow.bench.projection.step import show_steps, solved
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
    spent,
)
from taskflow.common.units import plural, size
from taskflow.terminal.format import say, table

KINDS = {"copy": "copies", "communication": "messages"}  # of a profile, as the paper names them
RATES = {"copy": "copied GB/s", "communication": "sent GB/s"}


def show_cavity(result: Result) -> None:
    """Print the result of `measure_cavity`."""
    say(f"Scaling of steps of the lid-driven cavity, {solved(result)}", about(result))
    units = Units.of(result["results"])
    for shape, rows in by("shape", result["results"]).items():
        papers = result["papers"].get(shape) if rows[0]["flops"] is not None else None
        typer.echo(shape + (f" (the papers: {papers / 1e12:.1f} TFLOPS on 256 GPUs)" if papers else ""))
        listed(rows, [{**units.speed(row), **scaled(row), **units.costs(row)} for row in rows])


def show_shares(result: Result) -> None:
    """Print the result of `measure_shares`."""
    say(
        f"Shares of the solution for the pressure of a step of the lid-driven cavity, {solved(result)}",
        [
            ("number", "of messages of the busiest block in a solution, and what they carry"),
            ("GB/s", "what they carry over the time of copies and over the time of messages"),
            ("halos", result["halos"]),
            ("the paper", ", ".join(f"{KINDS[kind]} at {size(rate)}/s" for kind, rate in result["paper"].items())),
        ],
    )
    for shape, rows in by("shape", result["results"]).items():
        typer.echo(shape)
        listed(rows, [{"ms": number(row["seconds"] * 1e3), **_divided(row)} for row in rows])


def _divided(row: Result) -> Columns:
    shares = {KINDS.get(kind, kind): share(part) for kind, part in row["shares"].items()}
    rates = {RATES[kind]: number(rate and rate * 1e-9) for kind, rate in row["rates"].items()}
    return {**shares, "number": str(row["messages"]), "sent": size(row["sent"]), **rates}


def show_memory(result: Result) -> None:
    """Print the result of `measure_memory`."""
    say(
        f"Memory of a step of the lid-driven cavity, {solved(result)}",
        [
            ("largest", "n x 64 x n cells that fit into what is free"),
            ("in all", "bytes per cell, as those of fields; but for what a benchmark copies beside"),
            ("papers", "16384 x 64 x 16384 cells, which took 256 GPUs"),
        ],
    )
    table(
        ("n", "Gcells", "fields", "in all", "free", "papers need", "and fit"),
        ((plural(row["blocks"], "block"), _room(row)) for row in result["memory"]),
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
        times = [{"ms": number(row["seconds"] * 1e3), "spread": share(row["spread"])} for row in rows]
        columns = [{**time, **reached(row), **spent(row)} for time, row in zip(times, rows, strict=True)]
        columned((f"{row['method']}{levels(row)}, {plural(row['blocks'], 'block')}" for row in rows), columns)


def draw_convergence(result: Result, path: Path) -> Path:
    """Draw the result of `measure_convergence`; the path."""
    from examples.papers.jacobsen_senocak_2013.pictures import plot_convergence

    return plot_convergence(result["results"], f"Pressure of the lid-driven cavity, {conditions(result)}", path)


def draw_cavity(result: Result, path: Path) -> Path:
    """Draw the result of `measure_cavity`; the path."""
    from examples.papers.jacobsen_senocak_2013.pictures import plot_campaign

    return plot_campaign(result["results"], result["papers"], f"Lid-driven cavity, {solved(result)}", path)


def _room(row: Result) -> tuple[str, ...]:
    x, y, z = row["cells"]
    parts = number(row["fields_per_cell"]), number(row["bytes_per_cell"])
    fits = "yes" if row["papers_fit"] else "no"
    return str(x), number(x * y * z / 1e9), *parts, size(row["free"]), size(row["papers_bytes"]), fits
