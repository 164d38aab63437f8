"""Pictures of the studies of Jacobsen & Senocak: scaling with arithmetic, energy and money; and the time of pressure
solvers against their residuals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from examples.papers.jacobsen_senocak_2013.convergence import levels
from taskflow.plots.benchmarks import MARKS, Panel, Row, along_blocks, draw_panels, scaling_panels

LINES = ("-", "--", ":", "-.")
PAPERS = 256  # GPUs


def plot_campaign(rows: Sequence[Row], papers: Mapping[str, float], heading: str, out: str | Path) -> Path:
    """Draw the scaling of the cavity: rows have what `plot_scaling` needs, flops, joules_per_cell and
    cells_per_dollar; `papers` has the operations per second that 256 GPUs sustained, by shape.

    Returns the file written. Raises BadInput where the format is not known.
    """
    panels: list[Panel] = scaling_panels(rows)
    if computed := [row for row in rows if row["flops"] is not None]:
        panels.append((partial(_arithmetic, papers), computed))
    for name, scale, words in (
        ("joules_per_cell", 1e9, "energy per cell and step [nJ]"),
        ("cells_per_dollar", 1e-12, "cells x steps per dollar [$10^{12}$]"),
    ):
        if known := [row for row in rows if row[name] is not None]:
            panels.append((partial(_bars, name, scale, words), known))
    return draw_panels(panels, heading, out)


def plot_convergence(rows: Sequence[Row], heading: str, out: str | Path) -> Path:
    """Draw residuals of pressure solvers over time: a panel per size, a line per method and number of
    blocks. `rows` have cells, blocks, method, seconds and residual.

    Returns the file written. Raises BadInput where the format is not known.
    """
    sizes = dict.fromkeys(tuple(row["cells"]) for row in rows)
    panels = [(_convergence, [row for row in rows if tuple(row["cells"]) == size]) for size in sizes]
    return draw_panels(panels, heading, out)


def _in_plain_numbers(axis: Axis) -> None:
    """Write the ticks of a logarithmic axis out: 1, 2, 5, 10, 20, ..."""
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())


def _fastest(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return by shape the row of each number of blocks whose way to overlap is fastest."""
    fastest: dict[str, dict[int, Row]] = {}
    for row in rows:
        of_shape = fastest.setdefault(row["shape"], {})
        of_shape[row["blocks"]] = min(row, of_shape.get(row["blocks"], row), key=lambda row: row["seconds"])
    return {shape: [of_shape[blocks] for blocks in sorted(of_shape)] for shape, of_shape in fastest.items()}


def _arithmetic(papers: Mapping[str, float], axes: Axes, rows: Sequence[Row]) -> None:
    """Draw operations per second against the number of blocks; level lines are what the papers' 256 GPUs sustained."""
    for number, (shape, line) in enumerate(_fastest(rows).items()):
        values = [row["flops"] / 1e12 for row in line]
        axes.plot([row["blocks"] for row in line], values, marker="o", color=f"C{number}", label=shape)
        if shape in papers:
            label = f"{shape}, the papers: {PAPERS} GPUs"
            axes.axhline(papers[shape] / 1e12, color=f"C{number}", linestyle=":", label=label)
    along_blocks(axes, rows)
    axes.set_yscale("log")
    _in_plain_numbers(axes.yaxis)
    axes.set_ylabel("$10^{12}$ operations per second")
    axes.set_title("arithmetic, all blocks", fontsize="medium")


def _bars(name: str, scale: float, words: str, axes: Axes, rows: Sequence[Row]) -> None:
    """Draw a bar per shape and number of blocks."""
    counts: list[str] = []
    for number, (shape, line) in enumerate(_fastest(rows).items()):
        places = range(len(counts), len(counts) + len(line))
        axes.bar(places, [row[name] * scale for row in line], color=f"C{number}", label=shape)
        counts += [str(row["blocks"]) for row in line]
    axes.set_xticks(range(len(counts)), counts)
    axes.set_ylim(0, 1.25 * max(row[name] * scale for row in rows))  # the legend is above the bars
    axes.set_xlabel("blocks, each on its own device")
    axes.set_ylabel(words)
    axes.set_title("the fastest overlap of each", fontsize="medium")


def _convergence(axes: Axes, rows: Sequence[Row]) -> None:
    lines: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        lines.setdefault((f"{row['method']}{levels(row)}", row["blocks"]), []).append(row)
    methods, counts = (list(dict.fromkeys(names)) for names in zip(*lines, strict=True))
    for (method, count), points in lines.items():
        number = methods.index(method)
        axes.plot(
            [1e3 * row["seconds"] for row in points],
            [row["residual"] for row in points],
            marker=list(MARKS.values())[number % len(MARKS)],
            color=f"C{number}",
            linestyle=LINES[counts.index(count) % len(LINES)],
            label=f"{method}, {count} block{'s' * (count > 1)}",
        )
    axes.set_xscale("log")
    _in_plain_numbers(axes.xaxis)
    axes.set_yscale("log")
    axes.set_xlabel("time of the pressure solver [ms]")
    axes.set_ylabel("residual relative to the right-hand side")
    axes.set_title(" x ".join(map(str, rows[0]["cells"])) + " cells", fontsize="medium")
