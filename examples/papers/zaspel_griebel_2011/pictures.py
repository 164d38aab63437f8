"""Figures 3 and 4 of Zaspel & Griebel (2011): speed against the number of cells, and pressure solvers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from taskflow.plots import save
from taskflow.plots.benchmarks import Row, draw_panels

SPEED = "cells_per_second_per_block"


def plot_sizes(rows: Sequence[Row], heading: str, out: str | Path) -> Path:
    """Draw cells times steps per second against the number of cells, and where a price is known what a dollar buys.

    Returns the file written. Raises BadInput where the format is not known.
    """
    panels = [(partial(_size, SPEED, 1e6, "$10^6$ cells x steps per second"), rows)]
    if rows[0]["cells_per_dollar"] is not None:
        panels.append((partial(_size, "cells_per_dollar", 1e12, "cells x steps per dollar [$10^{12}$]"), rows))
    return draw_panels(panels, heading, out, "sizes")


def _size(name: str, unit: float, words: str, axes: Axes, rows: Sequence[Row]) -> None:
    values = [row[name] * row["blocks"] if name == SPEED else row[name] for row in rows]
    axes.plot([prod(row["cells"]) for row in rows], [value / unit for value in values], marker="o")
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("cells")
    axes.set_ylabel(words)


def plot_solvers(rows: Sequence[Row], heading: str, out: str | Path) -> Path:
    """Draw a bar per method: the time of a step, and of the solution from p = 0, with its iterations.

    Returns the file written. Raises BadInput where the format is not known.
    """
    figure = Figure(figsize=(7.5, 0.7 * len(rows) + 1.8), layout="constrained")
    figure.suptitle(heading, fontsize="medium")
    axes = figure.add_subplot()
    for offset, name, label in ((0.2, "seconds", "a step"), (-0.2, "solve_seconds", "a solution from p = 0")):
        places = [number + offset for number in range(len(rows))]
        axes.barh(places, [1e3 * row[name] for row in rows], height=0.36, label=label)
    for number, row in enumerate(rows):
        axes.text(1e3 * row["solve_seconds"], number - 0.2, f" {row['solve_iterations']:g} iterations", va="center")
        axes.text(1e3 * row["seconds"], number + 0.2, f" {row['iterations']:.3g} iterations", va="center")
    axes.set_yticks(range(len(rows)), [row["method"] for row in rows])
    axes.set_xlim(0, 1.35 * max(1e3 * max(row["seconds"], row["solve_seconds"]) for row in rows))
    axes.set_xlabel("ms")
    axes.legend(fontsize="small")
    return save(figure, Path(out).parent, "solvers", out)
