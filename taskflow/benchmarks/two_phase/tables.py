"""The results of the benchmark of two phases, as tables and pictures."""

from __future__ import annotations

from pathlib import Path

from taskflow.benchmarks.tables import Columns, Result, Units, about, conditions, listed, number, reached, share
from taskflow.cli.format import say, times


def show_step(result: Result) -> None:
    """Print the result of `measure_step`."""
    rows = result["results"]
    cells = f"{times(rows[0]['cells'])} cells"
    say(f"The first {rows[0]['steps']} steps of a bubble, {cells}, {solved(result)}", _lines(result))
    units = Units.of(rows)
    listed(rows, [{**units.speed(row), **reached(row), **units.costs(row)} for row in rows])
    listed(rows, [_parts(row) for row in rows])


def show_sizes(result: Result) -> None:
    """Print the result of `measure_sizes`."""
    rows = result["results"]
    say(f"The first {rows[0]['steps']} steps of a bubble in cubes, {solved(result)}", _lines(result))
    units = Units.of(rows)
    listed(rows, [{**units.speed(row), **reached(row), **units.costs(row)} for row in rows])
    if result["more"]:
        say(f"No more cells{result['more']}")


def draw_sizes(result: Result, path: Path) -> Path:
    """Draw the result of `measure_sizes`; the path."""
    from taskflow.plots.two_phase_benchmarks import plot_sizes

    return plot_sizes(result["results"], f"Steps of a rising bubble, {solved(result)}", path)


def solved(result: Result) -> str:
    """How the pressure was solved for, other values of the case, and where it was measured."""
    return ", ".join([result["pressure"], *result["settings"], conditions(result)])


def _lines(result: Result) -> list[tuple[str, str]]:
    """The meaning of the columns."""
    row, lines = result["results"][0], about(result)
    if result["gpu"] is None and result["watts"] is not None:
        lines = [line for line in lines if line[0] != "nJ"]
        lines.append(("nJ", f"energy per cell and step at {result['watts']:g} W"))
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
