"""The results of the benchmark of two phases, as tables and pictures."""

from __future__ import annotations

from math import prod
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
    grown,
    listed,
    number,
    reached,
    scaled,
    share,
)
from taskflow.common.units import times
from taskflow.terminal.format import say


def show_step(result: Result) -> None:
    """Print the result of `measure_step`."""
    rows = result["results"]
    cells = f"{times(rows[0]['cells'])} cells"
    say(f"The first {rows[0]['steps']} steps of a bubble, {cells}, {solved(result)}", _lines(result))
    units = Units.of(rows)
    several = len({row["scheme"] for row in rows}) > 1
    schemes: list[Columns] = [{"momentum": row["scheme"]} if several else {} for row in rows]
    speeds = ({**units.speed(row), **reached(row), **units.costs(row)} for row in rows)
    listed(rows, [{**scheme, **columns} for scheme, columns in zip(schemes, speeds, strict=True)])
    listed(rows, [{**scheme, **_parts(row)} for scheme, row in zip(schemes, rows, strict=True)])
    for row in rows:
        if row["settings"]:
            say(f"{row['scheme']}: {', '.join(row['settings'])}")


def show_sizes(result: Result) -> None:
    """Print the result of `measure_sizes`."""
    rows = result["results"]
    say(f"The first {rows[0]['steps']} steps of a bubble in cubes, {solved(result)}", _lines(result))
    units = Units.of(rows)
    listed(rows, [{**units.speed(row), **reached(row), **units.costs(row)} for row in rows])


def show_pressure(result: Result) -> None:
    """Print the result of `measure_pressure`."""
    rows = result["results"]
    heading = f"Solvers for the pressure of a bubble, {times(rows[0]['cells'])} cells, to {tolerance(result)}"
    lines = [
        ("cg", "conjugate gradients, preconditioned by the diagonal"),
        ("multigrid", "conjugate gradients, preconditioned by a cycle of multigrid in double precision"),
        ("mixed", "the same, with levels in single precision"),
        ("step", f"a mean over the first {rows[0]['steps']}, with their iterations"),
        ("solve", "that of the last step's equation, from p = 0; its iterations, and the time of one"),
    ]
    say(f"{heading}, {conditions(result)}", [*lines, *((name, why) for name, why in result["refused"].items())])
    columns = [
        {
            "step [ms]": number(row["seconds"] * 1e3),
            "iterations": f"{row['iterations']:.4g}",
            "solve [ms]": number(row["solve_seconds"] * 1e3),
            "iterations ": f"{row['solve_iterations']:.4g}",
            "each [ms]": number(row["solve_seconds"] / max(row["solve_iterations"], 1) * 1e3),
            "nJ": number(None if row["joules_per_cell"] is None else row["joules_per_cell"] * 1e9),
        }
        for row in rows
    ]
    columned((row["method"] for row in rows), columns)


def show_shares(result: Result) -> None:
    """Print the result of `measure_shares`."""
    say(f"Shares of a step of a bubble, {times(result['results'][0]['cells'])} cells, {solved(result)}")
    for row in result["results"]:
        parts = ", ".join(f"{name} {share(value)}" for name, value in row["parts"].items())
        say(f"{grown(row)}: {number(row['seconds'] * 1e3)} ms: {parts}")
        columns = [
            {
                "part": task["part"],
                "share": share(task["share"]),
                "ms": number(task["share"] * row["seconds"] * 1e3),
                "launches": number(task["launches"]),
                "bytes": number(task["bytes_per_cell"]),
                "of copy": share(of_copy(row, task)),
            }
            for task in row["tasks"]
        ]
        columned((task["name"] for task in row["tasks"]), columns)


def of_copy(row: Result, task: Result) -> float | None:
    """The share of the copy bandwidth that a task reaches while it computes; None for one that only moves messages."""
    seconds = task["compute"] * row["seconds"]
    nbytes = task["bytes_per_cell"] * prod(row["cells"])
    return nbytes / seconds / row["copy_bandwidth"] if seconds and nbytes else None


def show_scaling(result: Result) -> None:
    """Print the result of `measure_scaling`."""
    say(f"Scaling of the first {result['results'][0]['steps']} steps of a bubble, {solved(result)}", _lines(result))
    units = Units.of(result["results"])
    for shape, rows in by("shape", result["results"]).items():
        typer.echo(shape)
        more = ({**scaled(row), "iterations": f"{row['iterations']:.4g}"} for row in rows)
        listed(rows, [{**units.speed(row), **text, **units.costs(row)} for row, text in zip(rows, more, strict=True)])


def draw_sizes(result: Result, path: Path) -> Path:
    """Draw the result of `measure_sizes`; the path."""
    from examples.papers.zaspel_griebel_2011.pictures import plot_sizes

    return plot_sizes(result["results"], f"Steps of a rising bubble, {solved(result)}", path)


def draw_pressure(result: Result, path: Path) -> Path:
    """Draw the result of `measure_pressure`; the path."""
    from examples.papers.zaspel_griebel_2011.pictures import plot_solvers

    heading = f"Pressure of a rising bubble, to {tolerance(result)}, {conditions(result)}"
    return plot_solvers(result["results"], heading, path)


def draw_shares(result: Result, path: Path) -> Path:
    """Draw the first row of the result of `measure_shares`; the path."""
    from taskflow.plots.charts import plot_shares

    row = result["results"][0]
    return plot_shares(row["profile"], path, f"A step of {number(row['seconds'] * 1e3)} ms, {solved(result)}")


def draw_scaling(result: Result, path: Path) -> Path:
    """Draw the result of `measure_scaling`; the path."""
    from taskflow.plots.benchmarks import plot_scaling

    return plot_scaling(result["results"], f"Steps of a rising bubble, {solved(result)}", path)


def tolerance(result: Result) -> str:
    """The relative residual that solvers reach."""
    return "that of the case" if result["tolerance"] is None else f"{result['tolerance']:g}"


def solved(result: Result) -> str:
    """How the pressure was solved for, other values of the case, and where it was measured."""
    return ", ".join([result["pressure"], *result["settings"], conditions(result)])


def _lines(result: Result) -> list[tuple[str, str]]:
    """The meaning of the columns."""
    row, lines = result["results"][0], about(result)
    lines += [("", "of what is told of energy the first state is a part, of speed it is not")] * any(
        label == "nJ" for label, _ in lines
    )
    rest = "all of a step but its pressure: time, bytes per cell, launches on all cells and on boundary layers"
    if result["benchmark"] == "two-phase step":
        lines.append(("rest", rest))
    return [*lines, ("memory", f"{row['memory']:.0f} bytes per cell")]


def _parts(row: Result) -> Columns:
    """The columns of the whole benchmark, and of all but the pressure."""
    return {
        "steps [s]": number(row["seconds"] * row["steps"]),
        "start [s]": number(row["initialisation_seconds"]),
        "launches": number(row["launches"]),
        "rest [ms]": number(row["rest_seconds"] * 1e3),
        "bytes": number(row["rest_bytes_per_cell"]),
        "of copy": share(row["rest_share_of_copy"]),
        "launches ": f"{row['rest_launches']:.0f} + {row['rest_layers']:.0f}",
    }


SHOWN = {
    "step": show_step,
    "sizes": show_sizes,
    "pressure": show_pressure,
    "shares": show_shares,
    "scaling": show_scaling,
}
DRAWN = {"sizes": draw_sizes, "pressure": draw_pressure, "shares": draw_shares, "scaling": draw_scaling}
