"""Pictures of hyperplanes: figures 8 and 9 of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes

from examples.papers.luo_2014.planes import PAPER
from taskflow.plots.benchmarks import Panel, Row, draw_panels


def plot_planes(rows: Sequence[Row], cores: int, heading: str, out: str | Path) -> Path:
    """Draw the cells of hyperplanes, and where they were timed the time of a cell, against their number.

    Returns the file written. Raises BadInput where the format is not known.
    """
    panels: list[Panel] = [(partial(_time, part), rows) for part in PAPER if part in rows[0]]
    return draw_panels([*panels, (partial(_cells, cores), rows)], heading, out)


def _time(part: str, axes: Axes, rows: Sequence[Row]) -> None:
    times = [1e6 * row[part] / row["cells_of_plane"] for row in rows]
    axes.plot([row["plane"] for row in rows], times, ".", label="here")
    axes.axhline(1e6 * PAPER[part]["best"], color="C1", linestyle=":", label="the paper, at best")
    axes.set_yscale("log")
    axes.set_xlabel("hyperplane")
    axes.set_ylabel(f"time of a cell, {part} [us]")


def _cells(cores: int, axes: Axes, rows: Sequence[Row]) -> None:
    axes.plot([row["plane"] for row in rows], [row["cells_of_plane"] for row in rows], ".")
    axes.axhline(cores, color="C1", linestyle=":", label=f"{cores} cores")
    axes.set_xlabel("hyperplane")
    axes.set_ylabel("cells")
