"""Pictures of what `taskflow bench two-phase` measures: the figures of P. Zaspel and M. Griebel (2011)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from taskflow.plots import save

Row = Mapping[str, Any]
SPEED = "cells_per_second_per_block"


def plot_sizes(rows: Sequence[Row], heading: str, out: str | Path) -> Path:
    """Draw cells times steps per second against the number of cells, and where a price is known what a dollar buys.

    Returns the file written. Raises BadInput where the format is not known.
    """
    panels = [(SPEED, 1e6, "$10^6$ cells x steps per second")]
    if rows[0]["cells_per_dollar"] is not None:
        panels.append(("cells_per_dollar", 1e12, "cells x steps per dollar [$10^{12}$]"))
    figure = Figure(figsize=(5.6 * len(panels), 4.6), layout="constrained")
    figure.suptitle(heading, fontsize="medium")
    for number, (name, unit, words) in enumerate(panels, 1):
        axes = figure.add_subplot(1, len(panels), number)
        values = [row[name] * row["blocks"] if name == SPEED else row[name] for row in rows]
        axes.plot([prod(row["cells"]) for row in rows], [value / unit for value in values], marker="o")
        axes.set_xscale("log")
        axes.set_ylim(bottom=0)
        axes.set_xlabel("cells")
        axes.set_ylabel(words)
        axes.grid(alpha=0.3)
    return save(figure, Path(out).parent, "sizes", out)


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
